"""The multi-label loss: any number of cells of a class may be right, and the threshold is 0.

    s   scores, -inf at cells that do not exist   (..., C)
    y   True at gold cells                        (..., C)

    loss = log(1 + sum over y of e^-s) + log(1 + sum over not y of e^s)

`multilabel_loss` is the definition. The heads reach the same value without holding all scores: the positives by
`positive_loss`, the negatives by `factored_negatives`, or both in tiles by `tiled_loss`.
"""

import torch
from torch import Tensor


def multilabel_loss(s: Tensor, y: Tensor) -> Tensor:
    """s and y (..., C) -> loss (...)."""
    return log1p_sum_exp(s.masked_fill(y, -torch.inf)) + log1p_sum_exp((-s).masked_fill(~y, -torch.inf))


def log1p_sum_exp(x: Tensor) -> Tensor:
    """log(1 + sum e^x) over the last axis, (..., C) -> (...); the 1 keeps it finite when all x are -inf."""
    return torch.cat((x, x.new_zeros(*x.shape[:-1], 1)), dim=-1).logsumexp(dim=-1)


def positive_loss(s: Tensor, group: Tensor, groups: int) -> Tensor:
    """log(1 + sum e^-s) for each group: scores of gold cells s (P,) and their group (P,) -> (groups,)."""
    top = s.new_zeros(groups).scatter_reduce(0, group, -s.detach(), "amax")  # never below 0, the exponent of the 1
    rest = (-s - top[group]).exp()  # (P,)
    return top + (-top).exp().index_add(0, group, rest).log()
