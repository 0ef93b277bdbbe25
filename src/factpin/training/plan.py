"""What a training run is asked for, by name and as plain values: shared by `factpin train` and `factpin.train`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from factpin import formats
from factpin.documents import Document
from factpin.errors import BadInput, did_you_mean
from factpin.formats import Options
from factpin.tasks import TASKS, Task, find_task
from factpin.training.config import TrainConfig, chosen, from_dict

HEADS = {"egp": "efficient_global_pointer", "gp": "global_pointer"}


@dataclass(frozen=True)
class Plan:
    """A task with all its settings."""

    task: Task
    config: Any  # of the task
    how: TrainConfig

    @property
    def reading(self) -> Options:
        """How corpora are read for it."""
        chosen = getattr(self.config, "occurrences", None)
        return Options(occurrences=chosen) if chosen else Options()

    def run(
        self,
        training: Sequence[Document],
        dev: Sequence[Document],
        output: Path,
        *,
        data: dict[str, Any] | None = None,
        resume: bool = False,
        quiet: bool = False,
    ) -> dict[str, Any]:
        """Train, and write the model folder; gives what was measured. data: where the documents come from."""
        from factpin.training.run import run_training  # noqa: PLC0415  (torch waits until here)

        return run_training(self.task, training, dev, self.config, self.how, output, data=data, resume=resume,
                            quiet=quiet)  # fmt: skip


def make_plan(task: str, settings: Mapping[str, Any], recipe: Mapping[str, Mapping[str, Any]] | None = None) -> Plan:
    """The plan of a task by its full name; settings that are None are left to the recipe, or to their defaults."""
    kind, tables = TASKS[task], recipe or {}
    made = {key: value for key, value in settings.items() if value is not None}
    known = {f.name for f in (*fields(kind.options), *fields(TrainConfig))}
    for key in made:
        if key not in known:
            raise BadInput(f"There is no setting {key!r} for {task}.{did_you_mean(key, known)}")
    if "head" in made:
        made["head"] = HEADS.get(made["head"], str(made["head"]).replace("-", "_"))
    what = chosen(kind.options, dict(tables.get(task, {})), made)
    how = chosen(TrainConfig, dict(tables.get("train", {})), made)
    return Plan(kind, from_dict(kind.options, what, task), from_dict(TrainConfig, how, "train"))


Corpus = str | Path | Iterable[Document]


def train(
    task: str,
    settings: Mapping[str, Any],
    output: Path,
    train: Corpus,
    dev: Corpus | None = None,
    *,
    format: str | None = None,
    resume: bool = False,
    quiet: bool = False,
) -> dict[str, Any]:
    """Train a model on files or on documents in memory, and write its folder; gives what was measured."""
    name = find_task(task).name
    if not settings.get("encoder") and not settings.get("initial"):
        raise BadInput("Name what to start from: encoder=… (`factpin models --encoders` lists what can be had without "
                       "a hub), or initial=…, a model to go on from.")  # fmt: skip
    plan = make_plan(name, settings)
    data = {key: str(value) for key, value in (("train", train), ("dev", dev)) if isinstance(value, str | Path)}
    if data and format:
        data["from"] = format
    training, held = (_documents(corpus, format, plan.reading) for corpus in (train, dev or ()))
    return plan.run(training, held, output, data=data, resume=resume, quiet=quiet)


def _documents(corpus: Corpus, format: str | None, options: Options) -> list[Document]:
    if isinstance(corpus, str | Path):
        return list(formats.read(corpus, format=format, options=options))
    return list(corpus)
