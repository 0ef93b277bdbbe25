"""The best cells of every text, whatever their scores: what a reader chooses an answer from."""

import numpy as np

from factpin.arrays import Floats32
from factpin.tasks.spans.cells import SpanCells


def best_cells(table: Floats32, limit: int) -> SpanCells:
    """Scores (B, L, N, N), -inf where no span can be -> the `limit` best cells of every text and label.

    The best come first; of equal ones, that which starts, then ends, first.
    """
    B, L, N, _ = table.shape
    flat = table.reshape(B * L, N * N)
    row, place = np.nonzero((flat >= _least(table.reshape(B * L, N, N), limit)) & (flat > -np.inf))
    score = flat[row, place]
    order = np.lexsort((place, -score, row))
    rank = np.arange(len(row)) - np.searchsorted(row, row)  # among those of its row: rows are in order already
    order = order[rank < limit]
    row, place = row[order], place[order]
    return SpanCells(row // L, row % L, place // N, place % N, score[order])


def _least(table: Floats32, limit: int) -> Floats32:
    """(M, 1): a score that at least `limit` cells of each table (M, N, N) reach: as many starts have such a cell."""
    M, N, _ = table.shape
    if limit >= N:
        return np.full((M, 1), -np.inf, np.float32)
    best = table.max(axis=2)  # (M, N) of every start
    return np.asarray(np.partition(best, N - limit, axis=1)[:, N - limit, None])
