"""Localized context pooling: what both entities of a pair look at, for every pair of a document, in blocks.

    A   attention of entities                      (E, heads, N), or over the tokens of each window alone
    V   values of tokens                           (N, W)
    q   attention of a pair: where both look       (U, N)        never held for all pairs
    c   context of a pair                          (U, W)

    q[i, j] = mean over heads of A[i] * A[j],   c[i, j] = sum over n of q[i, j, n] V[n] / (sum of q[i, j] + 1e-5)

q[i, j] = q[j, i]: a pair is computed once for both orders. With x[n] = A[:, :, n] the sum over heads is x[n] x[n]^T for
each token, one batched product for a block of entities against those after it; the mean over heads and the normaliser
are one division. Backward computes the blocks again. V can be anything: vectors, projected vectors, marks of sentences.

The entities of a long document are attended from their own windows alone (layers/window_attention.py). Tokens are taken
in the segments that the same windows cover, each with the entities of these windows, so that time and memory grow with
the length of the document, not with its square.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.layers.exact import exact, first_derivative_only
from factpin.layers.window_attention import Segment, WindowAttention, segments

CAP = 1 << 22  # products (token, entity, entity) held at once
EPSILON = 1e-5  # as published: keeps a pair that looks at nothing in common finite


def localized_context(
    A: Tensor | WindowAttention, V: Tensor, low: Tensor, high: Tensor, cap: int | None = None
) -> Tensor:
    """A (E, heads, N) or its windows, V (N, W), low <= high (U,) entities of each pair, in order -> c (U, W)."""
    attention = WindowAttention.whole(A) if isinstance(A, Tensor) else A
    return _Context.apply(attention.rows, V, attention, low, high, cap or CAP)  # type: ignore[no-untyped-call]


@torch.no_grad()
def sentence_shares(
    attention: WindowAttention, sentence: Tensor, sentences: int, low: Tensor, high: Tensor, cap: int | None = None
) -> Tensor:
    """The share of each sentence in what a pair looks at, sparse (U, S); sentence (N,) of each token, -1 outside."""
    places, sums = [], []
    with exact(attention.rows):
        for block in _blocks(attention, low, high, cap or CAP):
            inside = sentence[block.segment.start : block.segment.end]  # (n,)
            here, row = torch.unique(inside, return_inverse=True)  # (s,), (n,)
            Q = block.shared()  # (n, u)
            sums.append(Q.new_zeros(len(here), Q.shape[1]).index_add_(0, row, Q)[here >= 0].flatten())  # (s * u,)
            here = here[here >= 0]
            places.append(block.pairs.repeat(len(here)) * sentences + here.repeat_interleave(Q.shape[1]))
    if not places:
        return attention.rows.new_zeros(len(low), sentences).to_sparse()
    place, which = torch.unique(torch.cat(places), return_inverse=True)  # (F,): a pair may share several segments
    share = torch.cat(sums)
    share = share.new_zeros(len(place)).index_add_(0, which, share)
    row = place // sentences
    total = share.new_zeros(len(low)).index_add_(0, row, share)
    share /= total.masked_fill_(total == 0, 1.0)[row]
    where, shape = torch.stack((row, place % sentences)), (len(low), sentences)
    return torch.sparse_coo_tensor(where, share, shape, check_invariants=False, is_coalesced=True)


def unordered(head: Tensor, tail: Tensor, entities: int) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs (P,) -> low, high (U,) in order, each once, and which of them every pair is (P,)."""
    key, which = torch.unique(torch.minimum(head, tail) * entities + torch.maximum(head, tail), return_inverse=True)
    return key // entities, key % entities, which


def products(attention: WindowAttention, low: Tensor, high: Tensor) -> int:
    """Tokens times pairs that are looked at: what pooling costs."""
    entities = attention.owners
    key, total = low * entities + high, 0
    for segment in segments(attention):
        grid = (segment.entity[:, None] * entities + segment.entity).flatten()
        total += (segment.end - segment.start) * int(torch.isin(grid, key).sum())
    return total


@dataclass(frozen=True)
class _Block:
    """Pairs of which one entity is among rows top..bottom of a segment, and the other is top or later."""

    segment: Segment
    X: Tensor  # (n, e, heads)
    top: int
    bottom: int
    pairs: Tensor  # (u,) which of all pairs they are
    cells: Tensor  # (u,) flat indices into (bottom - top, e - top)

    def shared(self) -> Tensor:
        """heads * q (n, u)."""
        G = self.X[:, self.top : self.bottom] @ self.X[:, self.top :].mT  # (n, rows, e - top)
        return G.flatten(1).index_select(1, self.cells)


def _blocks(attention: WindowAttention, low: Tensor, high: Tensor, cap: int) -> Iterator[_Block]:
    E, key = attention.owners, low * attention.owners + high  # in order
    for segment in segments(attention):
        e, n, top, X = len(segment.entity), segment.end - segment.start, 0, None
        while top < e and len(key):
            bottom = min(e, top + max(1, cap // max(1, n * (e - top))))
            grid = (segment.entity[top:bottom, None] * E + segment.entity[top:]).flatten()
            at = torch.searchsorted(key, grid).clamp_max_(len(key) - 1)
            cells = (key[at] == grid).nonzero().squeeze(1)
            if len(cells):
                X = segment.attention(attention.rows) if X is None else X
                yield _Block(segment, X, top, bottom, at[cells], cells)
            top = bottom


class _Context(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx, rows: Tensor, V: Tensor, attention: WindowAttention, low: Tensor, high: Tensor, cap: int
    ) -> Tensor:
        c = V.new_zeros(len(low), V.shape[1])
        total = V.new_full((len(low),), rows.shape[1] * EPSILON)
        with exact(rows):
            for block in _blocks(attention, low, high, cap):
                Q = block.shared()  # (n, u)
                total.index_add_(0, block.pairs, Q.sum(dim=0))
                c.index_add_(0, block.pairs, Q.mT @ V[block.segment.start : block.segment.end])
        c.div_(total[:, None])
        ctx.save_for_backward(rows, V, low, high, total, c)
        ctx.attention, ctx.cap = attention, cap  # type: ignore[attr-defined]
        return c

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        rows, V, low, high, total, c = ctx.saved_tensors  # type: ignore[attr-defined]
        drows, dV, cap = torch.zeros_like(rows), torch.zeros_like(V), ctx.cap  # type: ignore[attr-defined]
        with exact(rows):  # autocast may be on where the gradient is asked for
            for block in _blocks(ctx.attention, low, high, cap):  # type: ignore[attr-defined]
                top, bottom, X, segment = block.top, block.bottom, block.X, block.segment
                v = V[segment.start : segment.end]
                g = grad[block.pairs] / total[block.pairs, None]  # (u, W)
                Q = block.shared()
                dV[segment.start : segment.end].addmm_(Q, g)
                dQ = (v @ g.mT).sub_((g * c[block.pairs]).sum(dim=1))  # (n, u); the normaliser holds every token
                dG = X.new_zeros(len(v), (bottom - top) * (X.shape[1] - top)).index_copy_(1, block.cells, dQ)
                dG = dG.view(len(v), bottom - top, -1)
                dX = torch.zeros_like(X)
                dX[:, top:bottom] += dG @ X[:, top:]
                dX[:, top:] += dG.mT @ X[:, top:bottom]
                segment.add_gradient(drows, dX)
        return drows, dV, None, None, None, None
