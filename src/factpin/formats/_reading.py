"""What every reader stands on: options, a report of what was noticed, and loops that survive a bad record.

A format's `read(reading)` hands its records to one of the loops below together with a function that turns one record
into a document. The loop knows the file and the line; the function only raises BadDocument where something is wrong.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import orjson

from factpin import files
from factpin.documents import Document
from factpin.errors import BadDocument, BadFile, BadRecord, OffsetMismatch

CHUNK = 1 << 20
EXAMPLES = 20  # of each kind of note; the counts are complete


@dataclass(frozen=True)
class Options:
    """What a user may choose when a file is read or written."""

    encoding: str = "utf-8"
    skip_bad: bool = False  # set bad records aside and go on
    utf16: bool = False  # count offsets as JavaScript does (doccano, labelstudio)
    occurrences: Literal["first", "nearest", "all"] = "first"  # which mention a string without offsets means
    fragments: Literal["refuse", "merge"] = "refuse"  # discontinuous mentions: an error, or first to last character
    scheme: Literal["bio", "bioes", "bmes"] = "bio"  # tags that conll writes
    lossy: bool = False  # write what the format can hold and count the rest


@dataclass(frozen=True)
class Note:
    """Something noticed while reading that is no error: an ambiguity, a repair, a thing left out."""

    kind: str
    file: str
    line: int
    document: str
    message: str


@dataclass
class Report:
    """Everything noticed: counts by kind, the first examples of each, and the records set aside."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)
    rejected: int = 0
    on_reject: Callable[[BadRecord, str], None] | None = None  # gets the error and the raw record

    def reject(self, error: BadRecord, raw: str) -> None:
        """Set a bad record aside."""
        self.rejected += 1
        if self.on_reject is not None:
            self.on_reject(error, raw)


@dataclass
class ReadContext:
    """One file (or folder) being read."""

    path: Path
    options: Options = field(default_factory=Options)
    report: Report = field(default_factory=Report)

    def default_id(self, number: int) -> str:
        """The id of a record that has none: the file's stem and the record's number."""
        return f"{self.stem}-{number}"

    @cached_property
    def stem(self) -> str:
        """The file's name without its endings."""
        return files.plain_stem(self.path)

    def note(self, kind: str, line: int, document: str, message: str, count: int = 1) -> None:
        """Count something noticed at a line, and keep it if it is among the first of its kind."""
        if self.report.counts[kind] < EXAMPLES:
            self.report.notes.append(Note(kind, str(self.path), line, document, message))
        self.report.counts[kind] += count

    def lines(self) -> Iterator[tuple[int, str]]:
        """The file's numbered lines."""
        return files.lines(self.path, self.options.encoding)

    def json_lines(self, parse: Callable[[Any, int], Document]) -> Iterator[Document]:
        """One JSON value a line: parse(value, line). Blank lines are passed over."""
        for number, position, raw in files.byte_lines(self.path, self.options.encoding):
            try:
                document = parse(decode(raw), number)
            except (BadDocument, BadRecord) as problem:
                line = files.line_text(self.path, number, position, raw)
                if line and not line.isspace():
                    self._set_aside(problem, number, line)
            else:
                yield document

    def json_items(self, parse: Callable[[Any, int], Document]) -> Iterator[Document]:
        """A file that is one JSON list: parse(item, number from 1), never holding more than a piece of the file."""
        return self.each(self._items(), parse)

    def each(self, records: Iterable[tuple[int, Any]], parse: Callable[[Any, int], Document]) -> Iterator[Document]:
        """parse(record, line) for all (line, record); a record that fails is an error, or set aside by choice."""
        for line, record in records:
            try:
                if isinstance(record, _DecodeFailure):
                    raise record.error
                if isinstance(record, BadRecord):
                    raise record
                document = parse(record, line)
            except (BadDocument, BadRecord) as problem:
                self._set_aside(problem, line, record)
            else:
                yield document

    def _set_aside(self, problem: BadDocument | BadRecord, line: int, record: Any) -> None:
        error = problem if isinstance(problem, BadRecord) else self.bad_record(problem, line)
        if not self.options.skip_bad:
            raise error from None
        self.report.reject(error, raw_text(record))

    def bad_record(self, problem: BadDocument, line: int) -> BadRecord:
        """The error of a document as the error of the record it came from."""
        kind = "bad_record"
        if isinstance(problem, OffsetMismatch):
            kind = "offset_inclusive" if problem.inclusive else "offset_mismatch"
        return BadRecord(str(problem), file=str(self.path), line=line, field=problem.field, kind=kind)

    def _items(self) -> Iterator[tuple[int, Any]]:
        """(number, item) of a top-level list, by the standard decoder over a buffer that moves along the file."""
        decoder = json.JSONDecoder(parse_constant=_no_constant)
        with files.open_bytes(self.path) as stream:
            text = _Text(stream, self.path, self.options.encoding)
            if text.after_blanks() != "[":
                raise BadFile(
                    f"{self.path}: expected a JSON list, the file begins with {text.peek()!r}. "
                    f"Name the right format with --from."
                )
            text.position += 1
            number = 0
            if text.after_blanks() == "]":
                return
            while True:
                number += 1
                text.after_blanks()
                try:
                    item = text.decode(decoder)
                except ValueError as error:
                    yield from self._broken(number, str(error), text)
                    return
                yield number, item
                match text.after_blanks():
                    case ",":
                        text.position += 1
                    case "]":
                        return
                    case other:
                        came = "the file ends" if other == "" else f"came {other!r}"
                        message = f"after item {number} a comma or the list's end was expected, {came}"
                        yield from self._broken(number + 1, message, text)
                        return

    def _broken(self, number: int, message: str, text: "_Text") -> Iterator[tuple[int, "_DecodeFailure"]]:
        """What is left of a list that cannot be read on, piece by piece: it is set aside whole, or refused."""
        again = ""
        while True:
            error = BadRecord(
                f"the list cannot be read from item {number} on: {message}. Repair the file there; what follows was "
                f"not read{again}.",
                file=str(self.path),
                line=number,
                kind="bad_json",
            )
            yield number, _DecodeFailure(error, text.take())
            if not text.more():
                return
            again = " (continued)"


@dataclass(frozen=True)
class _DecodeFailure:
    """A piece of a file that cannot be decoded, and why."""

    error: BadRecord
    raw: str


class _Text:
    """The decoded text of a stream as a buffer with a position; it holds little more than one item at a time."""

    def __init__(self, stream: Any, path: Path, encoding: str) -> None:
        self.decode_bytes = files.incremental_decoder(encoding, path)
        self.stream = stream
        self.buffer = ""
        self.position = 0
        self.done = False

    def more(self, size: int = CHUNK) -> bool:
        """Read on; False at the end of the file."""
        if self.done:
            return False
        raw = self.stream.read(size)
        self.done = not raw
        self.buffer = self.buffer[self.position :] + self.decode_bytes(raw, self.done)
        self.position = 0
        return True

    def peek(self) -> str:
        return self.buffer[self.position : self.position + 1]

    def after_blanks(self) -> str:
        """Move past blanks; the character found, or "" at the end of the file."""
        while True:
            while self.position < len(self.buffer):
                if self.buffer[self.position] not in " \t\r\n":
                    return self.buffer[self.position]
                self.position += 1
            if not self.more():
                return ""

    def decode(self, decoder: json.JSONDecoder) -> Any:
        """The JSON value at the position. A value that the buffer cuts off is tried again with twice as much."""
        size = CHUNK
        while True:
            try:
                item, end = decoder.raw_decode(self.buffer, self.position)
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except _Constant:
                raise
            except ValueError:
                if not self.more(size):
                    raise
                size *= 2
                continue
            if end == len(self.buffer) and not isinstance(item, dict | list) and self.more(size):
                continue  # a number or word may go on in the next piece
            self.position = end
            return item

    def take(self) -> str:
        """What is left in the buffer, which is then empty."""
        rest, self.buffer, self.position = self.buffer[self.position :], "", 0
        return rest


class _Constant(ValueError):
    pass


def _no_constant(name: str) -> Any:
    raise _Constant(f"{name} is not JSON; write null, or leave the field out")


def decode(line: str | bytes) -> Any:
    """The JSON value of a line."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadDocument(
            f"not JSON: {error}. Repair the line, or set it aside with `factpin convert --skip-bad`."
        ) from None


def raw_text(record: Any) -> str:
    """A record as it goes into the file of rejects."""
    if isinstance(record, _DecodeFailure):
        return record.raw
    if isinstance(record, str):
        return record
    try:
        return json.dumps(record, ensure_ascii=True, default=str)
    except (RecursionError, ValueError):
        return repr(record)[:10_000]
