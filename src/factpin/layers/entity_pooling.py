"""Mentions to entities, by index operations over flat columns.

    x        vectors of mentions              (M, D)
    A        attention of mentions            (M, heads, N)
    entity   the entity of each mention       (M,)

    log_sum_exp   log of the sum of e^x over an entity's mentions      (E, D)
    mean          the mean of A over an entity's mentions              (E, heads, N)

An entity without a mention is 0 in both, as published.
"""

import torch
from torch import Tensor


def log_sum_exp(x: Tensor, entity: Tensor, entities: int) -> Tensor:
    """x (M, D), entity (M,) -> (E, D)."""
    empty = (torch.bincount(entity, minlength=entities) == 0)[:, None]  # (E, 1)
    top = x.new_full((entities, x.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, entity[:, None].expand_as(x), x.detach(), "amax").masked_fill(empty, 0.0)
    total = torch.zeros_like(top).index_add(0, entity, (x - top[entity]).exp())
    return top + total.masked_fill(empty, 1.0).log()


def mean(A: Tensor, entity: Tensor, entities: int) -> Tensor:
    """A (M, heads, N), entity (M,) -> (E, heads, N)."""
    share = 1.0 / torch.bincount(entity, minlength=entities).to(A.dtype)  # (E,), never read where it is inf
    return A.new_zeros(entities, *A.shape[1:]).index_add(0, entity, A * share[entity][:, None, None])
