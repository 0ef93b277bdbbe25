"""Shared by the JSON formats: lists or lines, ids of records, unknown fields."""

import io
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from factpin import files
from factpin.documents import Document
from factpin.documents.fields import as_int
from factpin.errors import BadDocument
from factpin.formats._reading import ReadContext
from factpin.formats._writing import write_json_lines, write_json_list

PEEK = 4096


def list_or_lines(reading: ReadContext, parse: Callable[[Any, int], Document]) -> Iterator[Document]:
    """The documents of a file with one JSON list or one JSON value per line, recognised by its first characters."""
    beginning = "".join(_beginning(reading).split())
    # A line may be a list itself, ["text", …]: the list of a whole file holds objects or lists.
    if beginning[:2] in ("[{", "[[", "[]"):
        yield from reading.json_items(parse)
    else:
        yield from reading.json_lines(parse)


def _beginning(reading: ReadContext) -> str:
    if str(reading.path) == "-":
        raw = cast(io.BufferedReader, sys.stdin.buffer).peek(PEEK)[:PEEK]
    else:
        with files.open_bytes(reading.path) as stream:
            raw = stream.read(PEEK)
    return files.incremental_decoder(reading.options.encoding, reading.path)(raw, False)


def write_list_or_lines(path: Path, records: Iterable[Any]) -> None:
    """Write one JSON list, or one value per line if the name ends in .jsonl."""
    if files.plain_name(path).endswith(".jsonl"):
        write_json_lines(path, records)
    else:
        write_json_list(path, records)


def own_id(record: Mapping[str, Any], default: str) -> str:
    """The id of a record, a string or an integer; `default` if it has none."""
    id = record.get("id")
    if id is None:
        return default
    return id if isinstance(id, str) else str(as_int(id, "id"))


def number_or_name(id: str) -> int | str:
    """The id as an integer if possible: "12" -> 12, "d12" stays."""
    return int(id) if id.isascii() and id.isdigit() and len(id) < 18 and str(int(id)) == id else id


def unknown(record: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """The fields that a format does not know."""
    return {key: value for key, value in record.items() if key not in known}


def probability(record: Mapping[str, Any], key: str, where: str) -> float | None:
    """A score from 0 to 1, or None if missing or null."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadDocument(
            "expected a probability from 0 to 1. Correct the field, or leave it out.", field=f"{where}.{key}"
        )
    return float(value)
