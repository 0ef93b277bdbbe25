"""Cells: the spans that were found in a batch of texts, as flat columns, and the best of many.

An untrained model scores millions of cells above any threshold. `best_of` takes them block by block and holds no more
than `most` of each group, ROOM others, and one block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from factpin.arrays import Bools, Floats32, Ints

ROOM = 1 << 17  # cells that may gather before the best are chosen: more than a trained model finds


@dataclass(frozen=True)
class SpanCells:
    """Tokens start..end, both inclusive, of text `batch` are a span of label `label`."""

    batch: Ints  # (P,)
    label: Ints  # (P,)
    start: Ints  # (P,)
    end: Ints  # (P,)
    score: Floats32  # (P,)

    def __len__(self) -> int:
        return len(self.batch)

    def rows(self) -> list[tuple[int, int, int, int]]:
        """The cells as (batch, label, start, end), in their order."""
        columns = (self.batch.tolist(), self.label.tolist(), self.start.tolist(), self.end.tolist())
        return list(zip(*columns, strict=True))

    def take(self, index: Bools | Ints) -> "SpanCells":
        """Some of the cells."""
        return SpanCells(self.batch[index], self.label[index], self.start[index], self.end[index], self.score[index])

    def order(self) -> Ints:
        """The indices (P,) by batch, label, start, end."""
        key = np.zeros(len(self), np.int64)
        for column in (self.batch, self.label, self.start, self.end) if len(self) else ():
            key = key * (column.max() + 1) + column
        return np.arange(len(key)) if (key[1:] >= key[:-1]).all() else key.argsort(kind="stable")

    def sorted(self) -> "SpanCells":
        """In canonical order: by batch, label, start, end."""
        return self if len(self) < 2 else self.take(self.order())

    @staticmethod
    def chain(parts: "Sequence[SpanCells]") -> "SpanCells":
        """All parts, one after the other; there may be none."""
        if len(parts) == 1:
            return parts[0]
        none, no_score = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        return SpanCells(
            np.concatenate([part.batch for part in parts] or none),
            np.concatenate([part.label for part in parts] or none),
            np.concatenate([part.start for part in parts] or none),
            np.concatenate([part.end for part in parts] or none),
            np.concatenate([part.score for part in parts] or no_score),
        )


@dataclass(frozen=True)
class BestCells:
    """The best cells of each of G groups."""

    cells: SpanCells  # in canonical order
    more: Bools  # (G,) the group had more than are here


def best_of(blocks: Iterable[SpanCells], group: Ints, most: int | None) -> BestCells:
    """The `most` best cells of each of G groups, of equals the earlier; group (B, L) names that of a cell.

    A cell that scores less than all that a full group holds is dropped at once. One that scores as much may be earlier
    than they are, since blocks come in any order.
    """
    held = _CellPool(group, most)
    for block in blocks:
        held.add(block)
    return held.best()


class _CellPool:
    """The best cells of earlier blocks, and all of the newer ones."""

    def __init__(self, group: Ints, most: int | None) -> None:
        self.group = group
        self.most = most
        self.more = np.zeros(int(group.max(initial=-1)) + 1, np.bool_)
        self.parts: list[SpanCells] = []
        self.fresh = 0  # cells since the best were chosen
        self.floor: Floats32 | None = None  # (G,) the least score that a full group holds

    def add(self, block: SpanCells) -> None:
        if self.floor is not None:
            block = block.take(block.score >= self.floor[self.group[block.batch, block.label]])
        self.parts.append(block)
        self.fresh += len(block)
        if self.most is None or self.fresh <= ROOM:
            return
        best = self.best().cells
        self.parts, self.fresh = [best], 0
        floor = np.full(len(self.more), np.inf, np.float32)
        np.minimum.at(floor, self.group[best.batch, best.label], best.score)
        floor[~self.more] = -np.inf
        self.floor = floor

    def best(self) -> BestCells:
        cells = SpanCells.chain(self.parts).sorted()
        if self.most is None or len(cells) <= self.most:
            return BestCells(cells, self.more)
        kept, more = best_indices(cells.score, self.group[cells.batch, cells.label], len(self.more), self.most)
        self.more = self.more | more
        return BestCells(cells if len(kept) == len(cells) else cells.take(kept), self.more)


def best_indices(score: Floats32, group: Ints, groups: int, most: int | None) -> tuple[Ints, Bools]:
    """The indices of the `most` best of each group, in order, of equals the earlier; and which groups (G,) had more."""
    count = np.bincount(group, minlength=groups)  # (G,)
    if most is None or not (count > most).any():
        return np.arange(len(score)), np.zeros(groups, np.bool_)
    order = np.argsort(-score, kind="stable")
    order = order[group[order].argsort(kind="stable")]  # by group, best first
    rank = np.arange(len(order)) - (count.cumsum() - count)[group[order]]
    return np.sort(order[rank < most]), count > most
