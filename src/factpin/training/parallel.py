"""Data parallel under torchrun: every process takes its share of each global batch; gradients are summed.

Processes start from the same weights and add the same gradient, so they stay equal. One process alone is the
case of world size 1, in which nothing here does anything.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn


@dataclass(frozen=True)
class World:
    """Which process this is, of how many, on which device."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this process evaluates, writes and talks."""
        return self.rank == 0

    def share(self, items: Sequence[int]) -> list[int]:
        """This process's part of a global batch."""
        return list(items[self.rank :: self.size])

    def sum_gradients(self, module: nn.Module) -> None:
        """Add up the gradients of all processes; one that had nothing to do adds zeros."""
        if self.size == 1:
            return
        parameters = [p for p in module.parameters() if p.requires_grad]
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in parameters])
        dist.all_reduce(flat)
        at = 0
        for p in parameters:
            p.grad = flat[at : at + p.numel()].view_as(p)
            at += p.numel()

    def sum(self, value: float) -> float:
        """The sum of a number over all processes."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return float(total)

    def from_leader(self, value: Any) -> Any:
        """What the leading process has, in every process."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0)
        return box[0]

    def close(self) -> None:
        """Leave the group."""
        if self.size > 1:
            dist.destroy_process_group()


def join_world() -> World:
    """The world that torchrun describes in the environment, or a world of one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    if size > 1 and not dist.is_initialized():
        dist.init_process_group("nccl" if gpu else "gloo")
    return World(int(os.environ.get("RANK", "0")), size, device)
