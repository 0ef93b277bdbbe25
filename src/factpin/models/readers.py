"""The readers of a run of questions: each question is read by the reader of its language, which is then loaded."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin.answers.parse import parse_question
from factpin.answers.passages import AnswerSpan
from factpin.answers.reader import Reader
from factpin.documents import Passage
from factpin.errors import BadModel
from factpin.models.onnx.graph import FLOAT32, INT8
from factpin.models.runtimes import AUTO, choose_runtime
from factpin.models.settings import read_settings
from factpin.models.shipped import READER, find_model, shipped_readers

ANY = ""  # the language of a reader that reads every question


@dataclass
class Readers:
    """Readers by language. Loading waits until a question is asked."""

    folders: dict[str, Path]
    device: str = "cpu"
    runtime: str = AUTO
    precision: str = AUTO
    loaded: dict[Path, Reader[Any]] = field(default_factory=dict)

    def read(self, question: str, passages: Sequence[Passage]) -> list[AnswerSpan]:
        """The best answer in each passage; none where no reader knows the language of the question."""
        reader = self.reader(question)
        if reader is None or not passages:
            return []
        return [
            AnswerSpan(passages[r.passage], r.span, r.probability, "" if r.kind == "span" else r.text)
            for r in reader.read(question, passages)
        ]

    def reads(self, question: str) -> bool:
        """Whether a reader knows the language of a question."""
        return self.reader(question) is not None

    def min_score(self, question: str) -> float:
        """The score that was fitted for the reader of the question's language; 1 where there is none."""
        reader = self.reader(question)
        return 1.0 if reader is None else reader.settings.min_score

    def reader(self, question: str) -> Reader[Any] | None:
        """The reader of a question's language."""
        folder = self.folders.get(parse_question(question).language, self.folders.get(ANY))
        if folder is None:
            return None
        if folder not in self.loaded:
            self.loaded[folder] = open_reader(folder, self.device, self.runtime, self.precision)
        return self.loaded[folder]


def open_reader(folder: Path, device: str = "cpu", runtime: str = AUTO, precision: str = AUTO) -> Reader[Any]:
    """A reader from its folder, loaded by a runtime."""
    if choose_runtime(folder, runtime, device, precision) == "onnx":
        from factpin.models.onnx.reader import load_onnx_reader  # noqa: PLC0415

        return load_onnx_reader(folder, INT8 if precision == INT8 else FLOAT32)
    from factpin.models.reader_folder import load_reader  # noqa: PLC0415  (torch)

    return load_reader(folder, device)


def find_readers(
    name: str | None = None, device: str = "cpu", runtime: str = AUTO, precision: str = AUTO
) -> Readers | None:
    """The named reader, for every question; all that ship if none is named; None for "none"."""
    if name == "none":
        return None
    if name is None:
        by_language = {read_settings(folder).language: folder for folder in shipped_readers()}
        return Readers(by_language, device, runtime, precision) if by_language else None
    folder = find_model(name)
    task = read_settings(folder).task
    if task != READER:
        raise BadModel(f"{name} is a model for {task}; expected a reader, which `factpin train reader` makes.")
    return Readers({ANY: folder}, device, runtime, precision)
