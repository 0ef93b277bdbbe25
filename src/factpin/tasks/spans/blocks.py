"""Blocks: the cells of pointer scores above their cuts, a block at a time, without a (B, L, N, N) array.

Rounding is monotone: a cell whose largest terms cannot lift it to the lowest cut is left out unscored, and the cells
that remain have the scores of the dense form to the last bit.
"""

from collections.abc import Iterator

import numpy as np

from factpin.arrays import Bools, Floats32, Ints
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.spans.scores import FactoredScores, PointerScores, band

ROWS = 64  # rows of pair scores at once: more rows waste cells under the diagonal, fewer make small products
BLOCK = 1 << 20  # scores held at once
CROWDED = 0.2  # share of cells that may reach the lowest cut before all cells are scored, label by label


def pair_blocks(scores: PointerScores, cut: Floats32) -> Iterator[SpanCells]:
    """The cells above cut (L,), text by text, some rows at a time."""
    for text, (low, high) in enumerate(_extents(scores.real)):
        q, k = scores.q[text].transpose(1, 0, 2), scores.k[text].transpose(1, 2, 0)  # (L, N, d), (L, d, N)
        rows = min(ROWS, max(1, BLOCK // max(1, scores.labels * (high - low))))
        for top in range(low, high, rows):
            bottom = min(top + rows, high)
            right = high if scores.max_span is None else min(high, bottom - 1 + scores.max_span)
            s = q[:, top:bottom] @ k[:, :, top:right]  # (L, rows, columns)
            exists = band(right - top, scores.max_span)[: bottom - top]
            exists &= scores.real[text, top:bottom, None] & scores.real[text, top:right]
            hit = np.flatnonzero((s > cut[:, None, None]) & exists)
            label, i, j = np.unravel_index(hit, s.shape)
            yield SpanCells(np.full(len(hit), text), label, i + top, j + top, s.ravel()[hit])


def factored_blocks(scores: FactoredScores, cut: Floats32) -> Iterator[SpanCells]:
    """The cells above cut (L,)."""
    (_, L, N), u, v = scores.u.shape, scores.u, scores.v
    if not scores.real.any():
        return
    A = scores.pairs()  # (B, N, N)
    first, last = (np.where(scores.real, x.max(axis=1), -np.inf).astype(np.float32) for x in (u, v))  # 2 x (B, N)
    bound = A + last[:, None, :]
    bound += first[:, :, None]
    reach = bound > cut.min()
    reach &= band(N, scores.max_span)
    alive = np.flatnonzero(reach)
    if len(alive) > CROWDED * reach.size:
        yield from _by_label(A, u, v, cut, reach)
        return
    for at in range(0, len(alive), max(1, BLOCK // L)):
        cell = alive[at : at + max(1, BLOCK // L)]  # (m,)
        batch, i, j = _unravel(cell, N)
        s = A.ravel()[cell][:, None] + v[batch, :, j]  # (m, L)
        s += u[batch, :, i]
        hit = np.flatnonzero(s > cut)
        which, label = np.divmod(hit, L)
        yield SpanCells(batch[which], label, i[which], j[which], s.ravel()[hit])


def _by_label(A: Floats32, u: Floats32, v: Floats32, cut: Floats32, reach: Bools) -> Iterator[SpanCells]:
    """All cells in reach, one label after the other."""
    N = A.shape[1]
    for label in range(u.shape[1]):
        s = A + v[:, label, None, :]  # (B, N, N)
        s += u[:, label, :, None]
        hit = np.flatnonzero((s > cut[label]) & reach)
        batch, i, j = _unravel(hit, N)
        yield SpanCells(batch, np.full(len(hit), label), i, j, s.ravel()[hit])


def _unravel(cell: Ints, N: int) -> tuple[Ints, Ints, Ints]:
    """Flat indices of (B, N, N) -> batch, i, j."""
    row, j = np.divmod(cell, N)
    batch, i = np.divmod(row, N)
    return batch, i, j


def _extents(real: Bools) -> list[tuple[int, int]]:
    """The first real token of every text and the one after its last; 0, 0 if there is none."""
    first, behind = real.argmax(axis=1), real.shape[1] - real[:, ::-1].argmax(axis=1)
    some = np.flatnonzero(np.any(real, axis=1)).tolist()
    extents = [(0, 0)] * len(real)
    for text in some:
        extents[text] = int(first[text]), int(behind[text])
    return extents
