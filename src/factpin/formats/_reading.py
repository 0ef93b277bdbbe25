"""The basis of all readers: options, a report, and loops that can skip a bad record.

The `read(reading)` of a format passes its records to one of these loops, with a function that turns a record into a
document. The loop knows the file and the line; the function just raises BadDocument.
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
from factpin.files.limits import too_long

CHUNK = 1 << 20
EXAMPLES = 20  # kept for each kind of note; the counts are complete


@dataclass(frozen=True)
class Options:
    """Options for reading and writing files."""

    encoding: str = "utf-8"
    skip_bad: bool = False  # skip bad records
    utf16: bool = False  # offsets are UTF-16 units, as in JavaScript (doccano, labelstudio)
    occurrences: Literal["first", "nearest", "all"] = "first"  # which occurrence a string without offsets refers to
    fragments: Literal["refuse", "merge"] = "refuse"  # discontinuous mentions: an error, or first to last character
    scheme: Literal["bio", "bioes", "bmes"] = "bio"  # tags to write in conll
    lossy: bool = False  # write what the format can hold, and count the rest
    only: files.LineRange | None = None  # read only these lines (jsonl)


@dataclass(frozen=True)
class Note:
    """Something noticed while reading that is not an error: an ambiguity, a repair, an omission."""

    kind: str
    file: str
    line: int
    document: str
    message: str


@dataclass
class Report:
    """Everything noticed: counts by kind, the first examples of each, and the rejected records."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)
    rejected: int = 0
    on_reject: Callable[[BadRecord, str], None] | None = None  # called with the error and the raw record

    def reject(self, error: BadRecord, raw: str) -> None:
        """Reject a bad record."""
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
        """The id for a record without one: the stem of the file and the number of the record."""
        return f"{self.stem}-{number}"

    @cached_property
    def stem(self) -> str:
        """The name of the file without suffixes."""
        return files.readable(files.plain_stem(self.path))

    def note(self, kind: str, line: int, document: str, message: str, count: int = 1) -> None:
        """Count a note, and keep it if it is among the first of its kind."""
        if self.report.counts[kind] < EXAMPLES:
            self.report.notes.append(Note(kind, str(self.path), line, document, message))
        self.report.counts[kind] += count

    def lines(self) -> Iterator[tuple[int, str]]:
        """The numbered lines of the file."""
        return files.lines(self.path, self.options.encoding)

    def json_lines(self, parse: Callable[[Any, int], Document]) -> Iterator[Document]:
        """One JSON value per line: parse(value, line). Blank lines are skipped."""
        for number, position, raw in files.byte_lines(self.path, self.options.encoding, self.options.only):
            if not raw:
                continue
            try:
                document = parse(decode(raw), number)
            except (BadDocument, BadRecord) as problem:
                line = files.line_text(self.path, number, position, raw)
                if line and not line.isspace():
                    self._set_aside(problem, number, line)
            else:
                yield document

    def json_items(self, parse: Callable[[Any, int], Document]) -> Iterator[Document]:
        """A file with one JSON list: parse(item, number from 1), with only part of the file in memory."""
        return self.each(self._items(), parse)

    def each(self, records: Iterable[tuple[int, Any]], parse: Callable[[Any, int], Document]) -> Iterator[Document]:
        """parse(record, line) for every (line, record). A record that fails is an error, or skipped with `skip_bad`."""
        for line, record in records:
            try:
                if isinstance(record, _DecodeFailure):
                    raise record.error
                if isinstance(record, BadRecord):
                    raise record
                refuse_unwritable(record)
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
        """Turn the error of a document into that of its record."""
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
                    f"{self.path}: expected a JSON list, but the file starts with {text.peek()!r}. "
                    f"Give the right format with --from."
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
                        given = "the end of the file" if other == "" else repr(other)
                        message = f"expected a comma or the end of the list after item {number}, got {given}"
                        yield from self._broken(number + 1, message, text)
                        return

    def _broken(self, number: int, message: str, text: "_Text") -> Iterator[tuple[int, "_DecodeFailure"]]:
        """The rest of a list that cannot be parsed, piece by piece: it is rejected as a whole, or an error."""
        again = ""
        while True:
            error = BadRecord(
                f"the list cannot be read from item {number} on: {message}. Repair the file there; the rest was "
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
    """A buffer over the decoded text of a stream; it holds little more than one item at a time."""

    def __init__(self, stream: Any, path: Path, encoding: str) -> None:
        self.decode_bytes = files.incremental_decoder(encoding, path)
        self.stream = stream
        self.path = path
        self.limit = files.record_limit()  # characters of one item
        self.buffer = ""
        self.position = 0
        self.done = False

    def more(self, size: int = CHUNK) -> bool:
        """Read more; False at the end of the file."""
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
        """Skip white space and return the next character, or "" at the end of the file."""
        while True:
            while self.position < len(self.buffer):
                if self.buffer[self.position] not in " \t\r\n":
                    return self.buffer[self.position]
                self.position += 1
            if not self.more():
                return ""

    def decode(self, decoder: json.JSONDecoder) -> Any:
        """The JSON value at the position. If the buffer ends inside it, try again with twice as much."""
        size = CHUNK
        while True:
            try:
                item, end = decoder.raw_decode(self.buffer, self.position)
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except _Constant:
                raise
            except ValueError:
                if len(self.buffer) - self.position > self.limit:
                    raise too_long(self.path, "one item of its list") from None
                if not self.more(size):
                    raise
                size *= 2
                continue
            if end == len(self.buffer) and not isinstance(item, dict | list) and self.more(size):
                continue  # a number or word may continue in the next piece
            self.position = end
            return item

    def take(self) -> str:
        """Take the rest of the buffer."""
        rest, self.buffer, self.position = self.buffer[self.position :], "", 0
        return rest


class _Constant(ValueError):
    pass


def _no_constant(name: str) -> Any:
    raise _Constant(f"{name} is not JSON; write null, or leave out the field")


def decode(line: str | bytes) -> Any:
    """The JSON value of a line."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadDocument(
            f"not JSON: {error.msg}, at column {error.colno}. Repair the line, or set it aside with --skip-bad (of "
            f"convert, extract, index and predict)."
        ) from None


def refuse_unwritable(record: Any) -> None:
    """BadDocument if a JSON value could not be written again: half of a character, as in "\\ud83d"; huge numbers."""
    try:
        orjson.dumps(record)
    except orjson.JSONEncodeError as error:
        if "surrogates" in str(error):
            message = "a string holds half of a character (a lone surrogate). Write the whole character."
        elif "64-bit" in str(error):
            message = "a number has more than 64 bits. Write it as a string."
        else:
            return  # what is nested too deeply is refused where it is parsed
        raise BadDocument(message) from None
    except RecursionError:
        pass  # what is nested too deeply is refused where it is parsed


def raw_text(record: Any) -> str:
    """A record as written to the file of rejects."""
    if isinstance(record, _DecodeFailure):
        return record.raw
    if isinstance(record, str):
        return record
    try:
        return json.dumps(record, ensure_ascii=True, default=str)
    except (RecursionError, ValueError):
        return repr(record)[:10_000]
