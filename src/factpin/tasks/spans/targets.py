"""Targets of spans: the mentions of a document as cells (label, first piece, last piece), ends inclusive.

A mention that the pieces cannot represent has no cell: it is named among the targets.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools, Ints
from factpin.documents import Document, Mention
from factpin.tokens import Pieces, Window, piece_spans


@dataclass(frozen=True)
class Targets:
    """The mentions of a document as cells in piece indices of the whole document, and those that could not be."""

    label: Ints  # (P,)
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    unalignable: tuple[Mention, ...]
    unknown: tuple[Mention, ...]  # of a label that the model does not have
    known: Bools | None = None  # (L,) the labels that the document marks wherever they occur; None: all

    def columns(self) -> list[NDArray[Any]]:
        """All that is learned from it."""
        columns = (self.label, self.first, self.last, self.known)
        return [column for column in columns if column is not None]

    def take(self, index: Bools | Sequence[int]) -> "Targets":
        """Some of the cells."""
        return replace(self, label=self.label[index], first=self.first[index], last=self.last[index])

    def inside(self, window: Window) -> "Targets":
        """The cells that lie wholly in a window, counted from its first piece."""
        here = self.take((self.first >= window.first) & (self.last < window.last))
        return replace(here, first=here.first - window.first, last=here.last - window.first, unalignable=(), unknown=())


def targets(doc: Document, pieces: Pieces, labels: Sequence[str]) -> Targets:
    """Every mention as a cell; a mention annotated twice is one cell."""
    index = {label: i for i, label in enumerate(labels)}
    known = [m for m in doc.mentions if m.type in index]
    starts = np.array([m.start for m in known], np.int64)
    ends = np.array([m.end for m in known], np.int64)
    first, last, ok = piece_spans(pieces, starts, ends)
    label = np.array([index[m.type] for m in known], np.int64)
    cells = np.unique(np.stack([label[ok], first[ok], last[ok]], axis=1).reshape(-1, 3), axis=0)
    return Targets(
        cells[:, 0],
        cells[:, 1],
        cells[:, 2],
        unalignable=tuple(m for m, good in zip(known, ok, strict=True) if not good),
        unknown=tuple(m for m in doc.mentions if m.type not in index),
        known=known_labels(labels, doc.notes.annotated_types),
    )


def known_labels(labels: Sequence[str], annotated: frozenset[str] | None) -> Bools | None:
    """(L,) which labels are annotated wherever they occur; None: all of them."""
    return None if annotated is None else np.array([label in annotated for label in labels], np.bool_)


def flat(cells: Targets) -> Targets:
    """The longest cells that do not overlap: what a head of one label a token can be taught."""
    order = np.lexsort((cells.first, cells.first - cells.last))
    kept: list[int] = []
    taken: set[int] = set()
    for i in order:
        covered = range(int(cells.first[i]), int(cells.last[i]) + 1)
        if taken.isdisjoint(covered):
            taken.update(covered)
            kept.append(int(i))
    return cells.take(kept)
