"""Convert offsets in UTF-16 units, as in JavaScript, to code points and back. An emoji is two units, one code point."""

from bisect import bisect_left
from collections.abc import Callable
from itertools import accumulate

from factpin.errors import BadDocument

Turn = Callable[[int], int]


def to_utf16(text: str) -> Turn:
    """A function from an offset in code points to the offset in UTF-16 units."""
    if not text or max(text) <= "\uffff":
        return _same
    units = _units(text)
    return units.__getitem__


def from_utf16(text: str) -> Turn:
    """A function from an offset in UTF-16 units to the offset in code points."""
    if not text or max(text) <= "\uffff":
        return _same
    units = _units(text)

    def turn(offset: int) -> int:
        at = bisect_left(units, offset)
        if not 0 <= offset <= units[-1]:
            raise BadDocument(
                f"offset {offset} is outside the text, which has {units[-1]} UTF-16 units. Correct the offset."
            )
        if units[at] != offset:
            raise BadDocument(
                f"offset {offset} is inside the character {text[at - 1]!r}. The file seems to count code points: "
                f"read it without --utf16."
            )
        return at

    return turn


def by_choice(text: str, *, utf16: bool, writing: bool) -> Turn:
    """The conversion for a file with UTF-16 offsets, or one that changes nothing."""
    if not utf16:
        return _same
    return to_utf16(text) if writing else from_utf16(text)


def seems_utf16(text: str, start: int, end: int, surface: str) -> bool:
    """Whether the surface form is at these offsets if they are UTF-16 units."""
    turn = from_utf16(text)
    try:
        return text[turn(start) : turn(end)] == surface
    except BadDocument:
        return False


def _same(offset: int) -> int:
    return offset


def _units(text: str) -> list[int]:
    """The number of UTF-16 units before every code point and the end of the text."""
    return list(accumulate((2 if character > "\uffff" else 1 for character in text), initial=0))
