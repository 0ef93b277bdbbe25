"""Documents from tables: one for each row of a CSV or TSV file, with the text of one column.

CSV is read as RFC 4180 describes it, with a comma, semicolon or tab between fields, whichever the first line has most
of. In TSV, quotes are ordinary characters unless they enclose a whole field, and a record is a line. A row with more or
fewer fields than the first one is an error: an unquoted comma would otherwise cut its text.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from factpin import files
from factpin.errors import BadFile, BadRecord, UnknownColumn, did_you_mean
from factpin.files.limits import too_long
from factpin.words import count

TEXT = "text"  # the column that is read where none is named
ID = "id"
SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Row:
    """A row: the line where it starts, its text, and its other fields by the names of their columns."""

    line: int
    text: str
    others: dict[str, str]


def read_rows(path: Path, kind: str, column: str = "", encoding: str | None = None) -> Iterator[Row | BadRecord]:
    """The rows of a file, bad ones as errors. kind: csv or tsv.

    column: the name of the column with the text; or its number from 1, in a file without a row of names.
    """
    rows = _tsv(path, encoding) if kind == "tsv" else _csv(path, encoding)
    first = next(rows, None)
    if first is None:
        raise BadFile(f"{path}: is empty. Expected a row with the names of the columns.")
    names = first[1]
    place, has_names = _find(path, names, column)
    if not has_names:
        names = [f"column {number}" for number in range(1, len(names) + 1)]
        yield _row(*first, place, names)
    for line, fields in rows:
        if len(fields) != len(names):
            reason = (
                f"the row has {count(len(fields), 'field')}, the first one {len(names)}. "
                f"Quote fields that contain separators or line breaks."
            )
            yield BadRecord(reason, file=files.readable(str(path)), line=line)
        else:
            yield _row(line, fields, place, names)


def _row(line: int, fields: list[str], place: int, names: list[str]) -> Row:
    others = {name: value for at, (name, value) in enumerate(zip(names, fields, strict=True)) if at != place and value}
    return Row(line, fields[place], others)


def _find(path: Path, names: list[str], column: str) -> tuple[int, bool]:
    """The place of the column, and whether the first row has names."""
    plain = [name.strip() for name in names]
    shown = ", ".join(plain)
    if column in plain:
        return plain.index(column), True
    if column.isdecimal():
        if not 1 <= int(column) <= len(names):
            raise UnknownColumn(f"{path}: there is no column {column}; the first row has {len(names)}: {shown}.")
        return int(column) - 1, False
    if column:
        near = did_you_mean(column, plain)
        raise UnknownColumn(f"{path}: there is no column {column!r}.{near} Its columns: {shown}.")
    folded = [name.lower() for name in plain]
    if folded.count(TEXT) != 1:
        raise UnknownColumn(
            f"{path}: which column has the texts? Name it with --column (its columns: {shown}), or give its number if "
            f"the first row has no names."
        )
    return folded.index(TEXT), True


def _csv(path: Path, encoding: str | None) -> Iterator[tuple[int, list[str]]]:
    """(line where it starts, fields) of every row."""
    lines = (f"{line}\n" for _, line in files.lines(path, encoding or "utf-8"))
    first = next(lines, "")
    limit = files.record_limit()
    csv.field_size_limit(limit)
    start, size = 1, 0

    def counted() -> Iterator[str]:
        nonlocal size
        for line in chain([first] if first else [], lines):
            size += len(line)
            if size - len(line) > limit:
                raise too_long(path, f"the row from line {start} on")
            yield line

    try:
        rows = csv.reader(counted(), delimiter=_separator(first), strict=True)
        for fields in rows:
            size = 0
            if fields:
                yield start, fields
            start = rows.line_num + 1
    except csv.Error as error:
        raise BadRecord(
            f"not CSV ({error}). Write a quote inside a field twice, and close quoted fields.",
            file=files.readable(str(path)),
            line=start,
        ) from None


def _separator(line: str) -> str:
    """What separates the fields of a line."""
    outside = "".join(line.split('"')[::2])
    return max(SEPARATORS, key=outside.count)


def _tsv(path: Path, encoding: str | None) -> Iterator[tuple[int, list[str]]]:
    for number, line in files.lines(path, encoding or "utf-8"):
        if line:
            yield number, [_unquoted(field) for field in line.split("\t")]


def _unquoted(field: str) -> str:
    inside = field[1:-1]
    if len(field) < 2 or field[0] != '"' or field[-1] != '"' or '"' in inside.replace('""', ""):
        return field
    return inside.replace('""', '"')
