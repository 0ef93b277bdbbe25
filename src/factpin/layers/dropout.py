"""Dropout as in torch, but on a CPU with sixteen random bits a number: torch draws the numbers one by one, which
takes up to a fifth of a training step (benchmarks/dropout.py).

    out = x · keep / (1 - p),   keep ~ Bernoulli(1 - p),   p in steps of 2⁻¹⁶

The bits come from torch's generator, so that a seed decides them.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

STEPS = 1 << 16
LOWEST = -(1 << 63)


def dropout(x: Tensor, p: float) -> Tensor:
    """x of any shape; p from 0 to less than 1."""
    if x.device.type != "cpu":
        return F.dropout(x, p)
    hidden = round(p * STEPS)
    out: Tensor = _Dropout.apply(x, hidden) if hidden else x  # type: ignore[no-untyped-call]
    return out


class Dropout(nn.Dropout):
    """Replaces torch's module of this name."""

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape; unchanged outside training."""
        return dropout(x, self.p) if self.training and self.p < 1 else super().forward(x)


def put_in(model: nn.Module) -> None:
    """Replace every torch dropout of a model by this one."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Dropout:
                setattr(module, name, Dropout(child.p))


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, hidden: int) -> Tensor:
        keep = drawn(x.numel()).ge(hidden - STEPS // 2).to(x.dtype).mul_(STEPS / (STEPS - hidden)).view(x.shape)
        ctx.save_for_backward(keep)
        return x * keep

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (keep,) = ctx.saved_tensors
        return grads[0] * keep, None


def drawn(n: int) -> Tensor:
    """n random numbers of int16, all equally likely: a draw of 64 bits gives four."""
    return torch.empty(-(-n // 4), dtype=torch.int64).random_(LOWEST, None).view(torch.int16)[:n]
