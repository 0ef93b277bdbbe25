"""Segments of XLNet are relative: what counts is whether two cells are of the same one.

A and B exchanged                         nothing moves
B called A                                the answers move
B called A, in a network without segments nothing moves

Memory counts as A, so there is none here.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from factpin.layers.masks import Ints
from factpin.objectives import OBJECTIVES, collate
from factpin.objectives.fitting import fitted
from proofs.compare import Compared
from proofs.leaks import TINY, network
from proofs.world import VOCABULARY, text

EXCHANGED, CALLED_A = np.array([1, 0, 2]), np.array([0, 0, 2])
MOVES = 1e-3


def relative_segments() -> Iterator[Compared]:
    yield Compared("A and B exchanged: moves by", moved(EXCHANGED, 3), 0.0)
    yield Compared("B called A: moves", moved(CALLED_A, 3) > MOVES, True)
    yield Compared("B called A without segments: moves by", moved(CALLED_A, 0), 0.0)


@torch.no_grad()
def moved(to: Ints, segments: int) -> float:
    """How far the queries' states move when segment s becomes to[s]."""
    row = OBJECTIVES["xlnet"]
    batch = collate([row.view(text(48, 3), VOCABULARY, seed=0, epoch=0, index=3)], VOCABULARY.pad)
    run = network(replace(fitted(TINY, row), segments=segments))
    other = {name: replace(block, segments=to[block.segments]) for name, block in batch.streams.items()}
    before, after = (run(one).hidden["query"] for one in (batch, replace(batch, streams=other)))
    return float((after - before).abs().max())
