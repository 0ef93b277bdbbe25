"""Attention with dropout on its weights, for training on a CPU: the weights of all tokens are never held as numbers.

    s   = q kᵀ · scaling, and what the mask says                      (B, heads, N, N)   a block at a time
    p   = softmax(s)
    out = (p · keep / (1 - rate)) v,   keep ~ Bernoulli(1 - rate)     (B, heads, N, d)

torch's own way holds s, p, keep and their product, each (B, heads, N, N) in float32, until backward. Kept here are q, k,
v, out and one byte a weight, `keep`; backward makes s and p again. It takes as long, in a fraction of the memory
(benchmarks/dropout.py). Values and random numbers are those of `dropout(softmax(s), rate) @ v`.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from factpin.layers.dropout import STEPS, drawn
from factpin.layers.exact import exact, first_derivative_only

BLOCK = 1 << 20  # weights that are computed together: 4 MiB


def dropped_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float, rate: float
) -> Tensor:
    """query, key, value (B, heads, N, d), mask (B or 1, 1 or heads, N, N) of bool or numbers -> (B, heads, N, d)."""
    hidden = round(rate * STEPS)
    out: Tensor = _Attention.apply(query, key, value, mask, scaling, hidden)  # type: ignore[no-untyped-call]
    return out


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scaling: float, hidden: int) -> Tensor:
        B, heads, N, _ = q.shape
        keep = drawn(B * heads * N * N).ge(hidden - STEPS // 2).view(B, heads, N, N)
        grow = STEPS / (STEPS - hidden)
        q, v = q * scaling, v * grow
        out = torch.empty_like(v)
        with exact(q):
            for b, h in _blocks(q):
                p = _weights(q[b, h], k[b, h], _part(mask, b, h)).mul_(keep[b, h])
                torch.bmm(p.to(v.dtype), v[b, h], out=out[b, h])
        ctx.save_for_backward(q, k, v, mask, keep, out)
        ctx.scaling, ctx.grow = scaling, grow
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        (g,) = grads
        q, k, v, mask, keep, out = ctx.saved_tensors
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        inner = (g * out).sum(dim=-1, keepdim=True)  # (B, heads, N, 1) sum over keys of p · dp
        with exact(q):
            for b, h in _blocks(q):
                part, kept = _part(mask, b, h), keep[b, h]
                p = _weights(q[b, h], k[b, h], part)  # (heads, N, N)
                ds = (g[b, h] @ v[b, h].mT).to(p.dtype).mul_(kept).sub_(inner[b, h]).mul_(p)
                if part is not None and part.dtype == torch.bool:  # a row that sees nothing has weights all the same
                    ds.masked_fill_(~part, 0.0)
                ds = ds.to(q.dtype)
                torch.bmm(ds, k[b, h], out=dq[b, h])
                torch.bmm(ds.mT, q[b, h], out=dk[b, h])
                torch.bmm(p.mul_(kept).to(v.dtype).mT, g[b, h], out=dv[b, h])
        return dq.mul_(ctx.scaling), dk, dv.mul_(ctx.grow), None, None, None


def _blocks(q: Tensor) -> Iterator[tuple[int, slice]]:
    """An item of the batch, and some of its heads."""
    B, heads, N, _ = q.shape
    size = max(1, BLOCK // max(1, N * N))
    return ((b, slice(at, at + size)) for b in range(B) for at in range(0, heads, size))


def _part(mask: Tensor | None, b: int, h: slice) -> Tensor | None:
    """(1 or some heads, N, N)"""
    if mask is None:
        return None
    item = mask[b if mask.shape[0] > 1 else 0]
    return item[h] if item.shape[0] > 1 else item


def _weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """q, k (heads, N, d) -> p (heads, N, N), in float32 at least."""
    s = q @ k.mT
    s = s if s.dtype == torch.float64 else s.float()
    if mask is not None:
        s = s.masked_fill_(~mask, torch.finfo(s.dtype).min) if mask.dtype == torch.bool else s.add_(mask)
    return torch.softmax(s, dim=-1)
