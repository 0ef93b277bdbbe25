"""Recall: what a network with a memory remembers of a text of any length; read in segments, each behind the last one.

segment    `config.memory` cells, from left to right
memory     what each layer read of the segment before, which had its own memory: it reaches back with every layer
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from factpin.encoders.own.batch import Batch, Block
from factpin.encoders.own.network import Memory, Network
from factpin.errors import BadInput
from factpin.layers.masks import Bools, Ints


@torch.no_grad()
def recall(network: Network, kept: Block) -> tuple[Block, Memory]:
    """kept (B, m), all cells real -> the cells that are still remembered, and their memory."""
    B, m = kept.ids.shape
    memory: Memory | None = None
    k = 0
    for at in range(0, m, max(1, network.config.memory)):
        n = min(network.config.memory, m - at)
        seen = {
            "memory": np.ones((B, n, k), np.bool_),
            "content": np.broadcast_to(np.tri(n, dtype=np.bool_), (B, n, n)),
        }
        content = _part(kept, slice(at, at + n), np.arange(n), seen)
        streams = {"memory": _part(kept, slice(at - k, at), np.arange(-k, 0)), "content": content}
        nothing = np.zeros((0, 3), np.int64)
        memory = network(Batch(streams, nothing[:, 0], nothing), memory).memory
        k = 0 if memory is None else memory.real.shape[1]
    if memory is None:
        raise BadInput("This network keeps no memory, or there is no cell to recall. Give the text as one segment.")
    return _part(kept, slice(m - k, m), np.arange(-k, 0)), memory


def _part(block: Block, cells: slice, positions: Ints, sees: Mapping[str, Bools] | None = None) -> Block:
    """Some cells of a block in a row, at these positions."""
    at = np.tile(positions[:, None], (len(block.ids), 1, 1))
    return Block(block.ids[:, cells], at, block.segments[:, cells], block.labels[:, cells], block.real[:, cells],
                 sees or {})  # fmt: skip


def behind(batch: Batch, kept: Block) -> Batch:
    """The batch with the last cells of its memory alone."""
    k = kept.ids.shape[1]
    streams = {"memory": kept}
    for name, block in batch.streams.items():
        if name != "memory":
            seen = {other: s[:, :, s.shape[2] - k :] if other == "memory" else s for other, s in block.sees.items()}
            streams[name] = replace(block, sees=seen)
    return replace(batch, streams=streams)
