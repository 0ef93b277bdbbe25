"""Leaks: nothing that is asked for can be read off; and views with a known fault are caught.

    audit     by the masks: no cell that is asked reaches one that shows its place, through any number of layers
    network   by numbers: one id is changed, and a random network computes again. What may not see it moves by exactly
              0, what may see it within the layers moves

Exactly 0 holds where both runs have the same shapes, on a CPU. Two layers are the least: a leak over a special token
takes two.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.objectives import OBJECTIVES, Batch, View, audit, collate
from factpin.objectives.audit import graph, layers_between
from factpin.objectives.fitting import fitted
from proofs.compare import Compared
from proofs.faults import Fault
from proofs.world import VOCABULARY, text

LAYERS, VIEWS = 2, 10
TINY = NetworkConfig(VOCABULARY.size, width=8, layers=LAYERS, heads=2, inner=12, longest=200, dropout=0.0)


def make(name: str, index: int = 0, n: int = 48) -> View:
    return OBJECTIVES[name].view(text(n, index, before=6), VOCABULARY, seed=0, epoch=0, index=index)


def network(config: NetworkConfig, seed: int = 0) -> Network:
    """A network whose weights are large enough for everything to matter."""
    torch.manual_seed(seed)
    made = Network(config).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.4)
    return made


def no_leak(name: str) -> Iterator[Compared]:
    """The audit of some views of a row, and what moves in a network."""
    found = [audit(make(name, index), VOCABULARY) for index in range(VIEWS)]
    yield Compared("leaks", sum(len(one.leaks) + len(one.lies) for one in found), 0)
    forbidden, allowed, moved, all_allowed = moves(name)
    yield Compared(f"moved of {forbidden} forbidden pairs", moved, 0)
    yield Compared(f"of {all_allowed} allowed ones", allowed, all_allowed)


@torch.no_grad()
def moves(name: str) -> tuple[int, int, int, int]:
    """Forbidden pairs, allowed pairs that move, forbidden pairs that move, allowed pairs."""
    view = OBJECTIVES[name].view(text(10, 5, before=2), VOCABULARY, seed=3, epoch=0, index=1)
    cells, sees = graph(view)
    depth = layers_between(sees, np.arange(len(cells)))
    computed = [stream != "memory" for stream, _ in cells]
    may = ((depth >= 0) & (depth <= LAYERS))[computed]  # (computed cells, cells)
    run = network(fitted(TINY, OBJECTIVES[name]))
    batch = collate([view], VOCABULARY.pad)
    before = _states(run, batch)
    moved = np.stack(
        [(_states(run, _changed(batch, *cell)) - before).abs().amax(dim=1).numpy() > 0 for cell in cells], axis=1
    )
    return int((~may).sum()), int((moved & may).sum()), int((moved & ~may).sum()), int(may.sum())


def _states(run: Network, batch: Batch) -> Tensor:
    hidden = run(batch).hidden
    return torch.cat([hidden[stream][0] for stream in batch.streams if stream != "memory"])


def _changed(batch: Batch, name: str, cell: int) -> Batch:
    """The batch with another id in one cell of its first text."""
    block = batch.streams[name]
    ids = block.ids.copy()
    ids[0, cell] = (ids[0, cell] + 1) % VOCABULARY.size
    return replace(batch, streams={**batch.streams, name: replace(block, ids=ids)})


def caught(name: str, fault: Fault) -> Iterator[Compared]:
    """A target that is last in its order gives nothing away, so one view in ten may pass."""
    views = [make(name, index) for index in range(VIEWS)]
    yield Compared("sound views blamed", sum(not audit(view, VOCABULARY).clean for view in views), 0)
    found = [audit(fault(view), VOCABULARY) for view in views]
    yield Compared(f"faulty views caught, of {VIEWS}", sum(not one.clean for one in found), VIEWS, within=1)
