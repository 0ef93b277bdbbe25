"""The corpus of a recipe: its table [task] names the files of each part."""

from pathlib import Path
from typing import Any

from factpin import formats
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats import Options

KEYS = ("name", "train", "dev", "test", "from", "limit", "hold_out")


def read_part(data: dict[str, Any], part: str, options: Options) -> list[Document]:
    """A part, which may be several files, or none."""
    paths = data.get(part) or []
    return [doc for path in ([paths] if isinstance(paths, str) else paths)
            for doc in formats.read(Path(path), format=data.get("from"), options=options)]  # fmt: skip


def read_training(data: dict[str, Any], options: Options) -> tuple[list[Document], list[Document]]:
    """The first `limit` documents to learn from and those of dev; with `hold_out`, dev is the last of the former."""
    training, dev = read_part(data, "train", options)[: data.get("limit")], read_part(data, "dev", options)
    held = data.get("hold_out")
    if held is None:
        return training, dev
    if dev:
        raise BadInput("Both dev and hold_out (--hold-out) are given: expected one of them. Leave one out.")
    if not 0 < held < len(training):
        raise BadInput(
            f"hold_out is {held}, of {len(training)} training documents: expected at least 1, and fewer than there are."
        )
    return training[:-held], training[-held:]
