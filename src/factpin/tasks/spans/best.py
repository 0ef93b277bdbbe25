"""The best cells of every text, whatever their scores: what a reader chooses an answer from."""

import numpy as np

from factpin.arrays import Floats32
from factpin.tasks.spans.cells import SpanCells


def best_cells(table: Floats32, limit: int) -> SpanCells:
    """Scores (B, L, N, N), -inf where no span can be -> the `limit` best cells of every text and label.

    The best come first; of equal ones, that which starts, then ends, first.
    """
    B, L, N, _ = table.shape
    least = _least(table.reshape(B * L, N, N), limit)
    hit = np.flatnonzero(table.reshape(B * L, N * N) >= least)
    (row, place), score = np.divmod(hit, N * N), table.ravel()[hit]
    order = np.lexsort((place, -score, row))
    rank = np.arange(len(row)) - np.searchsorted(row, row)  # among those of its row: rows are in order already
    order = order[rank < limit]
    row, place = row[order], place[order]
    return SpanCells(row // L, row % L, place // N, place % N, score[order])


def _least(table: Floats32, limit: int) -> Floats32:
    """(M, 1): a finite score that the `limit` best cells of each table (M, N, N) reach: as many starts have one."""
    M, N, _ = table.shape
    lowest = np.full((M, 1), np.finfo(np.float32).min)
    if limit >= N:
        return lowest
    best = table.max(axis=2)  # (M, N) of every start
    return np.maximum(np.partition(best, N - limit, axis=1)[:, N - limit, None], lowest)
