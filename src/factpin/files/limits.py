"""The most that one line, record or text may have once it is unpacked, so that a small file cannot take all memory."""

import os

from factpin.errors import BadFile, BadInput

LIMIT = "FACTPIN_MAX_RECORD"  # environment variable; `factpin --max-record` sets it
DEFAULT = "256M"
MOST = 1 << 60  # bytes; no file is larger, and numbers up to here can be passed to every library
LONGEST = 18  # digits
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def record_limit() -> int:
    """The limit in bytes."""
    return size_of(os.environ.get(LIMIT) or DEFAULT)


def size_of(text: str) -> int:
    """`64M` -> 67108864. K, M and G are powers of 1024; `B` may follow."""
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = UNITS.get(number[-1:], 1)
    digits = number[:-1] if unit > 1 else number
    if not (digits.isascii() and digits.isdigit()) or len(digits) > LONGEST or not int(digits):
        raise BadInput(f"The limit of a record is {text[:40]!r}: expected a size such as 500M or 2G.")
    return min(int(digits) * unit, MOST)


def too_long(path: object, what: str) -> BadFile:
    """The error for a line, record or text beyond the limit."""
    limit = os.environ.get(LIMIT) or DEFAULT
    return BadFile(
        f"{path}: {what} is longer than {limit}, the most that is read at once. If it is meant to be, "
        f"allow more: factpin --max-record 2G …, or {LIMIT}=2G."
    )
