"""Markers: pieces and the mentions in them -> the same pieces with a marker before and after every mention.

A marker carries no text (start == end), so every offset stays exact and the other pieces keep their characters.
Where several markers meet, what ends comes before what begins; of those that end the inner one first, of those that
begin the outer one first. Mentions of one place share their markers.
A mention that begins or ends inside a piece is marked around the pieces that hold it: it is still read in its place.
Differs from wzhouad/ATLOP (prepro.py, read_docred): mentions that begin at one word and end at different ones have a
marker each there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Bools, Ints
from factpin.documents import Mention
from factpin.errors import BadModel
from factpin.tokens import Pieces, Tokenizer, piece_spans

SIGNS = ("*", "#", "@", "|", "-")  # the first that a vocabulary has; published is *


@dataclass(frozen=True)
class MarkedPieces:
    """Pieces with markers; mentions are in the given order."""

    pieces: Pieces
    source: Ints  # (n,) the piece before marking that a piece is, or, for a marker, the one it leans on
    opening: Ints  # (M,) the piece that opens a mention; -1 where no piece holds any of it
    widened: Bools  # (M,) a border of the mention falls inside a piece


def marker_id(tokenizer: Tokenizer) -> int:
    """The number of the marker in a vocabulary."""
    for sign in SIGNS:
        pieces = tokenizer.encode(sign)
        text = np.flatnonzero(pieces.start < pieces.end)
        if len(text) == 1 and not pieces.unknown[text[0]]:
            return int(pieces.ids[text[0]])
    raise BadModel(
        f"The vocabulary has none of {' '.join(SIGNS)}, and mentions are marked with one of them. "
        f"Use an encoder whose tokenizer knows one."
    )


def mark(pieces: Pieces, mentions: Sequence[Mention], marker: int) -> MarkedPieces:
    """Put markers around the mentions."""
    first, last, widened = _held(pieces, [m.start for m in mentions], [m.end for m in mentions])
    spans = sorted({(int(i), int(j)) for i, j in zip(first, last, strict=True) if i >= 0})
    # (the piece it precedes, opens, what decides between equals, the span)
    marks = [(j + 1, False, (-i, -j), (i, j)) for i, j in spans] + [(i, True, (-j, -i), (i, j)) for i, j in spans]
    marks.sort()
    before = np.array([mark[0] for mark in marks], np.int64)
    opens = np.array([mark[1] for mark in marks], np.bool_)
    lean = np.where(opens, before, before - 1)  # the piece inside the mention
    place = before + np.arange(len(marks))  # of the markers among all pieces
    opening = {mark[3]: int(at) for mark, at in zip(marks, place, strict=True) if mark[1]}

    source = np.empty(len(pieces) + len(marks), np.int64)
    plain = np.ones(len(source), np.bool_)
    plain[place] = False
    source[plain] = np.arange(len(pieces))
    source[place] = lean
    at = np.where(opens, pieces.start[lean], pieces.end[lean])  # (markers,) the character it is at
    ids, start, end = pieces.ids[source], pieces.start[source], pieces.end[source]
    ids[place] = marker
    start[place] = end[place] = at
    unknown = pieces.unknown[source] & plain
    return MarkedPieces(
        Pieces(pieces.text, ids, start, end, unknown),
        source,
        np.array([opening.get((int(i), int(j)), -1) for i, j in zip(first, last, strict=True)], np.int64),
        widened,
    )


def _held(pieces: Pieces, starts: ArrayLike, ends: ArrayLike) -> tuple[Ints, Ints, Bools]:
    """First and last piece (M,) of each range, both -1 where none holds any of it, and which had to be widened."""
    first, last, exact = piece_spans(pieces, starts, ends)
    text = np.flatnonzero(pieces.start < pieces.end)  # pieces that carry characters
    s, e = pieces.start[text], pieces.end[text]
    start, end = np.asarray(starts, np.int64), np.asarray(ends, np.int64)
    i, j = np.searchsorted(e, start, side="right"), np.searchsorted(s, end, side="left") - 1
    held = (i <= j) & ~exact
    # Pieces that share a character stay together, so that characters never run backwards at a marker.
    clean = np.flatnonzero(np.concatenate([[True], e[:-1] <= s[1:], [True]])) if len(text) else np.zeros(1, np.int64)
    i = clean[np.searchsorted(clean, np.where(held, i, 0), side="right") - 1]
    j = clean[np.searchsorted(clean, np.where(held, j + 1, 0), side="left")] - 1
    text = np.append(text, -1)  # read where nothing is held
    return np.where(held, text[i], first), np.where(held, text[j], last), held
