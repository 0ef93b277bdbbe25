"""What can be trained beside the tasks: parts of the systems that answer questions and read long texts. No torch.

Every part has its own options, learns from questions or from documents, and writes a model folder.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from factpin.formats import Options
from factpin.training.classify_options import CLASSIFY, ClassifyOptions
from factpin.training.config import TrainConfig
from factpin.training.data import read_training, read_training_questions
from factpin.training.generator_options import GENERATOR, GeneratorOptions
from factpin.training.hops_options import HOPS, HopOptions
from factpin.training.judge_options import JUDGE, JudgeOptions
from factpin.training.retriever_options import RETRIEVER, RetrieverOptions


def _classify(*given: Any, **how: Any) -> dict[str, Any]:
    from factpin.training.classify import train_classify  # noqa: PLC0415  (torch waits until here)

    return train_classify(*given, **how)


def _generator(*given: Any, **how: Any) -> dict[str, Any]:
    from factpin.training.generator import train_generator  # noqa: PLC0415  (torch waits until here)

    return train_generator(*given, **how)


def _hops(*given: Any, **how: Any) -> dict[str, Any]:
    from factpin.training.hops import train_hops  # noqa: PLC0415  (torch waits until here)

    return train_hops(*given, **how)


def _judge(*given: Any, **how: Any) -> dict[str, Any]:
    from factpin.training.judge import train_judge  # noqa: PLC0415  (torch waits until here)

    return train_judge(*given, **how)


def _retriever(*given: Any, **how: Any) -> dict[str, Any]:
    from factpin.training.retriever import train_retriever  # noqa: PLC0415  (torch waits until here)

    return train_retriever(*given, **how)


@dataclass(frozen=True)
class TrainablePart:
    """A part that can be trained: its options, what it learns from, and the function that trains it."""

    options: type[Any]
    learns_from: Literal["questions", "documents"]
    train: Callable[..., dict[str, Any]]


PARTS: dict[str, TrainablePart] = {
    CLASSIFY: TrainablePart(ClassifyOptions, "documents", _classify),
    GENERATOR: TrainablePart(GeneratorOptions, "questions", _generator),
    HOPS: TrainablePart(HopOptions, "questions", _hops),
    JUDGE: TrainablePart(JudgeOptions, "questions", _judge),
    RETRIEVER: TrainablePart(RetrieverOptions, "documents", _retriever),
}


@dataclass(frozen=True)
class PartPlan:
    """A part with all its settings."""

    name: str
    config: Any
    how: TrainConfig

    @property
    def part(self) -> TrainablePart:
        """What is trained."""
        return PARTS[self.name]

    def read(self, data: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """What to learn from, and dev."""
        if self.part.learns_from == "questions":
            return read_training_questions(data)
        return read_training(data, Options())

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
        """Train, and write the model folder; gives what was measured."""
        return self.part.train(training, dev, self.config, self.how, output, data=data, resume=resume, quiet=quiet)
