"""The plan of a training run, from names and plain values: shared by `factpin train` and `factpin.train`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from factpin import formats
from factpin.documents import Document, Question
from factpin.errors import BadInput, UnknownName, did_you_mean, need_torch
from factpin.formats import Options, questions
from factpin.tasks import TASKS, find_task, task_names
from factpin.training.config import TrainConfig, chosen, from_dict
from factpin.training.data import read_training, read_training_questions
from factpin.training.parts import PARTS

STARTS = ("encoder", "initial")  # what a run may start from
HEADS = {"egp": "efficient_global_pointer", "gp": "global_pointer"}


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained, a task or a part by its full name, with all its settings."""

    name: str
    config: Any  # of the task or the part
    how: TrainConfig

    @property
    def reading(self) -> Options:
        """How corpora are read for it."""
        chosen = getattr(self.config, "occurrences", None)
        return Options(occurrences=chosen) if chosen else Options()

    def read(self, data: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """The documents or questions to learn from, and those of dev."""
        if learns_from(self.name) == "questions":
            return read_training_questions(data)
        return read_training(data, self.reading)

    def read_corpus(self, path: str | Path, format: str | None) -> list[Any]:
        """The documents or questions of a file."""
        if learns_from(self.name) == "questions":
            return list(questions.read(path, format=format))
        return list(formats.read(path, format=format, options=self.reading))

    def run(
        self,
        training: Sequence[Any],
        dev: Sequence[Any],
        output: Path,
        *,
        data: dict[str, Any] | None = None,
        resume: bool = False,
        quiet: bool = False,
    ) -> dict[str, Any]:
        """Train, and write the model folder; gives what was measured. data: where the documents come from."""
        from factpin.training.part_table import train_part  # noqa: PLC0415  (torch waits until here)
        from factpin.training.run import run_training  # noqa: PLC0415

        if self.name in PARTS:
            return train_part(
                self.name, training, dev, self.config, self.how, output, data=data, resume=resume, quiet=quiet
            )
        return run_training(
            TASKS[self.name], training, dev, self.config, self.how, output, data=data, resume=resume, quiet=quiet
        )


def trainable() -> dict[str, type[Any]]:
    """The settings of everything that can be trained, by name."""
    parts = {name: part.options for name, part in PARTS.items()}
    return {**parts, **{name: task.options for name, task in TASKS.items()}}


def trainable_name(name: str) -> str:
    """The full name of what can be trained."""
    plain, names = name.replace("-", "_"), sorted([*task_names(), *PARTS])
    if plain in PARTS:
        return plain
    if plain in task_names():
        return find_task(plain).name
    raise UnknownName(f"There is no task {name!r}.{did_you_mean(plain, names)} Known: {', '.join(names)}.")


def starts_from_a_model(name: str) -> bool:
    """Whether it can start from a trained model (--initial), and not from an encoder alone."""
    return "initial" in {field.name for field in fields(trainable()[name])}


def learns_from(name: str) -> str:
    """What a training file has to hold: questions or documents."""
    return PARTS[name].learns_from if name in PARTS else "documents"


def make_plan(
    task: str, settings: Mapping[str, Any], recipe: Mapping[str, Mapping[str, Any]] | None = None
) -> TrainingPlan:
    """The plan of a task or part by its full name; settings that are None are those of the recipe, or defaults."""
    options, tables = trainable()[task], recipe or {}
    made = {key: value for key, value in settings.items() if value is not None}
    start = [key for key in STARTS if made.get(key)]
    table = {key: value for key, value in dict(tables.get(task, {})).items() if not (start and key in STARTS)}
    if len(start or [key for key in STARTS if table.get(key)]) > 1:
        raise BadInput(
            "Both encoder and initial (--encoder, --initial) are given: expected one of them, since a model brings its "
            "encoder along. Leave one out."
        )
    known = {f.name for f in (*fields(options), *fields(TrainConfig))}
    for key in made:
        if key not in known:
            raise BadInput(f"There is no setting {key!r} for {task}.{did_you_mean(key, known)}")
    if "head" in made:
        made["head"] = HEADS.get(made["head"], str(made["head"]).replace("-", "_"))
    what = from_dict(options, chosen(options, table, made), task)
    how = from_dict(TrainConfig, chosen(TrainConfig, dict(tables.get("train", {})), made), "train")
    return TrainingPlan(task, what, how)


Corpus = str | Path | Iterable[Document] | Iterable[Question]


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
    """Train a model on files, or on documents or questions in memory, and write its folder; gives what was measured."""
    name = trainable_name(task)
    if not settings.get("encoder") and not settings.get("initial"):
        more = ", or initial=…, a model to continue from" if starts_from_a_model(name) else ""
        raise BadInput(
            f"Name what to start from: encoder=… (`factpin models --encoders` lists what can be had without "
            f"a hub){more}."
        )
    plan = make_plan(name, settings)
    need_torch("Training needs torch")
    data = {key: str(value) for key, value in (("train", train), ("dev", dev)) if isinstance(value, str | Path)}
    if data and format:
        data["from"] = format
    training, held = (
        plan.read_corpus(corpus, format) if isinstance(corpus, str | Path) else list(corpus)
        for corpus in (train, dev or ())
    )
    return plan.run(training, held, output, data=data, resume=resume, quiet=quiet)
