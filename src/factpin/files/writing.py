"""Write files and folders completely or not at all: next to the target, synced, then renamed."""

import gzip
import lzma
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from factpin.errors import BadFile
from factpin.files.leftovers import look_once, part_name
from factpin.files.packing import zstd


@contextmanager
def write_bytes(path: Path) -> Iterator[BinaryIO]:
    """A stream to a temporary file next to `path`, compressed by suffix, and renamed at the end if nothing failed."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    if path.is_dir():
        raise BadFile(f"{path}: expected a file to write, but this is a folder. Give a file inside it.")
    if path.is_symlink():
        raise BadFile(f"{path}: a loop of links. Give another path.")
    if path.exists() and not path.is_file():  # a pipe or device is written to, never replaced
        with _device(path) as raw, _packing(raw, path.suffix) as stream:
            yield stream
        return
    temporary = part_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        look_once(path.parent)
        raw = open(temporary, "xb")  # noqa: SIM115  (closed below)
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
    try:
        with raw:
            with _packing(raw, path.suffix) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, BrokenPipeError) or error.filename:  # of something else that was done meanwhile
            raise
        raise BadFile(f"{path}: cannot be written ({error.strerror or error}). Choose another place.") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _device(path: Path) -> Iterator[BinaryIO]:
    """A pipe or device, such as /dev/full."""
    raw = open(path, "wb", buffering=0)  # noqa: SIM115  (what a buffer holds would be written again when it is closed)
    try:
        yield cast(BinaryIO, raw)
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
    finally:
        raw.close()


@contextmanager
def _packing(raw: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    match suffix:
        case ".gz":
            with gzip.GzipFile("", fileobj=raw, mode="wb", mtime=0) as stream:  # without the name of the temporary file
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
    temporary = part_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        look_once(path.parent)
        temporary.mkdir()
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with open(file, "rb") as stream:
                    os.fsync(stream.fileno())
        os.replace(temporary, path)  # onto nothing, or onto an empty folder
        _sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
