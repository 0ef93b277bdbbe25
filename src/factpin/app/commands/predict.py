"""`factpin predict`: annotate a corpus with one model."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from rich.console import Console
from rich.markup import escape

from factpin.app.commands._options import score_option
from factpin.app.commands.convert import TARGET
from factpin.app.console import FORMAT, counting, notes, print_json
from factpin.errors import BadInput
from factpin.formats import Options, describe, guess, guess_by_name

if TYPE_CHECKING:
    from factpin.corpora.predict import Predicted

ASKED = {
    "mentions": "a model of coreference gathers mentions. Annotate them, or find them with a model of spans",
    "entities": "a model of document relations looks for facts between entities. Annotate them, or let `factpin "
    "extract` find them: name a model of spans beside this one",
}


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", type=FORMAT, help="Format of IN; guessed where it can be.")
@click.option("--to", "target_format", type=TARGET, help="Format of OUT; guessed from its ending.")
@click.option("--lossy", is_flag=True, help="Write what the format can hold, and count what it cannot.")
@score_option("Leave out facts and events that are less likely; a note in each document says how many.", default=0.0)
@click.option("--skip-bad", is_flag=True, help="Set bad records aside in OUT.rejects.jsonl and go on.")
@click.option("--on-overflow", type=click.Choice(["window", "error"]), default="window", show_default=True,
              help="Text longer than the model reads at once: overlapping windows, or an error.")  # fmt: skip
@click.option("--bf16", is_flag=True, help="Half precision: faster where the processor has it (AVX-512 BF16, AMX).")
@click.option("--device", default="cpu", show_default=True, help="Where the model runs: cpu, cuda, cuda:1, mps.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of IN.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def predict(
    model: str, source: Path, target: Path, source_format: str | None, target_format: str | None, lossy: bool,
    min_score: float, skip_bad: bool, on_overflow: Literal["window", "error"], bf16: bool, device: str, encoding: str,
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Annotate the documents of IN with MODEL.

    Models of spans, triples and events look at the texts of IN alone. A model of document relations is asked about the
    mentions and entities that IN carries, one of coreference about its mentions, and keeps them. All other annotation
    of IN is replaced.

    \b
    factpin predict runs/mine dev.json predicted.jsonl
    factpin predict en-relations dev.json result.json --to docred_result
    """
    if as_json and str(target) == "-":
        raise BadInput("--json and OUT would both go to standard output. Name a file for OUT.")
    source_format = source_format or guess(source, encoding)
    target_format = target_format or guess_by_name(target)

    import factpin
    from factpin.corpora.predict import predict as run
    from factpin.layers.half import bf16_warning

    if bf16 and (warning := bf16_warning()):
        notes(quiet or as_json).print(warning, style="yellow")
    extractor = factpin.load(model, device)
    extractor.on_overflow, extractor.bf16 = on_overflow, bf16
    with counting("predicting", quiet or as_json) as count:
        done = run(extractor, source, target, source_format=source_format, target_format=target_format,
                   min_score=min_score, options=Options(encoding=encoding, lossy=lossy, skip_bad=skip_bad),
                   on_document=count)  # fmt: skip
    if as_json:
        print_json({"documents": done.documents, **done.counts, "asks": done.asks, "without": done.without,
                    "from": done.source_format, "to": done.target_format, "lost": done.lost,
                    "noted": done.report.counts, "rejected": done.report.rejected,
                    "rejects": done.rejects and str(done.rejects)})  # fmt: skip
        return 0
    if str(target) != "-":
        notes(quiet).print(f"written: {escape(str(target))}")
    _summarise(notes(quiet), done)
    return 0


def _summarise(console: Console, done: "Predicted") -> None:
    told = ", ".join(f"{count:,} {what}" for what, count in done.counts.items() if count) or "nothing"
    console.print(f"[dim]{done.documents:,} documents; {told}[/]")
    if done.without:
        console.print(f"[yellow]not asked:[/] {done.without:,} of {done.documents:,} documents have no {done.asks}, "
                      f"and {ASKED[done.asks]}")  # fmt: skip
    if done.lost:
        console.print(f"[yellow]not held by {done.target_format}:[/] {describe(done.lost)}")
    for kind, number in done.report.counts.items():
        console.print(f"[yellow]noted:[/] {number:,} {kind.replace('_', ' ')}")
    if done.rejects:
        console.print(f"[red]set aside:[/] {done.report.rejected:,} bad records in {escape(str(done.rejects))}")
