"""Targets of names: every mention as one cell, whatever its type."""

import numpy as np

from factpin.documents import Document
from factpin.tasks.spans.targets import Targets
from factpin.tokens import Pieces, piece_spans


def targets(doc: Document, pieces: Pieces) -> Targets:
    """The mentions that begin and end at borders of pieces."""
    first, last, ok = piece_spans(
        pieces, np.array([m.start for m in doc.mentions], np.int64), np.array([m.end for m in doc.mentions], np.int64)
    )
    cells = np.unique(np.stack((first[ok], last[ok]), axis=1).reshape(-1, 2), axis=0)
    lost = tuple(m for m, good in zip(doc.mentions, ok, strict=True) if not good)
    return Targets(np.zeros(len(cells), np.int64), cells[:, 0], cells[:, 1], unalignable=lost, unknown=())
