"""Open files, unpack them, and read them as bytes, lines or text, within a limit for one line or text."""

import codecs
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from factpin.errors import BadFile
from factpin.files.encodings import SAMPLE, advice, check_mark, codec_of, decode, is_utf8, refuse_zeros
from factpin.files.limits import record_limit, too_long
from factpin.files.packing import zstd

DAMAGED = (lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError, zstd.ZstdError)
BUFFER = 1 << 17
PIECE = 1 << 24  # bytes that are read at once; the limit itself may be more than there is memory
PEEKED = 1 << 12  # bytes of a file of lines that show whether it is UTF-16


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file; `-` is standard input. BadFile if the file changes before it is closed."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        with _opened(path) as raw, _unpacked(raw, path.suffix) as stream:
            before = _state(raw)
            yield stream
            if _state(raw) != before:
                raise BadFile(f"{path}: changed while it was read. Read it again when nothing writes to it.")
    except DAMAGED as error:
        raise BadFile(
            f"{path}: the compressed file is damaged ({error}). Compress it again, or decompress it by hand."
        ) from None
    except BrokenPipeError:  # of what is written meanwhile
        raise
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror or error}). Check the path and the device.") from None


def _opened(path: Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise BadFile(f"{path}: expected a file, but this is a folder. Give a file inside it.") from None
    except PermissionError:
        raise BadFile(f"{path}: permission denied. Check the permissions of the file.") from None
    except NotADirectoryError:
        raise BadFile(f"{path}: part of the path is a file, not a folder. Check the path.") from None
    except OSError as error:  # a loop of links, a name that is too long
        raise BadFile(f"{path}: cannot be read ({error.strerror}). Check the path.") from None
    except ValueError:  # a null character
        raise BadFile(f"{ascii(str(path))}: not a path. Check the path.") from None


def _unpacked(raw: BinaryIO, suffix: str) -> BinaryIO:
    match suffix:
        case ".gz":
            return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw)), BUFFER)
        case ".xz":
            return io.BufferedReader(cast(io.RawIOBase, lzma.LZMAFile(raw)), BUFFER)
        case ".zst":
            return io.BufferedReader(cast(io.RawIOBase, zstd.ZstdFile(raw)), BUFFER)
        case _:
            return raw


def _state(raw: BinaryIO) -> tuple[int, int] | None:
    """What changes when a regular file is written to."""
    found = os.fstat(raw.fileno())
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def read_bytes(path: Path) -> bytes:
    """The whole file, unpacked."""
    with open_bytes(path) as stream:
        return read_all(stream, path)


def read_all(stream: BinaryIO, path: Path) -> bytes:
    """The rest of a stream, if it is not longer than the limit."""
    limit, size, pieces = record_limit(), 0, []
    while size <= limit and (piece := stream.read(min(PIECE, limit + 1 - size))):
        pieces.append(piece)
        size += len(piece)
    if size > limit:
        raise too_long(path, "the file")
    return b"".join(pieces)


def lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """(line number from 1, line without its end) for every line. Only LF and CRLF end a line."""
    for number, position, raw in byte_lines(path, encoding):
        yield number, line_text(path, number, position, raw)


@dataclass(frozen=True)
class LineRange:
    """Some lines of a file: the number of the first, the position of its first byte, and how many."""

    first: int
    position: int
    count: int


def byte_lines(path: Path, encoding: str = "utf-8", only: LineRange | None = None) -> Iterator[tuple[int, int, bytes]]:
    """(line number from 1, position of its first byte, line without its end); the bytes are not checked yet."""
    first, position, count = (only.first, only.position, only.count) if only else (1, 0, None)
    limit = record_limit()
    with open_bytes(path) as stream:
        if is_utf8(encoding):
            if only:
                stream.seek(position)
            else:
                refuse_zeros(cast(io.BufferedReader, stream).peek(PEEKED)[:PEEKED], path)
            found = _stream_lines(stream, limit)
        else:  # positions count bytes of the recoded lines, so earlier lines are read and dropped
            found = islice(_recoded(stream, encoding, path, limit), first - 1, None)
        for number, raw in enumerate(islice(found, count), start=first):
            if len(raw) > limit:
                raise too_long(path, f"line {number}")
            if number == 1 and raw.startswith(codecs.BOM_UTF8):
                raw = raw[3:]
                position = 3
            yield number, position, raw.rstrip(b"\n").removesuffix(b"\r")
            position += len(raw)


def _stream_lines(stream: BinaryIO, limit: int) -> Iterator[bytes]:
    return iter(lambda: stream.readline(limit + 1), b"")


def line_text(path: Path, number: int, position: int, raw: bytes) -> str:
    """Decode one of the `byte_lines`; BadFile names the byte that is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, position + error.start, raw[error.start], number, raw) from None


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The whole file as text, with line ends unchanged and without a byte order mark."""
    raw = read_bytes(path)
    if not is_utf8(encoding):
        return decode(raw, encoding, path)
    refuse_zeros(raw, path)
    start = 3 if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        return raw[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = start + error.start
        raise _not_utf8(path, at, raw[at], raw.count(b"\n", 0, at) + 1, raw) from None


def _not_utf8(path: Path, position: int, byte: int, line: int, raw: bytes) -> BadFile:
    beginning = _beginning(path)
    sample = raw if beginning.isascii() else beginning
    return BadFile(f"{path}: not UTF-8: byte {position} (line {line}) is 0x{byte:02x}. {advice(sample)}")


def _beginning(path: Path) -> bytes:
    """The first bytes of a file that can be opened again, for a guess of its encoding."""
    if str(path) == "-" or not path.is_file():
        return b""
    with open_bytes(path) as stream:
        return stream.read(2 * SAMPLE)


def _recoded(stream: BinaryIO, encoding: str, path: Path, limit: int) -> Iterator[bytes]:
    """Convert the lines of a stream in another encoding to UTF-8."""
    text = io.TextIOWrapper(_marked(stream, encoding, path), encoding=codec_of(encoding), newline="\n")
    try:
        while line := text.readline(limit + 1):
            yield line.encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        reason = error.reason if isinstance(error, UnicodeDecodeError) else str(error)
        raise BadFile(f"{path}: not {encoding}: {reason}. {advice(_beginning(path), encoding)}") from None
    finally:
        if not stream.closed:  # it is closed if the reader stopped early
            text.detach()  # the opener closes the stream


def _marked(stream: BinaryIO, encoding: str, path: Path) -> BinaryIO:
    """The same stream, if it starts with the byte order mark that its encoding needs."""
    check_mark(encoding, cast(io.BufferedReader, stream).peek(4), path)
    return stream
