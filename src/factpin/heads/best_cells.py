"""The best cells of every text, whatever their scores: what a reader chooses an answer from."""

import torch
from torch import Tensor

from factpin.heads.cells import Cells


@torch.no_grad()
def best_cells(table: Tensor, limit: int) -> Cells:
    """Scores (B, L, N, N), -inf where no span can be -> the `limit` best cells of every text and label.

    The best come first; of equal ones, that which starts, then ends, first.
    """
    B, L, N, _ = table.shape
    flat = table.reshape(B, L, N * N)
    score, place = _top(flat, min(limit, N * N))
    there = torch.isfinite(score)  # (B, L, k)
    batch, label, _ = there.nonzero().unbind(1)
    place, score = place[there], score[there]
    return Cells(batch, label, place // N, place % N, score.float())


def _top(flat: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    """The best of the last axis in a fixed order: topk alone leaves ties to chance."""
    score, place = flat.topk(limit, dim=-1)
    place, by_place = place.sort(dim=-1)
    score, by_score = score.gather(-1, by_place).sort(dim=-1, descending=True, stable=True)
    return score, place.gather(-1, by_score)
