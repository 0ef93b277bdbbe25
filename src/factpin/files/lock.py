"""One writer for each output folder: a lock file that names the process and when it started.

A lock whose process has ended is stale and taken over, whatever ended it. While a lock is taken, the folder itself is
held with flock where the system has it, so that two processes cannot take over the same stale lock.
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from factpin.errors import BadFile, BadInput
from factpin.files.leftovers import remove_leftovers
from factpin.files.process import MARK, is_dead, own_mark

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = ".factpin.lock"


@dataclass(frozen=True)
class Writer:
    """A process that writes to a folder."""

    mark: str  # machine-pid-start
    pid: int
    doing: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.doing}, since {self.since})"


@contextmanager
def one_writer(folder: Path, doing: str) -> Iterator[None]:
    """Hold the lock of a folder, which is created if it is missing; BadInput names another process that holds it.

    Temporary files of dead processes in the folder are removed first.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"{folder}: cannot be created ({error.strerror}). Choose another place.") from None
    lock = folder / NAME
    me = Writer(own_mark(), os.getpid(), doing, time.strftime("%Y-%m-%d %H:%M:%S"))
    if not _take(lock, me):
        yield  # a step of a larger run of this process
        return
    try:
        remove_leftovers(folder, deep=True)
        yield
    finally:
        if (holder := _holder(lock)) is not None and holder.mark == me.mark:
            lock.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                folder.rmdir()  # if nothing was written to it


def _take(lock: Path, me: Writer) -> bool:
    """Whether the lock is taken now; False where this process held it before."""
    with _held(lock.parent):
        holder = _holder(lock)
        if holder is not None and holder.mark == me.mark:
            return False
        if holder is not None and not is_dead(holder.mark):
            raise BadInput(
                f"{lock.parent}: {holder} is writing there. Wait for it, or name another folder. If it has ended, on "
                f"another machine for example, remove {lock}."
            )
        with contextlib.suppress(OSError):
            lock.unlink()  # a link to another file is not followed
        try:
            lock.write_bytes(orjson.dumps(asdict(me)))
        except OSError as error:
            raise BadFile(f"{lock.parent}: cannot be written ({error.strerror}). Choose another place.") from None
        return True


def _holder(lock: Path) -> Writer | None:
    """Who holds a lock; None if nobody does, or if it is damaged or no file."""
    try:
        if not stat.S_ISREG(lock.lstat().st_mode):
            return None
        holder = Writer(**orjson.loads(lock.read_bytes()))
    except (OSError, orjson.JSONDecodeError, TypeError):
        return None
    return holder if isinstance(holder.mark, str) and MARK.fullmatch(holder.mark) else None


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the folder itself for a moment. If its last writer removes it meanwhile, it is created again."""
    if fcntl is None:
        yield
        return
    handle = _open(folder)
    try:
        while True:
            with contextlib.suppress(OSError):  # file systems without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            again = _open(folder)
            if os.path.sameopenfile(handle, again):
                os.close(again)
                break
            os.close(handle)
            handle = again
        yield
    finally:
        os.close(handle)


def _open(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise BadFile(f"{folder}: cannot be written ({error.strerror}). Choose another place.") from None
