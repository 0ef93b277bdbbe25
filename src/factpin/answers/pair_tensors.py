"""Batches of pairs as tensors."""

import torch
from torch import Tensor

from factpin.answers.pair_reader import PairBatch


def to_tensors(batch: PairBatch, device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """ids, segments, mask and real of a batch (B, N) on a device."""
    ids, segments, mask, real = (
        torch.from_numpy(x).to(device) for x in (batch.ids, batch.segments, batch.mask, batch.real)
    )
    return ids, segments, mask, real
