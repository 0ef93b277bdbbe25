"""Correct the offsets of a tokenizer, so that they are exact in the original text.

The offsets of the library are nearly right. Corrected here:
- white space at the ends of a range (byte-level and ▁ vocabularies include the space before a word);
- a ▁ or Ġ that the tokenizer inserted covers the character after it, but has no text;
- a mark that normalisation dropped or composed (e + U+0301, ﾞ after ｶ, jamo of a syllable) belongs to no piece: it is
  added to the piece of the character before it.
"""

import sys
import unicodedata

import numpy as np
from numpy.typing import NDArray

from factpin.tokens.pieces import Bools, Ints

SPACES = np.array([i for i in range(0x3001) if chr(i).isspace()], np.uint32)  # no white space lies above U+3000
_IS_SPACE = np.zeros(0x3002, np.bool_)
_IS_SPACE[SPACES] = True
BLANK_MARKS = "▁Ġ"
_BYTE_ORDER = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


def code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode(_BYTE_ORDER, "surrogatepass"), np.uint32)


def is_space(text: str) -> Bools:
    return _IS_SPACE[np.minimum(code_points(text), 0x3001)]


def mend(text: str, start: Ints, end: Ints, blank: Bools) -> tuple[Ints, Ints]:
    """Correct the ranges. `blank` marks pieces that are only ▁ or Ġ in the vocabulary."""
    space = is_space(text)
    start, end = trim(space, start, end)
    for i in np.flatnonzero(blank & (start < end)):
        if not any(mark in text[start[i] : end[i]] for mark in BLANK_MARKS):
            end[i] = start[i]
    _lean(text, space, start, end)
    return start, end


def trim(space: Bools, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Remove white space at the ends of ranges; a range of only white space becomes empty at its start."""
    n = len(space)
    at = np.arange(n, dtype=np.int32)
    next_text = np.full(n + 1, n, np.int32)  # the first character at or behind i that is no space
    next_text[:n] = np.minimum.accumulate(np.where(space, np.int32(n), at)[::-1])[::-1]
    last_text = np.zeros(n + 1, np.int32)  # one past the last such character before i
    last_text[1:] = np.maximum.accumulate(np.where(space, np.int32(0), at + 1))
    first = next_text[start]
    return np.where(first < end, first, start), np.where(first < end, last_text[end], start)


def _lean(text: str, space: Bools, start: Ints, end: Ints) -> None:
    """Extend pieces, in place, over uncovered marks right after them."""
    n = len(text) + 1
    depth = np.cumsum(np.bincount(start, minlength=n) - np.bincount(end, minlength=n))  # pieces over each character
    for k in np.flatnonzero((depth[:-1] == 0) & ~space).tolist():
        if _leans(text[k]):
            end[(end == k) & (start < end)] = k + 1


def _leans(char: str) -> bool:
    """Whether a character always belongs to the one before it."""
    return unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f"
