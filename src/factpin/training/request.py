"""The request of a `factpin train` command: a recipe with options on top, checked before torch is imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from factpin.errors import BadInput, did_you_mean, need_torch
from factpin.models.settings import read_settings
from factpin.training.config import TrainConfig, read_recipe
from factpin.training.data import KEYS
from factpin.training.plan import learns_from, make_plan, starts_from_a_model, trainable, trainable_name
from factpin.training.reader_options import READER
from factpin.words import count

FEW = 200  # documents below which scores say little


@dataclass(frozen=True)
class TrainRequest:
    """A training run."""

    task: str  # its full name
    data: dict[str, Any]  # where the documents are, as in the table [task] of a recipe
    settings: dict[str, Any]  # options that were given
    tables: dict[str, Any]  # of the recipe
    output: Path
    resume: bool = False


def train_request(
    task: str | None,
    recipe: Path | None,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    output: Path | None,
    *,
    resume: bool = False,
) -> TrainRequest:
    """A request from a recipe and options; options that are None are left to the recipe."""
    tables = read_recipe(recipe) if recipe else {}
    files = {**tables.get("task", {}), **{key: value for key, value in data.items() if value is not None}}
    named = task or files.pop("name", None)
    if named is None:
        raise BadInput("The task is missing: factpin train spans --train … --encoder … --output …")
    name = trainable_name(named)
    files.pop("name", None)
    if output is None:
        raise BadInput("--output is missing: name the folder for the run and the model.")
    if not files.get("train"):
        raise BadInput("--train is missing: name the training corpus.")
    given = {key: value for key, value in settings.items() if value is not None}
    _refuse_foreign(given, name)
    if not any(given.get(key) or tables.get(name, {}).get(key) for key in ("encoder", "initial")):
        more = "; --initial starts from a trained model instead" if starts_from_a_model(name) else ""
        raise BadInput(
            f"--encoder is missing. `factpin models --encoders` lists encoders that need no model hub{more}."
        )
    _refuse_unknown(tables, name, recipe)
    return TrainRequest(name, files, given, tables, output, resume)


def _refuse_unknown(tables: Mapping[str, Any], task: str, recipe: Path | None) -> None:
    """Refuse a misspelt table, or a misspelt key of [task]: it would have no effect."""
    known = {"task", task, "train", "card"}
    for name in tables:
        if name not in known:
            raise BadInput(f"{recipe}: there is no table [{name}].{did_you_mean(name, known)}")
    for name in tables.get("task", {}):
        if name not in KEYS:
            raise BadInput(f"{recipe}: [task] has no {name!r}.{did_you_mean(name, KEYS)}")


def _refuse_foreign(given: Mapping[str, Any], task: str) -> None:
    """Refuse an option of another task."""
    known = {f.name for f in (*fields(trainable()[task]), *fields(TrainConfig))}
    for key in given:
        if key == "initial" and key not in known:
            raise BadInput(f"--initial has no meaning for {task}, which starts from an encoder. Name one (--encoder).")
        if key not in known:
            raise BadInput(f"--{key.replace('_', '-')} has no meaning for {task}. Leave it out.")


def run_request(
    request: TrainRequest, *, threads: int | None = None, quiet: bool = False, note: Callable[[str], None]
) -> dict[str, Any] | None:
    """Train, and write the model folder; returns what was measured, in the leading process only."""
    need_torch("Training needs torch")
    plan = make_plan(request.task, request.settings, request.tables)
    training, dev = plan.read(request.data)
    if len(training) < FEW:
        unit = learns_from(request.task).removesuffix("s")
        note(
            f"only {count(len(training), f'training {unit}')}: the model will learn little, and scores depend on "
            f"chance. Annotate a few hundred before you rely on it."
        )
    import torch  # noqa: PLC0415  (takes seconds: the settings and the files are checked before)

    from factpin.layers.half import bf16_warning  # noqa: PLC0415

    if threads:
        torch.set_num_threads(threads)
    if plan.how.bf16 and (warning := bf16_warning()):
        note(warning)
    report = plan.run(training, dev, request.output, data=request.data, resume=request.resume, quiet=quiet)
    if "scores" not in report:  # not the leading process
        return None
    read, wanted = read_settings(request.output).max_length, plan.config.max_length or 0
    if read < wanted:
        report["max_length"] = read
    if read < wanted and _is_chosen(request, "max_length"):
        note(_shorter(request.task, wanted, read))
    return report


def _is_chosen(request: TrainRequest, key: str) -> bool:
    """Whether a setting was given, as an option or by the recipe."""
    return key in request.settings or key in request.tables.get(request.task, {})


def _shorter(task: str, wanted: int, read: int) -> str:
    """Why a model reads less at once than was asked for."""
    if task == READER:
        return (
            f"max_length {wanted:,}: the reader keeps to windows of {read:,} tokens, because its encoder reads no more "
            f"at once, or because no question with its passage was much longer in training"
        )
    return (
        f"max_length {wanted:,}: this encoder reads at most {read:,} tokens at once, so windows have {read:,}, in "
        f"training and in the model"
    )
