"""Spans: mentions <-> cells (label, first piece, last piece) of a window, ends inclusive on the piece side.

    targets(doc, pieces, labels)   what a head learns
    decode(found, text, …)         what a head found, as mentions with exact characters

`decode(targets(x)) == x` for every mention that the pieces can represent; the others are counted and named.
"""

from factpin.tasks.scale import Scale
from factpin.tasks.spans.decode import Found, decode
from factpin.tasks.spans.targets import Targets, flat, known_labels, targets

__all__ = ["Found", "Scale", "Targets", "decode", "flat", "known_labels", "targets"]
