"""Spans: mentions <-> cells (label, first piece, last piece) of a window, ends inclusive on the piece side.

    targets(doc, pieces, labels)   what a head learns
    find_spans(scores, cut)        what a head found, from its scores
    decode(spans, text, …)         the same as mentions with exact characters

`decode(targets(x)) == x` for every mention that the pieces can represent; the others are counted and named.
"""

from factpin.tasks.scale import Scale
from factpin.tasks.spans.decode import decode
from factpin.tasks.spans.find import Spans, find_spans, merge_spans, split_spans, surest
from factpin.tasks.spans.targets import Targets, flat, known_labels, targets

__all__ = [
    "Scale",
    "Spans",
    "Targets",
    "decode",
    "find_spans",
    "flat",
    "known_labels",
    "merge_spans",
    "split_spans",
    "surest",
    "targets",
]
