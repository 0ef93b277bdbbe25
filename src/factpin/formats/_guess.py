"""The beginning of a file, from which formats recognise their files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factpin import files

SIZE = 1 << 18


@dataclass(frozen=True)
class Head:
    """The name (without compression suffix), the first lines and the first JSON record of a file."""

    path: Path
    name: str
    lines: tuple[str, ...]
    record: Any  # the first object of a JSON list or of JSON lines; None if the file is not JSON
    is_list: bool  # the file is one JSON list
    is_folder: bool = False


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
    record = _first(start[1:].lstrip() if is_list else start)
    return Head(path, files.plain_name(path), tuple(text.split("\n")[:200]), record, is_list)


def _first(text: str) -> Any:
    if not text.startswith("{"):
        return None
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
