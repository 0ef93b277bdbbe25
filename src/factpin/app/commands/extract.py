"""`factpin extract`: raw text to facts, the main job."""

import math
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from factpin import formats
from factpin.app.console import Names, counting, notes, out
from factpin.documents import Document
from factpin.documents.likely import LIKELY
from factpin.errors import BadInput
from factpin.files import refuse_same
from factpin.formats import Options, describe
from factpin.pipelines.inputs import KINDS, Input, find_inputs, is_folder, read_inputs, rejects_of
from factpin.pipelines.rejects import Rejects
from factpin.pipelines.settings import read_settings
from factpin.pipelines.shipped import choose_models, find_model

if TYPE_CHECKING:
    from factpin.pipelines.extract import Summary


class Score(click.FloatRange):
    """A number from 0 to 1; nan is none, though it is in no wrong order with them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        score = float(super().convert(value, param, ctx))
        if math.isnan(score):
            self.fail(f"{value} is not in the range 0<=x<=1.", param, ctx)
        return score


SCORE = Score(0, 1)
TARGETS = ("jsonl", "table", "brat", "color")


@click.command()
@click.argument("paths", metavar="[FILES|FOLDER|-]...", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "kind", type=Names("kind of input", list(KINDS)), metavar="|".join(KINDS),
              help="What the files are; guessed from their endings. Standard input is one text.")  # fmt: skip
@click.option("--model", "names", multiple=True, metavar="NAME|FOLDER", help="Several may be chained. "
              "Without it: every shipped model that fits the text's language.")  # fmt: skip
@click.option("--coreference", metavar="rules|NAME|FOLDER",
              help="Gather mentions into entities: by rules alone, or with a model too. Without it: by rules, where a "
              "model of document relations asks about entities.")  # fmt: skip
@click.option("--to", "target", type=Names("kind of output", list(TARGETS)), metavar="|".join(TARGETS),
              help="Default: color in a terminal, jsonl elsewhere.")  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path, allow_dash=True),
              help="File to write. A folder (a name without ending) gets a file for each input, and a run that was "
              "stopped goes on there.")  # fmt: skip
@click.option("--min-score", "least", type=SCORE, default=LIKELY, show_default=True,
              help="Hide facts and events that are less likely, and say how many; 0 shows all.")  # fmt: skip
@click.option("--bf16", is_flag=True, help="Half precision: faster where the processor has it (AVX-512 BF16, AMX).")
@click.option("--device", default="cpu", show_default=True, help="Where models run: cpu, cuda, cuda:1, mps.")
@click.option("--on-overflow", type=click.Choice(["window", "error"]), default="window", show_default=True,
              help="Text longer than a model reads at once: overlapping windows, or an error.")  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Set bad files and records aside in a list of rejects and go on.")
@click.option("--encoding", help="Encoding of text files.  [default: utf-8; HTML: what the page declares]")
@click.option("--quiet", is_flag=True, help="No notes, no summary.")
def extract(
    paths: tuple[Path, ...], kind: str | None, names: tuple[str, ...], coreference: str | None, target: str | None,
    output: Path | None,
    on_overflow: Literal["window", "error"], least: float, bf16: bool, device: str, skip_bad: bool,
    encoding: str | None, quiet: bool,
) -> int:  # fmt: skip
    """Find entities, facts and events in raw text: files, folders, or standard input.

    \b
    factpin extract report.txt news.html paper.pdf
    echo '谷爱凌出生于旧金山。' | factpin extract - --to table
    factpin extract corpus/ --output found/ --to jsonl
    """
    output = None if str(output) == "-" else output
    target = target or ("color" if output is None and out().is_terminal else "jsonl")
    _check(paths, target, output)
    gather = coreference == "rules"
    models = choose_models(names) + ([_scorer(coreference)] if coreference and not gather else [])
    paths = paths or (Path("-"),)
    inputs, passed = find_inputs(list(paths), kind, output=output)
    if output is not None:
        for source in inputs:
            refuse_same(source.path, output)
    if not inputs:
        raise BadInput(f"{paths[0]}: no file in it has a known ending. Name files, or say what they are with --from.")

    from factpin.layers.half import bf16_warning
    from factpin.pipelines.extract import Summary, load_models
    from factpin.pipelines.extract import extract as run
    from factpin.pipelines.extract_folder import begin, describe_run, extract_folder, is_done

    if bf16 and (warning := bf16_warning()):
        notes(quiet).print(warning, style="yellow")
    into_folder = output is not None and target == "jsonl" and is_folder(output)
    summary, console, done = Summary(), notes(quiet), 0
    with Rejects(rejects_of(output)) if skip_bad else nullcontext() as rejects:
        if output is not None and into_folder:
            options = {"from": kind, "encoding": encoding, "on-overflow": on_overflow, "bf16": "yes" if bf16 else None,
                       "min-score": f"{least:g}",
                       "coreference": "rules" if gather else None}  # fmt: skip
            begin(output, describe_run(models, paths, options))
            todo = [source for source in inputs if not is_done(output, source)]
            extractors = load_models(models, on_overflow, bf16=bf16, device=device) if todo else []
            with counting("extracting", quiet, _total(todo)) as count:
                extract_folder(todo, output, extractors, encoding=encoding, rejects=rejects, summary=summary,
                               on_document=count, least=least, gather=gather)  # fmt: skip
            done = len(inputs) - len(todo)
            if done:
                console.print(f"{done:,} of {len(inputs):,} inputs were done before; their files in {output} stand")
        else:
            extractors = load_models(models, on_overflow, bf16=bf16, device=device)
            for_eyes = output is None and out().is_terminal  # a progress line would stand in between
            with counting("extracting", quiet or for_eyes, _total(inputs)) as count:
                found = run(read_inputs(inputs, encoding, rejects), extractors, summary, count, least, gather=gather)
                lost = _write(found, target, output)
            if lost:
                console.print(f"[yellow]not held by {target}:[/] {describe(lost)}")
    if summary.documents or not done:
        _summarise(console, summary, least)
    if passed:
        console.print(f"[yellow]passed over:[/] {escape(describe(passed))} (no known ending; take them with --from)")
    if rejects is not None and rejects.count:
        console.print(f"[red]set aside:[/] {rejects.count:,} bad files or records in {escape(str(rejects.path))}")
    return 0


def _check(paths: tuple[Path, ...], target: str, output: Path | None) -> None:
    if not paths and sys.stdin.isatty():
        raise BadInput("Nothing to read. Name files or a folder, or `-` to type a text. See factpin extract --help.")
    if target == "brat" and output is None:
        raise BadInput("brat is a folder of files: name it with --output.")
    if target in ("table", "color") and output is not None:
        raise BadInput(f"{target} is for people and goes to standard output. Leave --output out, or use --to jsonl.")


def _scorer(name: str) -> Path:
    """The folder of a model of coreference."""
    folder = find_model(name)
    if (task := read_settings(folder).task) != "coreference":
        raise BadInput(f"--coreference {name}: a model of {task}. Name one of coreference, or `rules`; others are "
                       f"given with --model.")  # fmt: skip
    return folder


def _total(inputs: list[Input]) -> int | None:
    """How many documents will come, where that is known before they are read."""
    return None if any(source.kind == "jsonl" for source in inputs) else len(inputs)


def _write(found: Iterator[Document], target: str, output: Path | None) -> Counter[str]:
    """Write or show the documents; gives back what the target cannot hold."""
    if target in ("jsonl", "brat"):
        return formats.write(found, output or Path("-"), format=target, options=Options(lossy=True))
    from factpin.pipelines.highlight import by_number, entities, events, facts, highlight, sentences, table, title

    console = out()
    for doc in found:
        if target == "table":
            console.print(table(doc))
        else:
            console.print(Text(f"── {title(doc)}", style="dim"), highlight(doc), sep="\n", soft_wrap=True)
        if any(len(entity.mentions) > 1 for entity in doc.entities):
            console.print(entities(doc))
        if doc.facts:
            console.print(facts(doc, console.width))
        if by_number(doc, console.width):
            console.print(sentences(doc))
        if doc.events:
            console.print(events(doc))
    return Counter()


def _summarise(console: Console, summary: "Summary", least: float) -> None:
    found = ", ".join(f"{count:,} {label}" for label, count in sorted(summary.mentions.items())) or "nothing"
    if summary.facts:
        told = ", ".join(f"{count:,} {relation}" for relation, count in summary.facts.most_common(8))
        found += f"; {summary.facts.total():,} facts: {told}" + (", ..." if len(summary.facts) > 8 else "")
    if summary.events:
        found += "; events: " + ", ".join(f"{count:,} {type}" for type, count in summary.events.most_common(8))
    size = f"{summary.documents:,} documents, {summary.characters:,} characters"
    read = f"{summary.share_read:.1%} read in {summary.windows:,} windows"
    console.print(f"[dim]{size}, {read}; found {escape(found)}[/]")
    if summary.hidden:
        count = "1 fact or event" if summary.hidden == 1 else f"{summary.hidden:,} facts and events"
        console.print(f"[yellow]hidden:[/] {count} less likely than {least:g} (--min-score 0 shows all)")
    if summary.replaced:
        console.print(f"[yellow]replaced:[/] {summary.replaced:,} documents came with annotation of their own")
    for what, ids in (
        ("not read:[/] {} documents in a language that no model reads", summary.without_model),
        ("read in part:[/] {} documents, of which these characters were not", summary.partly),
        ("not looked for everywhere:[/] {} documents", summary.left_out),
    ):
        if ids:
            few = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
            console.print(f"[yellow]{what.format(f'{len(ids):,}')}: {escape(few)}")
