"""Convert between half-open character spans and inclusive piece indices.

    piece_span(pieces, s, e)    first, last   the pieces whose characters are exactly [s, e) without outer white space
    char_span(pieces, i, j)     start, end    the characters of pieces i..j

`None`, or ok == False, means that the span starts or ends inside a piece. No model with this vocabulary can predict it,
so recall is at most the share of the others. Otherwise char_span is the inverse of piece_span.
"""

import numpy as np
from numpy.typing import ArrayLike

from factpin.tokens.offsets import is_space, trim
from factpin.tokens.pieces import Bools, Ints, Pieces


def piece_span(pieces: Pieces, start: int, end: int) -> tuple[int, int] | None:
    """The first and last piece of the characters start:end, or None if the span cuts a piece."""
    first, last, ok = piece_spans(pieces, [start], [end])
    return (int(first[0]), int(last[0])) if ok[0] else None


def piece_spans(pieces: Pieces, starts: ArrayLike, ends: ArrayLike) -> tuple[Ints, Ints, Bools]:
    """(first, last, ok) of many spans at once; first and last are -1 where ok is False."""
    start, end = np.asarray(starts, np.int32), np.asarray(ends, np.int32)
    ok = (start >= 0) & (start <= end) & (end <= len(pieces.text))
    start, end = trim(is_space(pieces.text), np.where(ok, start, 0), np.where(ok, end, 0))

    text_pieces = np.flatnonzero(pieces.start < pieces.end).astype(np.int32)  # pieces with characters
    if not len(text_pieces):
        none = np.full(len(start), -1, np.int32)
        return none, none, np.zeros(len(start), np.bool_)
    s, e = pieces.start[text_pieces], pieces.end[text_pieces]
    i = np.searchsorted(s, start, side="left")  # the first piece that starts at `start`
    j = np.searchsorted(e, end, side="right") - 1  # the last piece that ends at `end`
    n = len(text_pieces)
    ok = ok & (start < end) & (i < n) & (j >= 0) & (i <= j)
    i, j = np.where(ok, i, 0), np.where(ok, j, 0)
    ok = ok & (s[i] == start) & (e[j] == end)
    # If a neighbouring piece shares a character with the span, the span starts or ends inside that piece.
    ok = ok & ((i == 0) | (e[i - 1] <= start)) & ((j == n - 1) | (s[np.minimum(j + 1, n - 1)] >= end))
    return np.where(ok, text_pieces[i], -1), np.where(ok, text_pieces[j], -1), ok


def char_span(pieces: Pieces, first: int, last: int) -> tuple[int, int]:
    """The characters of pieces first..last, both inclusive. Pieces without text at the ends add nothing."""
    inside = np.flatnonzero(pieces.start[first : last + 1] < pieces.end[first : last + 1])
    if not len(inside):
        return int(pieces.start[first]), int(pieces.start[first])
    return int(pieces.start[first + inside[0]]), int(pieces.end[first + inside[-1]])
