"""TransE: vectors of entities from the facts of a store alone, for a fixed table of entities.

    d(h, r, t) = ‖e_h + v_r − e_t‖        e of unit length
    loss       Σ max(0, γ + d(h, r, t) − d(h', r, t'))        h' or t' drawn from all entities

An entity of which no fact is stored keeps the vector that was drawn for it.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

MARGIN, BATCH, STEPS, RATE = 1.0, 256, 500, 0.02


def translated(
    facts: Sequence[tuple[int, int, int]],
    entities: int,
    relations: int,
    size: int,
    *,
    seed: int = 0,
    steps: int = STEPS,
) -> Tensor:
    """facts (head, relation, tail), numbers from 0 -> vectors (entities, size) of unit length."""
    chance = np.random.default_rng(seed)
    drawn = torch.from_numpy(chance.normal(size=(entities + relations, size)).astype(np.float32))
    table = nn.Parameter(normalize(drawn, dim=-1))
    optimiser = torch.optim.Adam([table], lr=RATE)
    known = torch.tensor(facts, dtype=torch.long).reshape(len(facts), 3)  # (F, 3)
    for _ in range(steps if len(facts) else 0):
        some = known[torch.from_numpy(chance.integers(len(facts), size=min(BATCH, len(facts))))]  # (B, 3)
        wrong = some.clone()
        side = torch.from_numpy(2 * chance.integers(2, size=len(some)))  # 0: another head, 2: another tail
        wrong[torch.arange(len(some)), side] = torch.from_numpy(chance.integers(entities, size=len(some)))
        loss = (MARGIN + distance(table, entities, some) - distance(table, entities, wrong)).clamp_min(0.0).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return normalize(table[:entities].detach(), dim=-1)


def distance(table: Tensor, entities: int, facts: Tensor) -> Tensor:
    """‖e_h + v_r − e_t‖ of facts (B, 3) -> (B,)."""
    head, relation, tail = facts.unbind(dim=1)
    unit = normalize(table[:entities], dim=-1)
    return (unit[head] + table[entities + relation] - unit[tail]).norm(dim=-1)
