"""GLM does not show how long a blank is: texts that differ only in the blank give the same states in front of it.

two positions                          nothing moves: text and first cell of the blank
the positions of the text itself       control: both move, since the numbers jump over the blank
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from factpin.layers.masks import Ints
from factpin.objectives import OBJECTIVES, Text, View, collate
from factpin.objectives.choose import Choose
from factpin.objectives.fitting import fitted
from factpin.objectives.glm import GLM
from factpin.objectives.text import chance_of
from proofs.compare import Compared
from proofs.leaks import TINY, network
from proofs.world import VOCABULARY

BEFORE, BEHIND = np.arange(20, 25), np.arange(30, 36)
INSIDE = np.arange(50, 58)
LENGTHS = range(1, len(INSIDE) + 1)
CELLS = 1 + len(BEFORE) + 1 + len(BEHIND) + 1  # [CLS], the text with its marker, the first cell of the blank
MOVES = 1e-3


def blank_lengths() -> Iterator[Compared]:
    ours, control = moved(counted=False), moved(counted=True)
    yield Compared(f"blanks of 1 to {len(INSIDE)}: states move by", ours, 0.0, 1e-12)
    yield Compared("positions of the text: states move", control > MOVES, True)


@torch.no_grad()
def moved(*, counted: bool) -> float:
    """How far the states in front of the blank move when it gets longer; `counted`: with the text's own positions."""
    run, states = network(fitted(TINY, OBJECTIVES["glm_token"])), []
    for length in LENGTHS:
        view = with_text_positions(blank(length), length) if counted else blank(length)
        states.append(run(collate([view], VOCABULARY.pad)).hidden["content"][0, :CELLS])
    return max(float((one - states[0]).abs().max()) for one in states)


def blank(length: int) -> View:
    ids = np.concatenate([BEFORE, INSIDE[:length], BEHIND])
    text = Text(ids, np.arange(len(ids)), np.array([len(ids)]))
    hidden = np.arange(len(BEFORE), len(BEFORE) + length)
    return GLM(always(hidden))(text, VOCABULARY, chance_of(0, 0, 0))


def always(group: Ints) -> Choose:
    return lambda units, budget, chance: [group]  # noqa: ARG005


def with_text_positions(view: View, length: int) -> View:
    """One position a cell: the one that its piece has in the text."""
    content = view.streams["content"]
    first = np.concatenate(
        [
            np.arange(1 + len(BEFORE) + 1),
            1 + len(BEFORE) + length + np.arange(len(BEHIND)),
            1 + len(BEFORE) + np.arange(length + 1),
        ]
    )
    positions = np.stack([first, np.zeros_like(first)], axis=1)
    return replace(view, streams={"content": replace(content, positions=positions)})
