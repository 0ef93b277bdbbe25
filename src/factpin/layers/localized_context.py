"""Localized context pooling: what both entities of a pair look at, for every pair of a document, in blocks.

    A   attention of entities                      (E, heads, N)
    V   values of tokens                           (N, W)
    q   attention of a pair: where both look       (U, N)        never held for all pairs
    c   context of a pair                          (U, W)

    q[i, j] = mean over heads of A[i] * A[j],   c[i, j] = sum over n of q[i, j, n] V[n] / (sum of q[i, j] + 1e-5)

q[i, j] = q[j, i]: a pair is computed once for both orders. With x[n] = A[:, :, n] the sum over heads is x[n] x[n]^T for
each token, one batched product for a block of entities against those after it; the mean over heads and the normaliser
are one division. Backward computes the blocks again. V can be anything: vectors, projected vectors, marks of sentences.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.layers.exact import exact, first_derivative_only

CAP = 1 << 22  # products (token, entity, entity) held at once
EPSILON = 1e-5  # as published: keeps a pair that looks at nothing in common finite


def localized_context(A: Tensor, V: Tensor, low: Tensor, high: Tensor, cap: int | None = None) -> Tensor:
    """A (E, heads, N), V (N, W), low <= high (U,) entities of each pair, low in order -> c (U, W)."""
    return _Context.apply(A, V, low, high, cap or CAP)  # type: ignore[no-untyped-call]


def unordered(head: Tensor, tail: Tensor, entities: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs (P,) -> low, high (U,) in order, each once, and which of them every pair is (P,)."""
    key, which = torch.unique(torch.minimum(head, tail) * entities + torch.maximum(head, tail), return_inverse=True)
    return key // entities, key % entities, which


@dataclass(frozen=True)
class _Block:
    """Pairs of which `low` is an entity top..bottom; `high` is top or later."""

    top: int
    bottom: int
    pairs: slice
    cells: Tensor  # (u,) flat indices into (bottom - top, E - top)

    def shared(self, X: Tensor) -> Tensor:
        """X (N, E, heads) -> heads * q (N, u)."""
        G = X[:, self.top : self.bottom] @ X[:, self.top :].mT  # (N, rows, E - top)
        return G.flatten(1).index_select(1, self.cells)


def _blocks(low: Tensor, high: Tensor, E: int, N: int, cap: int) -> Iterator[_Block]:
    top = 0
    while top < E:
        bottom = min(E, top + max(1, cap // max(1, N * (E - top))))
        first, last = torch.searchsorted(low, torch.tensor((top, bottom), device=low.device)).tolist()
        here = slice(first, last)
        if last > first:
            yield _Block(top, bottom, here, (low[here] - top) * (E - top) + high[here] - top)
        top = bottom


class _Context(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, A: Tensor, V: Tensor, low: Tensor, high: Tensor, cap: int) -> Tensor:
        E, heads, N = A.shape
        X = A.permute(2, 0, 1).contiguous()  # (N, E, heads)
        c = V.new_empty(len(low), V.shape[1])
        total = V.new_empty(len(low))
        with exact(A):
            for block in _blocks(low, high, E, N, cap):
                Q = block.shared(X)  # (N, u)
                total[block.pairs] = Q.sum(dim=0) + heads * EPSILON
                c[block.pairs] = (Q.mT @ V).div_(total[block.pairs, None])
        ctx.save_for_backward(A, V, low, high, total, c)
        ctx.cap = cap  # type: ignore[attr-defined]
        return c

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        A, V, low, high, total, c = ctx.saved_tensors  # type: ignore[attr-defined]
        E, _, N = A.shape
        X = A.permute(2, 0, 1).contiguous()
        dX, dV = torch.zeros_like(X), torch.zeros_like(V)
        with exact(A):  # autocast may be on where the gradient is asked for
            for block in _blocks(low, high, E, N, ctx.cap):  # type: ignore[attr-defined]
                top, bottom = block.top, block.bottom
                g = grad[block.pairs] / total[block.pairs, None]  # (u, W)
                Q = block.shared(X)
                dV.addmm_(Q, g)
                dQ = (V @ g.mT).sub_((g * c[block.pairs]).sum(dim=1))  # (N, u); the normaliser holds every token
                dG = X.new_zeros(N, (bottom - top) * (E - top)).index_copy_(1, block.cells, dQ)
                dG = dG.view(N, bottom - top, E - top)
                dX[:, top:bottom] += dG @ X[:, top:]
                dX[:, top:] += dG.mT @ X[:, top:bottom]
        return dX.permute(1, 2, 0), dV, None, None, None
