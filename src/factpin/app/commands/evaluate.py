"""`factpin evaluate`: predictions against gold, every named convention at once."""

from pathlib import Path
from typing import Literal

import click

from factpin import formats
from factpin.app.console import FORMAT, Names, notes, out, print_json
from factpin.app.show.evaluate_table import render
from factpin.corpora.convert import RESULT
from factpin.corpora.evaluate import evaluate as run
from factpin.corpora.rename import read_names
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats import FORMATS, Options
from factpin.formats.docred_result import is_empty_list, is_result, read_result
from factpin.tasks import task_names

PREDICTED = Names("format", sorted([*FORMATS, RESULT]))


@click.command()
@click.argument("predicted", metavar="PRED", type=click.Path(path_type=Path))
@click.argument("gold", metavar="GOLD", type=click.Path(path_type=Path))
@click.option("--task", type=Names("task", task_names()),
              help="spans, triples, events, document_relations (guessed from GOLD), or coreference.")  # fmt: skip
@click.option("--from", "source_format", type=FORMAT, help="Format of GOLD and of --train; guessed where it can be.")
@click.option("--pred-from", "pred_format", type=PREDICTED, help="Format of PRED and of --against; guessed likewise.")
@click.option("--rename", type=click.Path(path_type=Path), metavar="FILE",
              help='JSON object of names, {"P17": "country"}: predicted relations and types get the names of GOLD, '
              "whichever side they are on.")  # fmt: skip
@click.option("--occurrences", type=click.Choice(["first", "nearest", "all"]), default="nearest", show_default=True,
              help="Which mention a string without offsets means, in GOLD and PRED; as `train` reads it.")  # fmt: skip
@click.option("--train", type=click.Path(path_type=Path), help="Training corpus, for Ign F1.")
@click.option("--against", type=click.Path(path_type=Path), help="Another prediction, for a paired test.")
@click.option("--samples", default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", default=0, show_default=True)
@click.option("--fail-under", type=float, help="Exit code 1 where strict F1 (0 to 1) is lower.")
@click.option("--encoding", default="utf-8", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def evaluate(
    predicted: Path, gold: Path, task: str | None, source_format: str | None, pred_format: str | None,
    rename: Path | None, train: Path | None,
    occurrences: Literal["first", "nearest", "all"], against: Path | None, samples: int, seed: int,
    fail_under: float | None, encoding: str, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Score PRED against GOLD; documents are matched by id. PRED may be a result.json of DocRED.

    \b
    factpin evaluate predicted.jsonl dev.json
    factpin evaluate predicted.jsonl dev.json --against other.jsonl --json
    factpin evaluate predicted.jsonl dev.json --rename rel_info.json
    """
    if fail_under is not None and not 0 <= fail_under <= 1:
        raise BadInput(f"--fail-under is {fail_under}; expected a share from 0 to 1, such as 0.75.")
    options = Options(encoding=encoding, occurrences=occurrences)

    truth = list(formats.read(gold, format=source_format, options=options))

    def prediction(path: Path) -> list[Document]:
        format = pred_format or _guess(path, encoding)
        if format == RESULT:  # it has no texts: gold lends them
            return list(read_result(path, truth, options=options))
        return list(formats.read(path, format=format, options=options)) if format else []

    report = run(
        prediction(predicted),
        truth,
        task=task,
        train=list(formats.read(train, format=source_format, options=options)) if train else None,
        against=prediction(against) if against else None,
        rename=read_names(rename) if rename else None,
        samples=samples,
        seed=seed,
    )
    if as_json:
        print_json(report)
    else:
        out().print(render(report))
    if fail_under is None or report["strict"]["f1"] >= fail_under:
        return 0
    notes(quiet).print(f"[red]strict F1 {report['strict']['f1']:.4f} is under --fail-under {fail_under}[/]")
    return 1


def _guess(path: Path, encoding: str) -> str:
    """The format of predictions; none where they are an empty list, which is one in many formats."""
    if path.is_file() and is_result(path, encoding):
        return RESULT
    if path.is_file() and is_empty_list(path, encoding):
        return ""
    try:
        return formats.guess(path, encoding)
    except BadInput as error:  # --from is for GOLD
        raise BadInput(str(error).replace("--from", "--pred-from")) from None
