"""The corpus of a recipe: its table [task] names the files of each part."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from factpin import formats
from factpin.documents import Document, Question
from factpin.errors import BadInput
from factpin.formats import Options, questions
from factpin.words import count

KEYS = ("name", "train", "dev", "test", "from", "limit", "hold_out")
T = TypeVar("T")


def read_part(data: dict[str, Any], part: str, options: Options) -> list[Document]:
    """A part, which may be several files, or none."""
    return _read(data, part, lambda path: formats.read(path, format=data.get("from"), options=options))


def read_training(data: dict[str, Any], options: Options) -> tuple[list[Document], list[Document]]:
    """The first `limit` documents to learn from and those of dev; with `hold_out`, dev is the last of the former."""
    return _split(data, read_part(data, "train", options), read_part(data, "dev", options))


def read_training_questions(data: dict[str, Any]) -> tuple[list[Question], list[Question]]:
    """The same for questions."""
    train, dev = (
        _read(data, part, lambda path: questions.read(path, format=data.get("from"))) for part in ("train", "dev")
    )
    return _split(data, train, dev)


def _read(data: dict[str, Any], part: str, read: Callable[[Path], Iterable[T]]) -> list[T]:
    paths = data.get(part) or []
    return [one for path in ([paths] if isinstance(paths, str) else paths) for one in read(Path(path))]


def _split(data: dict[str, Any], training: list[T], dev: list[T]) -> tuple[list[T], list[T]]:
    training, held = training[: data.get("limit")], data.get("hold_out")
    if held is None:
        return training, dev
    if dev:
        raise BadInput("Both dev and hold_out (--hold-out) are given: expected one of them. Leave one out.")
    if not 0 < held < len(training):
        raise BadInput(
            f"hold_out is {held}, of {count(len(training), 'training document')}: expected at least 1, and fewer "
            f"than there are."
        )
    return training[:-held], training[-held:]
