"""`factpin pretrain`: an encoder adapted to a corpus, or made from it."""

from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import click
from click.core import ParameterSource

from factpin.app.commands._options import json_option, quiet_option, threads_option
from factpin.app.commands._training import SPELLINGS, resume_option, warn
from factpin.app.console import out, print_json
from factpin.app.options import SectionedCommand, options_of
from factpin.errors import BadInput, need_torch
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.request import CompareRequest, pretrain_request, run_pretraining
from factpin.training.config import TrainConfig, chosen, from_dict
from factpin.training.knowledge_options import KNOWLEDGE, KnowledgeOptions

HELPS = {  # where pretraining has other defaults
    "epochs": "passes over the corpus; --max-steps is quicker, since passes must be counted first",
    "learning_rate": "learning rate of the encoder; default: 1e-4",
    "head_learning_rate": "learning rate of the head; default: that of the encoder",
    "early_stopping": "stop after this many evaluations without a lower loss",
    "evaluate_every": "steps between evaluations; default: a tenth of the run",
    "save_every": "steps between checkpoints; default: a twentieth of the run",
}
FROM_STORE = frozenset({  # what counts for an objective that learns from a store
    "objective", "encoder", "db", "vectors", "output", "resume", "threads", "as_json", "quiet",
    *(field.name for field in fields(TrainConfig)),
})  # fmt: skip
OF_EXTRACTORS = ("fgm", "rdrop", "metric", "freeze_layers")  # settings of TrainConfig that pretraining does not have


@click.command(cls=SectionedCommand)
@click.option("--recipe", type=click.Path(path_type=Path), help="A recipe.toml of another run; options override it.")
@click.option(
    "--corpus",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Text, JSONL, HTML or PDF files, also compressed, or folders; may be given several times.",
)
@click.option(
    "--dev",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Held-out texts; by default a share of the corpus (--heldout).",
)
@click.option("--output", type=click.Path(path_type=Path), required=True, help="Folder for the run and the encoder.")
@click.option(
    "--compare",
    metavar="NAMES",
    help="Instead of --objective: several with commas, each pretrained, then fine-tuned on --task.",
)
@click.option("--task", metavar="FILE", help="With --compare: a recipe.toml of `factpin train`, with train and dev.")
@click.option(
    "--points",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --compare: how often each run is fine-tuned on the way.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="With --compare: fine-tunings of each point.",
)
@click.option("--db", metavar="FILE|URL", help=f"Learn from a store: for the objectives {', '.join(KNOWLEDGE)}.")
@click.option(
    "--vectors",
    type=click.Choice(["contexts", "descriptions", "facts"]),
    help="With --db: entity vectors from the contexts of mentions, from encoded descriptions, or from the facts alone "
    "(TransE).  [default: descriptions for eae, contexts elsewhere]",
)
@resume_option
@threads_option
@json_option
@quiet_option
@options_of({"What to train": PretrainConfig}, spellings=SPELLINGS, exclude=("beside",))
@options_of({"How to train": TrainConfig}, spellings=SPELLINGS, helps=HELPS, exclude=OF_EXTRACTORS)
def pretrain(
    recipe: Path | None,
    corpus: tuple[Path, ...],
    dev: tuple[Path, ...],
    output: Path,
    compare: str | None,
    task: str | None,
    points: int,
    seeds: int,
    db: str | None,
    vectors: Literal["contexts", "descriptions", "facts"] | None,
    threads: int | None,
    resume: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Adapt an encoder to a corpus, or make one; `factpin train --encoder OUTPUT` uses it.

    With --db, the objective fae learns to answer from the facts of a store (`factpin ask --mode memory`); knowbert and
    eae make an encoder that looks up the names of a text in the store, for `factpin train --encoder OUTPUT`; linker
    learns which entity a name refers to, for `factpin link --linker OUTPUT`.

    \b
    factpin pretrain --objective wwm --corpus texts/ --encoder m3e-zh --max-steps 2000 --output runs/ours
    factpin pretrain --objective roberta --corpus wiki.txt.xz --config bert.json --output runs/new
    factpin pretrain --recipe runs/ours/recipe.toml --seed 2 --output runs/ours-2
    factpin pretrain --compare wwm,electra --task spans.toml --corpus texts/ --encoder m3e-zh --max-steps 900 …
    torchrun --nproc-per-node 2 -m factpin pretrain …                    data parallel
    """
    if settings.get("objective") in KNOWLEDGE:
        _refuse_others(settings["objective"])
        options = KnowledgeOptions(
            settings["objective"], settings.get("encoder") or "", db or "", vectors=vectors or ""
        )
        return _learn_store(options, output, settings, threads=threads, resume=resume, as_json=as_json, quiet=quiet)
    if db:
        raise BadInput(f"--db is for objectives that learn from a store: {', '.join(KNOWLEDGE)}. Leave it out.")
    comparison = CompareRequest(compare, task, points, seeds) if compare else None
    request = pretrain_request(recipe, corpus, dev, output, settings, resume=resume, compare=comparison)
    silent = quiet or as_json
    report = run_pretraining(request, threads=threads, quiet=silent, note=warn(silent))
    if report is None:
        return 0
    if as_json:
        print_json(report)
    elif compare or not quiet:
        from factpin.app.show.compare_table import table
        from factpin.app.show.run_tables import pretrain_table

        out().print(table(report) if compare else pretrain_table(report, output))
    return 0


def _refuse_others(objective: str) -> None:
    """Refuse options that would change nothing for an objective that learns from a store."""
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if context.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        if name not in FROM_STORE or (name == "vectors" and objective == "fae"):
            raise BadInput(
                f"{option.opts[0]} has no effect on --objective {objective}, which learns from a store (--db). "
                f"Leave it out."
            )


def _learn_store(
    options: KnowledgeOptions,
    output: Path,
    settings: dict[str, Any],
    *,
    threads: int | None,
    resume: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """An objective that learns from a store instead of a corpus."""
    from factpin.app.show.run_tables import train_table
    from factpin.pretraining.knowledge import pretrain_knowledge

    how = from_dict(TrainConfig, chosen(TrainConfig, {}, settings), "train")
    if threads:
        need_torch("Pretraining needs torch")
        import torch

        torch.set_num_threads(threads)
    report = pretrain_knowledge(options, how, output, resume=resume, quiet=quiet or as_json)
    if not report.get("fitted", True):
        warn(quiet or as_json)(
            "The store has too few names in several documents to fit what NIL scores. The linker chooses between the "
            "candidates of a name; whether it refers to none of them is decided as without --linker."
        )
    if as_json:
        print_json(report)
    elif not quiet:
        out().print(train_table(report, output, "text"))
    return 0
