"""Find spans: scores -> cells above their cuts -> the spans of every document.

find_spans(scores, cut)            the spans found in a batch of windows
split_spans(cells, texts, shift)   the same, window by window, in pieces
merge_spans(windows, parts)        what the windows of a document found, each span once
surest(spans)                      without spans that overlap a surer one
"""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Bools, Floats, Ints
from factpin.tasks.cuts import cuts
from factpin.tasks.spans.blocks import factored_blocks, pair_blocks
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.spans.find_tags import find_tags
from factpin.tasks.spans.scores import FactoredScores, PointerScores, SpanScores
from factpin.tasks.windows import owned
from factpin.tokens import Window


@dataclass(frozen=True)
class Spans:
    """Spans of one document, in its pieces (or, before they are merged, in those of a window)."""

    label: Ints  # (P,)
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    score: Floats  # (P,)

    def __len__(self) -> int:
        return len(self.label)

    def take(self, index: Bools | Ints) -> "Spans":
        """Some of the spans."""
        return Spans(self.label[index], self.first[index], self.last[index], self.score[index])


def find_spans(scores: SpanScores, cut: ArrayLike) -> SpanCells:
    """The cells whose score is above the cut, one number or one for each label (L,), by text, label, start and end."""
    table = cuts(cut, scores.labels)
    if isinstance(scores, PointerScores):
        return SpanCells.chain([*pair_blocks(scores, table)]).sorted()
    if isinstance(scores, FactoredScores):
        return SpanCells.chain([*factored_blocks(scores, table)]).sorted()
    return find_tags(scores, table)


def split_spans(cells: SpanCells, texts: int, shift: int) -> list[Spans]:
    """The cells of each text of a batch, in pieces; `shift` special tokens precede the pieces of each."""
    border = np.searchsorted(cells.batch, np.arange(texts + 1)).tolist()
    score = cells.score.astype(np.float64)
    return [
        Spans(cells.label[a:b], cells.start[a:b] - shift, cells.end[a:b] - shift, score[a:b])
        for a, b in zip(border[:-1], border[1:], strict=True)
    ]


def merge_spans(windows: Sequence[Window], parts: Sequence[Spans]) -> Spans:
    """What the windows of a document found, each span once: from the window that answers for it."""
    moved = []
    for k, (window, part) in enumerate(zip(windows, parts, strict=True)):
        if len(part):
            spans = Spans(part.label, part.first + window.first, part.last + window.first, part.score)
            moved.append(spans if len(windows) == 1 else spans.take(owned(windows, k, spans.first, spans.last)))
    if len(moved) == 1:
        return moved[0]
    none, no_score = [np.zeros(0, np.int64)], [np.zeros(0)]
    return Spans(
        np.concatenate([part.label for part in moved] or none),
        np.concatenate([part.first for part in moved] or none),
        np.concatenate([part.last for part in moved] or none),
        np.concatenate([part.score for part in moved] or no_score),
    )


def surest(spans: Spans) -> Spans:
    """Of spans that overlap, the one with the best score, in the order of the text; of equals the earlier."""
    kept: list[int] = []
    first, last = spans.first.tolist(), spans.last.tolist()
    for i in np.lexsort((spans.label, spans.last, spans.first, -spans.score)).tolist():
        at = bisect(kept, first[i], key=first.__getitem__)  # kept is in the order of the text, without overlaps
        if (at == 0 or last[kept[at - 1]] < first[i]) and (at == len(kept) or last[i] < first[kept[at]]):
            kept.insert(at, i)
    return spans.take(np.array(kept, np.int64))
