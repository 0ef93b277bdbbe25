"""Read files as bytes and lines, compressed or not, and write them atomically.

Lines are numbered and decoded strictly: a byte that is not UTF-8 is an error with its position. Files are written to a
temporary file next to the target, synced and renamed, so that a crash leaves either the old file or the new one.
"""

import codecs
import gzip
import io
import lzma
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from factpin.errors import BadFile, BadInput

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKED = {".gz": "gzip", ".xz": "lzma", ".zst": "zstd"}


def plain_name(path: Path) -> str:
    """The name of a file without the suffix of its compression: train.json.xz -> train.json."""
    return path.stem if path.suffix in PACKED else path.name


def plain_stem(path: Path) -> str:
    """The name of a file without any suffix: train.json.xz -> train; standard input is stdin."""
    return "stdin" if str(path) == "-" else Path(plain_name(path)).stem


def refuse_same(source: Path, target: Path) -> None:
    """Raise BadInput if a file would be written over the one being read."""
    if str(target) != "-" and target.exists() and source.exists() and target.samefile(source):
        raise BadInput(f"{target}: input and output are the same file. Give another output file.")


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file; `-` is standard input."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        with _opened(path) as stream:
            yield stream
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file. Check the path.") from None
    except IsADirectoryError:
        raise BadFile(f"{path}: expected a file, but this is a folder. Give a file inside it.") from None
    except PermissionError:
        raise BadFile(f"{path}: permission denied. Check the permissions of the file.") from None
    except NotADirectoryError:
        raise BadFile(f"{path}: part of the path is a file, not a folder. Check the path.") from None
    except (lzma.LZMAError, gzip.BadGzipFile, zlib.error, EOFError, zstd.ZstdError) as error:
        raise BadFile(
            f"{path}: the compressed file is damaged ({error}). Compress it again, or decompress it by hand."
        ) from None


def _opened(path: Path) -> BinaryIO:
    match path.suffix:
        case ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        case ".xz":
            return cast(BinaryIO, lzma.open(path, "rb"))
        case ".zst":
            return cast(BinaryIO, zstd.open(path, "rb"))
        case _:
            return open(path, "rb")


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
    with open_bytes(path) as stream:
        if not _is_utf8(encoding):  # positions count bytes of the recoded lines, so earlier lines are read and dropped
            stream = cast(BinaryIO, islice(_recoded(stream, encoding, path), first - 1, None))
        elif only:
            stream.seek(position)
        for number, raw in enumerate(islice(stream, count), start=first):
            if number == 1 and raw.startswith(codecs.BOM_UTF8):
                raw = raw[3:]
                position = 3
            yield number, position, raw.rstrip(b"\n").removesuffix(b"\r")
            position += len(raw)


def line_text(path: Path, number: int, position: int, raw: bytes) -> str:
    """Decode one of the `byte_lines`; BadFile names the byte that is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, position + error.start, raw[error.start], number) from None


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The whole file as text, with line ends unchanged and without a byte order mark."""
    with open_bytes(path) as stream:
        raw = stream.read()
    if not _is_utf8(encoding):
        return _decoded(raw, encoding, path)
    start = 3 if raw.startswith(codecs.BOM_UTF8) else 0
    try:
        return raw[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = start + error.start
        raise _not_utf8(path, at, raw[at], raw.count(b"\n", 0, at) + 1) from None


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        raise BadFile(f"There is no encoding {encoding!r}. Common ones: utf-8, gb18030, utf-16, latin-1.") from None


def _not_utf8(path: Path, position: int, byte: int, line: int) -> BadFile:
    return BadFile(
        f"{path}: not UTF-8: byte {position} (line {line}) is 0x{byte:02x}. "
        f"Give its encoding with --encoding, such as --encoding gb18030."
    )


def _decoded(raw: bytes, encoding: str, path: Path) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: not {encoding}: byte {error.start} cannot be decoded. Try another encoding.") from None


def _recoded(stream: BinaryIO, encoding: str, path: Path) -> Iterator[bytes]:
    """Convert the lines of a stream in another encoding to UTF-8."""
    text = io.TextIOWrapper(stream, encoding=encoding, newline="\n")
    try:
        for line in text:
            yield line.encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: not {encoding}: {error.reason}. Try another encoding.") from None
    finally:
        if not stream.closed:  # it is closed if the reader stopped early
            text.detach()  # the opener closes the stream


@contextmanager
def write_bytes(path: Path) -> Iterator[BinaryIO]:
    """A stream to a temporary file next to `path`, compressed by suffix, and renamed at the end if nothing failed."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path).resolve() if Path(path).is_symlink() else Path(path)
    if path.is_dir():
        raise BadFile(f"{path}: expected a file to write, but this is a folder. Give a file inside it.")
    if path.exists() and not path.is_file():  # a pipe or device is written to, never replaced
        with open(path, "wb") as raw, _packing(raw, path.suffix) as stream:
            yield stream
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as raw:
            with _packing(raw, path.suffix) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _packing(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    match suffix:
        case ".gz":
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as stream:
                yield cast(BinaryIO, stream)
        case ".xz":
            with lzma.LZMAFile(raw, "wb") as stream:
                yield cast(BinaryIO, stream)
        case ".zst":
            with zstd.ZstdFile(raw, "wb") as stream:
                yield cast(BinaryIO, stream)
        case _:
            yield raw


@contextmanager
def write_folder(path: Path) -> Iterator[Path]:
    """A temporary folder next to `path`, renamed at the end if nothing failed. Existing files are never replaced."""
    path = Path(path)
    if str(path) == "-":
        raise BadFile("-: a folder cannot be written to standard output. Give the path of a folder.")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise BadFile(f"{path}: already exists. Give a new folder, or empty this one first.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent))
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with open(file, "rb") as stream:
                    os.fsync(stream.fileno())
        os.chmod(temporary, 0o777 & ~_umask())
        os.replace(temporary, path)  # onto nothing, or onto an empty folder
        _sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def incremental_decoder(encoding: str, path: Path) -> Callable[[bytes, bool], str]:
    """A strict function (bytes, last) -> text to decode a stream in pieces; errors name the position."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if _is_utf8(encoding) else encoding)()
    done = 0

    def decode(raw: bytes, last: bool) -> str:
        nonlocal done
        try:
            text = decoder.decode(raw, last)
        except UnicodeDecodeError as error:
            raise BadFile(
                f"{path}: not {encoding}: byte {max(0, done + len(raw) - len(error.object) + error.start)} "
                f"cannot be decoded. Give its encoding with --encoding, such as --encoding gb18030."
            ) from None
        done += len(raw)
        return text

    return decode
