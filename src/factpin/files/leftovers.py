"""Temporary files and folders, named after the process that writes them, and removing those of dead processes."""

import os
import re
import shutil
from pathlib import Path

from factpin.files.process import MARK, is_dead, own_mark

PART = re.compile(rf"^\..*\.({MARK.pattern})\.[0-9a-f]{{8}}\.part$", re.DOTALL | re.ASCII)
LONGEST = 60  # bytes of the target's name in the name of its temporary file

_looked: set[tuple[int, Path]] = set()


def part_name(path: Path) -> Path:
    """A new name for a temporary file next to `path`."""
    short = os.fsdecode(os.fsencode(path.name)[:LONGEST])
    return path.with_name(f".{short}.{own_mark()}.{os.urandom(4).hex()}.part")


def remove_leftovers(folder: Path, *, deep: bool = False) -> int:
    """Remove what dead processes left in a folder, and with `deep` in the folders below it; returns how many."""
    removed = 0
    for place, folders, names in os.walk(folder):
        for name in (*names, *folders):
            found = PART.match(name)
            if found and is_dead(found[1]):
                _remove(Path(place) / name)
                removed += 1
        folders[:] = [name for name in folders if deep and not PART.match(name)]
    return removed


def look_once(folder: Path) -> None:
    """Remove leftovers in a folder, the first time that this process writes there."""
    key = (os.getpid(), folder.absolute())
    if key not in _looked:
        _looked.add(key)
        remove_leftovers(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
