"""`factpin train`: a model from a corpus."""

from pathlib import Path
from typing import Any

import click

from factpin.app.console import FORMAT, notes, out, print_json
from factpin.errors import BadInput, did_you_mean
from factpin.models.settings import read_settings
from factpin.tasks import TASKS, find_task
from factpin.training.config import TrainConfig, read_recipe
from factpin.training.data import KEYS, read_training
from factpin.training.plan import make_plan

FEW = 200  # documents below which figures are not to be trusted
POOR = 0.1  # an F1 on dev below this means that something went wrong


@click.command()
@click.argument("task", metavar="TASK", required=False)
@click.option("--recipe", type=click.Path(path_type=Path), help="A recipe.toml of another run; options override it.")
@click.option("--train", "train_files", type=click.Path(path_type=Path), multiple=True,
              help="Training corpus; may be given several times.")  # fmt: skip
@click.option("--dev", "dev_file", type=click.Path(path_type=Path), help="Dev corpus: picks the best weights.")
@click.option("--hold-out", type=click.IntRange(min=1), metavar="N",
              help="Without --dev: the last N training documents are dev.")  # fmt: skip
@click.option("--from", "source_format", type=FORMAT, help="Format of the corpora; guessed where it can be.")
@click.option("--limit", type=click.IntRange(min=1), help="Use the first N training documents only.")
@click.option("--encoder", help="A name (`factpin models --encoders`), a folder, or a hub id.")
@click.option("--initial", metavar="NAME|FOLDER", help="A model to go on from instead of an encoder: a shipped one or "
              "a folder. Its head is kept where labels agree.")  # fmt: skip
@click.option("--head", help="spans: efficient_global_pointer (default), global_pointer or crf; short: egp, gp.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder of the run and of the model.")
@click.option("--rope/--no-rope", default=None, help="Rotary positions in the pointer heads; triples: of relations.")
@click.option("--bias", type=click.Choice(["qk", "hidden"]), help="Bias form of efficient_global_pointer.")
@click.option("--scheme", type=click.Choice(["bio", "bioes"]), help="Tags of crf.")
@click.option("--overlaps", type=click.Choice(["auto", "keep", "drop"]),
              help="spans: keep overlapping mentions, or only the surest; auto: as in the training data.")  # fmt: skip
@click.option("--typed/--no-typed", default=None, help="triples: entity types as classes of spans, and in decoding.")
@click.option("--occurrences", type=click.Choice(["first", "nearest", "all"]),
              help="triples: which mentions are meant where a corpus has strings only.")  # fmt: skip
@click.option("--triggers/--no-triggers", default=None, help="events: learn and tell triggers.")
@click.option("--localized/--no-localized", default=None, help="document_relations: localized context pooling.")
@click.option("--context-start", type=float, help="document_relations: 0 lets the head begin without its context.")
@click.option("--threshold", type=click.Choice(["adaptive", "global"]), help="document_relations: kind of threshold.")
@click.option("--top-k", type=int, help="document_relations: most relations of one pair.")
@click.option("--evidence", type=float, help="document_relations: weight of the evidence loss.")
@click.option(
    "--negatives", type=float, help="document_relations: share of the pairs without a relation that is learned."
)
@click.option("--size", type=int, help="document_relations: width of a pair's views.")
@click.option("--group", type=int, help="document_relations: width of a group of the bilinear form.")
@click.option("--schema", help="A schema.toml; learned from the training corpus where none is given.")
@click.option("--types/--no-types", default=None, help="Leave out facts that the schema's types forbid.")
@click.option("--functional/--no-functional", default=None, help="One tail for functional relations.")
@click.option("--complete/--no-complete", default=None, help="Add symmetric and inverse facts.")
@click.option("--mentions", type=click.Choice(["linked", "all"]), help="triples: keep spans without a fact too.")
@click.option("--head-size", type=int)
@click.option(
    "--max-span", type=int, help="Widest span in tokens; of global_pointer scoring then costs length x width."
)
@click.option("--max-length", "--max-seq-length", type=int, help="Tokens of a window.")
@click.option("--overlap", type=int, help="Tokens that neighbouring windows share.")
@click.option(
    "--context", type=click.Choice(["sentence", "window"]), help="Read sentence by sentence, or as much as fits."
)
@click.option("--dropout", type=float)
@click.option("--tune-thresholds", is_flag=True, default=None, help="A threshold for each label, fitted on dev.")
@click.option("--language", help="zh, en, …: which texts the model is for.")
@click.option("--name", help="Name of the model in its card.")
@click.option("--finds", help="One line for the card: what it finds.")
@click.option("--learning-rate", type=float)
@click.option("--head-learning-rate", type=float, help="Default: ten times --learning-rate.")
@click.option("--layer-decay", type=float)
@click.option("--freeze-layers", type=click.IntRange(min=0), help="Embeddings and so many lowest layers stay.")
@click.option("--num-train-epochs", "--epochs", "epochs", type=int)
@click.option("--max-steps", type=int)
@click.option("--per-device-train-batch-size", "--batch-size", "batch_size", type=int)
@click.option("--gradient-accumulation-steps", "--accumulation", "accumulation", type=int)
@click.option("--warmup-ratio", "--warmup", "warmup", type=float)
@click.option("--schedule", type=click.Choice(["linear", "cosine", "constant"]))
@click.option("--weight-decay", type=float)
@click.option("--clip", "--max-grad-norm", "clip", type=float)
@click.option("--bf16/--no-bf16", default=None, help="Half precision: faster where the processor has it.")
@click.option("--ema", type=float, help="Decay of the average of the weights.")
@click.option("--fgm", type=float, help="Adversarial step on the word embeddings.")
@click.option("--rdrop", type=float, help="Weight of R-Drop.")
@click.option("--early-stopping", type=int, help="Evaluations without a better metric before it stops.")
@click.option("--metric", help="What is best: f1 (default), precision, recall, macro_f1, or another of the task.")
@click.option("--evaluate-every", type=int, help="Steps; default: each epoch.")
@click.option("--save-every", type=int, help="Steps between checkpoints; default: each epoch.")
@click.option("--seed", type=int)
@click.option("--tensorboard", is_flag=True, default=None)
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint in --output, if there is one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes, no bar.")
def train(
    task: str | None, recipe: Path | None, train_files: tuple[Path, ...], dev_file: Path | None,
    hold_out: int | None, source_format: str | None, limit: int | None, output: Path | None, threads: int | None,
    resume: bool, as_json: bool, quiet: bool, **choices: Any,
) -> int:  # fmt: skip
    """Train a model. TASK: spans (alias ner), triples (re), events (ee), document_relations (docre) or
    coreference (coref).

    \b
    factpin train spans --train train.json --dev dev.json --encoder m3e-zh --output runs/cluener
    factpin train triples --train train.json --dev dev.json --encoder minilm-en --output runs/webnlg
    factpin train --recipe runs/cluener/recipe.toml --seed 2 --output runs/cluener-2
    torchrun --nproc-per-node 2 -m factpin train spans …                 data parallel
    """
    tables = read_recipe(recipe) if recipe else {}
    data = dict(tables.get("task", {}))
    name = _known(task or data.get("name"))
    data.pop("name", None)
    if output is None:
        raise BadInput("--output is missing: name the folder for the run and the model.")
    trains = [str(path) for path in train_files]
    given = {"train": (trains[0] if len(trains) == 1 else trains) or None, "dev": dev_file and str(dev_file),
             "hold_out": hold_out, "from": source_format, "limit": limit}  # fmt: skip
    data.update({key: value for key, value in given.items() if value is not None})
    if not data.get("train"):
        raise BadInput("--train is missing: name the training corpus.")
    if not any(choices[key] or tables.get(name, {}).get(key) for key in ("encoder", "initial")):
        raise BadInput("--encoder is missing. `factpin models --encoders` lists what can be had without a hub; "
                       "--initial goes on from a model instead.")  # fmt: skip

    import torch  # what the user can have got wrong is checked before these seconds

    from factpin.layers.half import bf16_warning

    if threads:
        torch.set_num_threads(threads)
    _refuse_unknown(tables, name, recipe)
    _refuse_foreign(TASKS[name].options, TrainConfig, choices, name)
    plan = make_plan(name, choices, tables)
    training, dev = read_training(data, plan.reading)
    if len(training) < FEW:
        notes(quiet or as_json).print(
            f"[yellow]only {len(training)} training documents:[/] the model will learn little, and scores depend on "
            f"chance. Annotate a few hundred before you rely on it."
        )
    if plan.how.bf16 and (warning := bf16_warning()):
        notes(quiet or as_json).print(warning, style="yellow")
    report = plan.run(training, dev, output, data=data, resume=resume, quiet=quiet or as_json)
    if "scores" not in report:  # not the leading process
        return 0
    read = read_settings(output).max_length
    if read < (plan.config.max_length or 0):
        report["max_length"] = read
        notes(quiet or as_json).print(
            f"[yellow]max_length {plan.config.max_length:,}:[/] this encoder reads at most {read:,} tokens at once; "
            f"windows have so many, in training and in the model"
        )
    if as_json:
        print_json(report)
    elif not quiet:
        out().print(_table(report, output))
        for advice in advise(report):
            notes(quiet).print(f"[yellow]{advice}[/]")
    return 0


def advise(report: dict[str, Any]) -> list[str]:
    """What a user should know about how a run ended."""
    if not report["scores"]:
        return ["Nothing was judged: there is no dev set. Give one (--dev FILE or --hold-out N) to see how good the "
                "model is; without it, scores are not calibrated and the last weights are kept."]  # fmt: skip
    if report["scores"].get("f1", 1.0) >= POOR:
        return []
    steps, noted = report["steps"], report["noted"]
    lost = noted.get("not_taught", 0) + noted.get("unalignable", 0)
    asked = noted.get("facts", 0) or noted.get("mentions", 0) or noted.get("events", 0)
    if asked and lost > asked / 2:
        cause = f"{lost:,} of {asked:,} annotations could not be taught; look at the corpus with `factpin doctor`"
    elif steps < 300:
        cause = f"it learned for {steps:,} steps only; give it more (--epochs)"
    else:
        cause = ("the rate may not suit the encoder (--learning-rate), or train and dev do not use the same labels "
                 "(`factpin doctor TRAIN DEV`)")  # fmt: skip
    return [f"The model found next to nothing (F1 {100 * report['scores']['f1']:.1f} on dev). Likely cause: {cause}."]


def _known(name: str | None) -> str:
    """The task's full name."""
    if name is None:
        raise BadInput("The task is missing: factpin train spans --train … --encoder … --output …")
    return find_task(name).name


def _refuse_unknown(tables: dict[str, Any], task: str, recipe: Path | None) -> None:
    """A misspelt table, or key of [task], would train something else than was meant."""
    known = {"task", task, "train", "card"}
    for name in tables:
        if name not in known:
            raise BadInput(f"{recipe}: there is no table [{name}].{did_you_mean(name, known)}")
    for name in tables.get("task", {}):
        if name not in KEYS:
            raise BadInput(f"{recipe}: [task] has no {name!r}.{did_you_mean(name, KEYS)}")


def _refuse_foreign(what: Any, how: Any, choices: dict[str, Any], task: str) -> None:
    """An option of another task is an error, not a word in the wind."""
    known = {*what.__dataclass_fields__, *how.__dataclass_fields__}
    for key, value in choices.items():
        if value is not None and key not in known:
            raise BadInput(f"--{key.replace('_', '-')} means nothing for {task}. Leave it out.")


def _table(report: dict[str, Any], output: Path) -> Any:
    from rich.table import Table

    table = Table("", "", title=f"{output}: trained on {report['train']:,} documents", title_justify="left",
                  show_header=False)  # fmt: skip
    table.add_row("steps (best)", f"{report['steps']} ({report['best_step']})")
    for name, value in report["scores"].items():
        table.add_row(f"dev {name.replace('_', ' ')}", f"{100 * value:.2f}")
    for name, value in report["noted"].items():
        if value:
            table.add_row(f"training {name.replace('_', ' ')}", f"{value:,}")
    return table
