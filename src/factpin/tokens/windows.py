"""Windows: the parts of a text that a model reads at once.

    context="sentence"   every sentence on its own: results do not depend on the text around it
    context="window"     as many whole sentences as fit; a single window if the whole text fits

A sentence that is longer than a window, or that leaves no room for the overlap, is cut between two pieces.

Every piece is *kept* by exactly one window: the border lies in the middle of two windows' overlap. A span belongs to
the window that keeps its centre piece, (first + last) // 2. Neighbouring windows share at least `overlap` pieces, so a
span of up to `overlap + 1` pieces is whole in the window it belongs to. A longer one belongs to the window nearest
to its centre that holds all of it, if there is one: `owner` is a function of the span alone, so merging the windows
never gives a span twice. Under context="sentence" a span across two sentences belongs to nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from factpin.errors import BadInput
from factpin.tokens.pieces import Pieces

T = TypeVar("T")
Context = Literal["sentence", "window"]


@dataclass(frozen=True, slots=True)
class Window:
    """Pieces first:last are read, results are kept for keep_first:keep_last; characters start:end. All half-open."""

    first: int
    last: int
    keep_first: int
    keep_last: int
    start: int
    end: int

    def __len__(self) -> int:
        return self.last - self.first


def windows(
    pieces: Pieces,
    sentences: Sequence[tuple[int, int]],
    size: int,
    overlap: int,
    *,
    context: Context = "window",
) -> list[Window]:
    """The windows of a text, in order. `size` counts pieces, without the model's special tokens."""
    if not 0 <= overlap < size:
        raise BadInput(f"overlap is {overlap} with windows of {size} pieces; expected 0 <= overlap < size.")
    if context not in ("sentence", "window"):
        raise BadInput(f"The context {context!r} is unknown. Known: sentence, window.")
    n = len(pieces)
    if n == 0:
        return []
    starts = sentence_starts(pieces, sentences)
    if context == "window":
        return _kept(pieces, _runs(0, n, starts, size, overlap), 0, n)
    found: list[Window] = []
    for low, high in zip(starts, [*starts[1:], n], strict=True):
        found += _kept(pieces, _runs(low, high, [low], size, overlap), low, high)
    return found


def sentence_starts(pieces: Pieces, sentences: Sequence[tuple[int, int]]) -> list[int]:
    """The first piece of each sentence, starting with 0; a piece belongs to the sentence in which it starts."""
    characters = np.array([start for start, _ in sentences], np.int32)
    found = np.searchsorted(pieces.start, characters, side="left")
    return sorted({0, *(int(i) for i in found if i < len(pieces))})


def _runs(low: int, high: int, starts: list[int], size: int, overlap: int) -> list[tuple[int, int]]:
    """Ranges of at most `size` pieces over low:high that share at least `overlap` with the next one."""
    begins = np.array(starts, np.int64)
    ends = np.array([*starts[1:], high], np.int64)
    runs: list[tuple[int, int]] = []
    start, done = low, low
    while True:
        if high - start <= size:
            return [*runs, (start, high)]
        end = _last_at_or_before(ends, start + size)
        if end <= max(done, start + overlap):
            if runs and start != done - overlap:  # begin inside a sentence rather than cut the next one
                start = done - overlap
                continue
            end = start + size
        runs.append((start, end))
        done = end
        start = max(_last_at_or_before(begins, end - overlap), runs[-1][0])


def _last_at_or_before(places: np.ndarray, limit: int) -> int:
    """The greatest place <= limit, or -1."""
    i = int(np.searchsorted(places, limit, side="right")) - 1
    return int(places[i]) if i >= 0 else -1


def _kept(pieces: Pieces, runs: list[tuple[int, int]], low: int, high: int) -> list[Window]:
    """Windows from ranges: the middle of an overlap parts what two neighbours keep."""
    borders = [low, *(a + (b - a) // 2 for (_, b), (a, _) in zip(runs, runs[1:], strict=False)), high]
    return [
        Window(first, last, borders[k], borders[k + 1], int(pieces.start[first]), int(pieces.end[last - 1]))
        for k, (first, last) in enumerate(runs)
    ]


def owner(windows: Sequence[Window], first: int, last: int) -> int | None:
    """The index of the window that a span of pieces first..last (inclusive) belongs to; None if none covers it."""
    centre = (first + last) // 2
    low = high = _keeper(windows, centre)
    while low >= 0 or high < len(windows):
        near = [k for k in {low, high} if 0 <= k < len(windows) and _holds(windows[k], first, last)]
        if near:
            return min(near, key=lambda k: (_distance(windows[k], centre), k))
        low, high = low - 1, high + 1
    return None


def _keeper(windows: Sequence[Window], piece: int) -> int:
    """The window that keeps a piece, by bisection."""
    low, high = 0, len(windows) - 1
    while low < high:
        middle = (low + high) // 2
        if piece < windows[middle].keep_last:
            high = middle
        else:
            low = middle + 1
    return low


def _holds(window: Window, first: int, last: int) -> bool:
    return window.first <= first and last < window.last


def _distance(window: Window, piece: int) -> int:
    return max(window.keep_first - piece, piece - window.keep_last + 1, 0)


def merge(windows: Sequence[Window], found: Sequence[Sequence[tuple[int, int, T]]]) -> list[tuple[int, int, T]]:
    """What the windows found, without duplicates, in the order of the text.

    found[k] holds (first, last, what) of window k with inclusive piece indices counted from the window's first piece;
    what comes out counts from the text's first piece. For a pair of spans give the first and last piece of both.
    """
    merged: list[tuple[int, int, T]] = []
    for k, (window, items) in enumerate(zip(windows, found, strict=True)):
        for first, last, what in items:
            first, last = first + window.first, last + window.first
            kept = window.keep_first <= (first + last) // 2 < window.keep_last
            if kept or owner(windows, first, last) == k:
                merged.append((first, last, what))
    return sorted(merged, key=lambda item: item[:2])
