"""Memory that is carried from step to step: what every layer read of the text before, in each lane of a batch.

    lane      row b of every batch; its texts follow one another in the corpus
    ids       which pieces a lane remembers     (B, M), -1 behind them
    states    what each layer read of them      (layers, B, M, D), without gradient

A text goes on from a lane's memory if the pieces before it are those that the lane remembers; else the lane forgets:
a document began, or a text between was passed over. Both tables are buffers, so a checkpoint holds them, and a run that
is resumed is the run that was not stopped.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from factpin.encoders.own.batch import Batch
from factpin.encoders.own.network import Memory
from factpin.encoders.own.parts import NetworkConfig
from factpin.layers.masks import Ints
from factpin.objectives.text import Text, nothing


class CarriedMemory(nn.Module):
    """The memory of every lane of a batch."""

    ids: Tensor
    states: Tensor

    def __init__(self, network: NetworkConfig, lanes: int, keep: int | None = None) -> None:
        """`keep`: how many cells of a text are remembered, from its first; None: all (XLNet: its first half)."""
        super().__init__()
        M, D = network.memory, network.width
        self.keep = keep
        self.register_buffer("ids", torch.full((lanes, M), -1))
        self.register_buffer("states", torch.zeros(network.layers, lanes, M, D))

    def empty(self) -> "CarriedMemory":
        """As many lanes that remember nothing."""
        other = copy.deepcopy(self)
        other.ids.fill_(-1)
        return other

    def behind(self, texts: Sequence[Text]) -> list[Text]:
        """The texts, each with those pieces before it that its lane remembers."""
        return [replace(text, before=self._known(lane, text.before)) for lane, text in enumerate(texts)]

    def _known(self, lane: int, before: Ints) -> Ints:
        row = self.ids[lane].cpu().numpy()
        known = row[row >= 0]
        fits = 0 < len(known) <= len(before) and np.array_equal(before[len(before) - len(known) :], known)
        return known if fits else nothing()

    def memory(self, batch: Batch) -> Memory | None:
        """What the lanes of a batch remember; None: nothing, in any of them."""
        real = batch.streams["memory"].real  # (n, m)
        n, m = real.shape
        if not m:
            return None
        return Memory(tuple(self.states[:, :n, :m]), torch.as_tensor(real, device=self.states.device))

    def keep_of(self, batch: Batch, memory: Memory) -> None:
        """Remember what was read of a batch; lanes that had no text forget."""
        n, m = memory.real.shape
        self.ids.fill_(-1)
        self.states[:, :n, :m] = torch.stack(memory.layers)
        kept, content = batch.streams["memory"], batch.streams["content"]
        for lane in range(n):
            read = content.ids[lane][content.real[lane]][: self.keep]
            known = np.concatenate([kept.ids[lane][kept.real[lane]], read])[-self.ids.shape[1] :]
            self.ids[lane, : len(known)] = torch.as_tensor(known, device=self.ids.device)
