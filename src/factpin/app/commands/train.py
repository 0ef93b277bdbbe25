"""`factpin train`: a model from a corpus."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from factpin.app.commands._options import format_option, json_option, quiet_option, threads_option
from factpin.app.commands._training import SPELLINGS, resume_option, warn
from factpin.app.console import out, print_json
from factpin.app.options import SectionedCommand, options_of
from factpin.errors import UnknownName
from factpin.training.config import TrainConfig
from factpin.training.plan import learns_from, trainable, trainable_name
from factpin.training.request import run_request, train_request


def _named_task(words: Sequence[str]) -> str | None:
    """The full name of the task among the words of a command line."""
    for word in words:
        with suppress(UnknownName):
            return trainable_name(word)
    return None


def _train_and_dev(data: dict[str, Any]) -> str | None:
    """A training file that is a dev file too."""
    train, dev = ([part] if isinstance(part, str) else part or [] for part in (data.get("train"), data.get("dev")))
    judging = {Path(path).resolve() for path in dev}
    return next((path for path in train if Path(path).resolve() in judging), None)


@click.command(cls=SectionedCommand, topic=_named_task)
@click.argument("task", metavar="TASK", required=False)
@click.option("--recipe", type=click.Path(path_type=Path), help="A recipe.toml of another run; options override it.")
@click.option(
    "--train", type=click.Path(path_type=Path), multiple=True, help="Training corpus; may be given several times."
)
@click.option("--dev", type=click.Path(path_type=Path), help="Dev corpus, which picks the best weights.")
@click.option(
    "--hold-out",
    type=click.IntRange(min=1),
    metavar="N",
    help="Without --dev: hold out the last N training documents or questions.",
)
@format_option
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Use the first N training documents or questions only."
)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the run and the model.")
@resume_option
@threads_option
@json_option
@quiet_option
@options_of(trainable(), shared="All tasks", spellings=SPELLINGS)
@options_of({"How to train": TrainConfig}, spellings=SPELLINGS)
def train(
    task: str | None,
    recipe: Path | None,
    train: tuple[Path, ...],
    dev: Path | None,
    hold_out: int | None,
    source_format: str | None,
    limit: int | None,
    output: Path | None,
    threads: int | None,
    resume: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Train a model. `factpin train TASK --help` lists the options of one task alone.

    TASK is spans (alias ner), triples (re), events (ee), document_relations (docre), coreference (coref), classify
    (long texts), retriever, or one that learns from questions: reader, generator, hops, or judge (which blocks of long
    texts matter).

    \b
    factpin train spans --train train.json --dev dev.json --encoder m3e-zh --output runs/cluener
    factpin train triples --train train.json --dev dev.json --encoder minilm-en --output runs/webnlg
    factpin train reader --train train.json --dev dev.json --encoder minilm-en --output runs/reader
    factpin train --recipe runs/cluener/recipe.toml --seed 2 --output runs/cluener-2
    torchrun --nproc-per-node 2 -m factpin train spans …                 data parallel
    """
    files = [str(path) for path in train]
    data = {
        "train": (files[0] if len(files) == 1 else files) or None,
        "dev": dev and str(dev),
        "hold_out": hold_out,
        "from": source_format,
        "limit": limit,
    }
    request = train_request(task, recipe, data, settings, output, resume=resume)
    silent = quiet or as_json
    if shared := _train_and_dev(request.data):
        warn(silent)(
            f"{shared} is both the training corpus and the dev corpus: scores say how much was learned by heart, not "
            f"how good the model is. Name another file with --dev, or use --hold-out N."
        )
    report = run_request(request, threads=threads, quiet=silent, note=warn(silent))
    if report is None or quiet and not as_json:
        return 0
    from factpin.training.advice import advise

    if as_json:
        print_json({**report, "advice": advise(report)})
        return 0
    from factpin.app.show.run_tables import train_table

    out().print(train_table(report, request.output, learns_from(request.task).removesuffix("s")))
    for advice in advise(report):
        warn(quiet)(advice)
    return 0
