"""Names of files."""

import hashlib
import os
from pathlib import Path

from factpin.errors import BadInput

PACKED = (".gz", ".xz", ".zst")


def plain_name(path: Path) -> str:
    """The name of a file without the suffix of its compression: train.json.xz -> train.json."""
    return path.stem if path.suffix in PACKED else path.name


def plain_stem(path: Path) -> str:
    """The name of a file without any suffix: train.json.xz -> train; standard input is stdin."""
    return "stdin" if str(path) == "-" else Path(plain_name(path)).stem


def readable(name: str) -> str:
    """A file name as text. Bytes that are not UTF-8 become %XX, so that different names stay different."""
    return "".join(
        f"%{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else c
        for c in os.fsencode(name).decode("utf-8", "surrogateescape")
    )


def shortened(name: str, most: int) -> str:
    """A name of at most so many bytes: a longer one is cut, with a digest of the whole at its end."""
    raw = name.encode("utf-8")
    if len(raw) <= most:
        return name
    mark = hashlib.sha256(raw).hexdigest()[:16]
    return f"{raw[: most - len(mark) - 1].decode('utf-8', 'ignore')}-{mark}"


def refuse_same(source: Path, target: Path) -> None:
    """Raise BadInput if a file would be written over the one being read."""
    if str(target) != "-" and target.exists() and source.exists() and target.samefile(source):
        raise BadInput(f"{target}: input and output are the same file. Give another output file.")
