"""The beginning of a file, from which formats recognise their files."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from factpin import files

SIZE = 1 << 18
MOST = 50  # records that are looked at
BETWEEN = re.compile(r"[\s,]*")  # two records


@dataclass(frozen=True)
class Head:
    """The name (without compression suffix), the first lines and the first JSON record of a file."""

    path: Path
    name: str
    lines: tuple[str, ...]
    record: Any  # the first object of a JSON list or of JSON lines; None if the file is not JSON
    is_list: bool  # the file is one JSON list
    is_folder: bool = False
    more: tuple[Any, ...] = ()  # the objects after the first


def head(path: Path, encoding: str) -> Head:
    """The beginning of a file or folder."""
    if path.is_dir():
        names = tuple(sorted(p.name for p in path.iterdir() if not p.name.startswith(".")))
        return Head(path, path.name, names, None, False, is_folder=True)
    with files.open_bytes(path) as stream:
        raw = stream.read(SIZE)
    text = files.incremental_decoder(encoding, path)(raw, False)
    start = text.lstrip()
    is_list = start.startswith("[")
    first, *more = [*islice(_records(start, 1 if is_list else 0), MOST)] or [None]
    lines = tuple(text.split("\n")[:200])
    return Head(path, files.plain_name(path), lines, first, is_list, more=tuple(more))


def _records(text: str, at: int) -> Iterator[Any]:
    """The objects of a JSON list or of JSON lines, up to anything else."""
    decoder = json.JSONDecoder()
    while (found := BETWEEN.match(text, at)) and text[found.end() : found.end() + 1] == "{":
        try:
            record, at = decoder.raw_decode(text, found.end())
        except (ValueError, RecursionError):
            return
        yield record
