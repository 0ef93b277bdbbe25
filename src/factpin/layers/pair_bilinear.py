"""Grouped bilinear scores of pairs, in blocks; no tensor of the size (pairs, Z * G) is ever held.

    head, tail   views of entities as head and as tail              (E, Z)       Z = K groups of G
    context      views of a pair's context, head's then tail's      (U, 2 Z), or None
    W, b         one matrix for each class and group, one bias      (C, Z * G) seen as (C, K, G, G), (C,)

    x = tanh(head[h] + context[u, :Z]),   y = tanh(tail[t] + context[u, Z:])
    s[c] = sum over k of x[k]^T W[c, k] y[k] + b[c]                 (P, C)

A block of pairs is scored group by group: x[k] y[k]^T as one row of G * G against W[:, k], or, with few classes,
x[k]^T W[:, k] first. Only the arguments are saved; backward computes x, y and the rows again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.layers.exact import exact, first_derivative_only

BLOCK = 256  # pairs: at G = 64 the outer products of a group are 4 MiB, which a cache holds


@dataclass(frozen=True)
class PairIndices:
    """The head, the tail and the context of each pair, as indices."""

    head: Tensor  # (P,) int64
    tail: Tensor  # (P,) int64
    context: Tensor  # (P,) int64

    def blocks(self, size: int) -> Iterator[tuple[slice, "PairIndices"]]:
        """Consecutive parts of at most `size` pairs, each with its slice."""
        for at in range(0, len(self.head), size):
            here = slice(at, at + size)
            yield here, PairIndices(self.head[here], self.tail[here], self.context[here])


def pair_bilinear(
    head: Tensor,
    tail: Tensor,
    context: Tensor | None,
    pairs: PairIndices,
    W: Tensor,
    b: Tensor,
    block: int | None = None,
) -> Tensor:
    """s (P, C); shapes as above."""
    return _Scores.apply(head, tail, context, pairs, W, b, block or BLOCK)  # type: ignore[no-untyped-call]


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx,
        head: Tensor,
        tail: Tensor,
        context: Tensor | None,
        pairs: PairIndices,
        W: Tensor,
        b: Tensor,
        block: int,
    ) -> Tensor:
        groups = _groups(W, head.shape[1])
        s = b.repeat(len(pairs.head), 1)  # (P, C)
        with exact(head):
            for here, some in pairs.blocks(block):
                x, y = _views(head, tail, context, some, groups.count)  # 2 x (p, K, G)
                groups.add_scores(s[here], x, y)
        ctx.save_for_backward(head, tail, context, W)  # type: ignore[arg-type]
        ctx.pairs, ctx.block = pairs, block  # type: ignore[attr-defined]
        return s

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        head, tail, context, W = ctx.saved_tensors  # type: ignore[attr-defined]
        Z = head.shape[1]
        groups = _groups(W, Z)
        dhead, dtail = torch.zeros_like(head), torch.zeros_like(tail)
        dcontext = None if context is None else torch.zeros_like(context)
        dW = groups.zeros()
        with exact(head):  # autocast may be on where the gradient is asked for
            for here, some in ctx.pairs.blocks(ctx.block):  # type: ignore[attr-defined]
                x, y = _views(head, tail, context, some, groups.count)
                dx, dy = groups.add_gradients(grad[here], x, y, dW)  # 2 x (p, K, G)
                dx = (dx * (1 - x * x)).flatten(1)  # (p, Z)
                dy = (dy * (1 - y * y)).flatten(1)
                dhead.index_add_(0, some.head, dx)
                dtail.index_add_(0, some.tail, dy)
                if dcontext is not None:
                    dcontext.index_add_(0, some.context, torch.cat((dx, dy), dim=1))
        return dhead, dtail, dcontext, None, groups.weight_of(dW), grad.sum(dim=0), None


def _views(head: Tensor, tail: Tensor, context: Tensor | None, pairs: PairIndices, K: int) -> tuple[Tensor, Tensor]:
    """x and y (p, K, G) of some pairs."""
    x, y = head[pairs.head], tail[pairs.tail]  # (p, Z)
    if context is not None:
        c = context[pairs.context]
        x += c[:, : x.shape[1]]
        y += c[:, x.shape[1] :]
    return x.tanh_().view(len(x), K, -1), y.tanh_().view(len(y), K, -1)


def _groups(W: Tensor, Z: int) -> "_OuterBilinear | _ContractedBilinear":
    C, G = W.shape[0], W.shape[1] // Z
    K = Z // G
    return _ContractedBilinear(W, K, G) if 2 * C <= G else _OuterBilinear(W, K, G)


class _OuterBilinear:
    """Many classes: a row of G * G products for each pair and group."""

    def __init__(self, W: Tensor, K: int, G: int) -> None:
        self.W = W.view(-1, K, G * G)  # (C, K, G * G)
        self.count, self.G = K, G

    def zeros(self) -> Tensor:
        return torch.zeros_like(self.W)

    def weight_of(self, dW: Tensor) -> Tensor:
        return dW.flatten(1)

    def add_scores(self, s: Tensor, x: Tensor, y: Tensor) -> None:
        outer = x.new_empty(len(x), self.G, self.G)  # one for all groups: new pages cost more than the products
        for k in range(self.count):
            torch.mul(x[:, k, :, None], y[:, k, None, :], out=outer)
            s.addmm_(outer.flatten(1), self.W[:, k].mT)

    def add_gradients(self, g: Tensor, x: Tensor, y: Tensor, dW: Tensor) -> tuple[Tensor, Tensor]:
        dx, dy = torch.empty_like(x), torch.empty_like(y)
        outer = x.new_empty(len(x), self.G, self.G)
        for k in range(self.count):
            torch.mul(x[:, k, :, None], y[:, k, None, :], out=outer)
            dW[:, k].addmm_(g.mT, outer.flatten(1))
            torch.mm(g, self.W[:, k], out=outer.view(len(x), -1))  # its gradient takes its place
            dx[:, k] = (outer @ y[:, k, :, None]).squeeze(2)
            dy[:, k] = (x[:, k, None, :] @ outer).squeeze(1)
        return dx, dy


class _ContractedBilinear:
    """Few classes: x^T W first, a row of C * G for each pair and group."""

    def __init__(self, W: Tensor, K: int, G: int) -> None:
        self.C, self.count, self.G = W.shape[0], K, G
        self.W = W.view(self.C, K, G, G).permute(1, 2, 0, 3).reshape(K, G, self.C * G)

    def zeros(self) -> Tensor:
        return torch.zeros_like(self.W)

    def weight_of(self, dW: Tensor) -> Tensor:
        return dW.view(self.count, self.G, self.C, self.G).permute(2, 0, 1, 3).reshape(self.C, -1)

    def add_scores(self, s: Tensor, x: Tensor, y: Tensor) -> None:
        for k in range(self.count):
            T = (x[:, k] @ self.W[k]).view(-1, self.C, self.G)  # (p, C, G)
            s += (T @ y[:, k, :, None]).squeeze(2)

    def add_gradients(self, g: Tensor, x: Tensor, y: Tensor, dW: Tensor) -> tuple[Tensor, Tensor]:
        dx, dy = torch.empty_like(x), torch.empty_like(y)
        for k in range(self.count):
            dT = (g[:, :, None] * y[:, k, None, :]).flatten(1)  # (p, C * G)
            dW[k].addmm_(x[:, k].mT, dT)
            dx[:, k] = dT @ self.W[k].mT
            T = (x[:, k] @ self.W[k]).view(-1, self.C, self.G)
            dy[:, k] = (g[:, None, :] @ T).squeeze(1)
        return dx, dy
