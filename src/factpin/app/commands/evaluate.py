"""`factpin evaluate`: predictions against gold, by every named convention."""

from pathlib import Path
from typing import Literal

import click

from factpin.app.commands._options import (
    TARGET,
    GivenPath,
    encoding_option,
    json_option,
    occurrences_option,
    quiet_option,
    rename_option,
)
from factpin.app.console import Names, notes, out, print_json
from factpin.errors import BadInput
from factpin.formats import FORMATS, Options
from factpin.formats.questions import QUESTION_FORMATS
from factpin.tasks import task_names

GOLD = Names("format", sorted([*FORMATS, *QUESTION_FORMATS]))


@click.command()
@click.argument("predicted", metavar="PRED", type=GivenPath())
@click.argument("gold", metavar="GOLD", type=GivenPath())
@click.option(
    "--task",
    type=Names("task", [*task_names(), "answers", "linking"]),
    help="What to score: spans, triples, events, document_relations, coreference, linking or answers.  [default: "
    "guessed from GOLD, which holds documents; answers are of questions]",
)
@click.option("--from", "gold_format", type=GOLD, help="Format of GOLD and of --train; guessed by default.")
@click.option("--pred-from", "predicted_format", type=TARGET, help="Format of PRED and of --against; guessed likewise.")
@rename_option
@occurrences_option("nearest")
@click.option(
    "--train",
    type=click.Path(path_type=Path),
    help="Training corpus, for Ign F1; for linking, what the store was made of.",
)
@click.option("--against", type=click.Path(path_type=Path), help="Another prediction, for a paired test.")
@click.option("--samples", default=1000, show_default=True, help="Bootstrap samples.")
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--fail-under", type=float, metavar="F1", help="Exit with code 1 where strict F1 (0 to 1) is lower.")
@encoding_option
@json_option
@quiet_option
def evaluate(
    predicted: Path,
    gold: Path,
    task: str | None,
    gold_format: str | None,
    predicted_format: str | None,
    rename: Path | None,
    occurrences: Literal["first", "nearest", "all"],
    train: Path | None,
    against: Path | None,
    samples: int,
    seed: int,
    fail_under: float | None,
    encoding: str,
    as_json: bool,
    quiet: bool,
) -> int:
    """Score PRED against GOLD; documents are matched by id. PRED may be a result.json of DocRED.

    \b
    factpin evaluate predicted.jsonl dev.json
    factpin evaluate predicted.jsonl dev.json --against other.jsonl --json
    factpin evaluate predicted.jsonl dev.json --rename rel_info.json
    factpin ask - --db kb.db < questions.jsonl > answers.jsonl
    factpin evaluate answers.jsonl questions.jsonl --task answers
    """
    from factpin.app.commands._evaluations import EVALUATIONS, evaluate_documents
    from factpin.corpora.evaluate_files import EvaluationFiles

    if fail_under is not None and not 0 <= fail_under <= 1:
        raise BadInput(f"--fail-under is {fail_under}; expected a number from 0 to 1, such as 0.75.")
    options = Options(encoding=encoding, occurrences=occurrences)
    files = EvaluationFiles(predicted, gold, train, against, rename, gold_format, predicted_format, options)
    report, f1, show = EVALUATIONS.get(task or "", evaluate_documents)(files, task, samples, seed)
    if as_json:
        print_json(report)
    else:
        out().print(show(report))
    if fail_under is None or f1 >= fail_under:
        return 0
    notes(quiet).print(f"[red]F1 {f1:.4f} is under --fail-under {fail_under}[/]")
    return 1
