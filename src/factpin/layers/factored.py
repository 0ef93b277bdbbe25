"""The negative half of the multi-label loss for scores that are sums, without a (B, R, N, N) tensor.

    A      score of a pair in every class, -inf at cells that do not exist   (B, N, N)
    b, c   score of a class at the first and at the second token             (B, R, N)
    s      A[b, i, j] + c[b, r, j] + b[b, r, i]                              never held
    neg    log(1 + sum of e^s over cells that are not positives)             (B, R)

    E[i, j] = e^(A[i, j] - u[i] - v[j])    balanced: every row and column is at most 1
    F[r, j] = e^(c[r, j] + v[j] - m[r])    every class is at most 1
    sum over j of e^s[r, i, j] = (F E^T)[r, i] * e^(b[r, i] + u[i] + m[r])

Rows (r, i) that hold a positive are computed directly instead, with the positive left out: nothing is ever subtracted,
so a positive that dominates its class costs no precision. A class in which underflow of E * F could matter is sent to
blocks of dense scores. No triangle is assumed: A alone says which cells exist. Exponents are summed in float64, which
costs little at (B, R, N); E, F and the products stay in the type of A.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.layers.exact import exact, first_derivative_only
from factpin.layers.multilabel_loss import log1p_sum_exp
from factpin.layers.places import CellIndices, pieces

LOST = 1e-7  # share of a class that underflow may take before the class is computed densely
BLOCK = 1 << 21  # scores held at once where rows or classes are computed directly


def factored_negatives(A: Tensor, b: Tensor, c: Tensor, positives: CellIndices) -> Tensor:
    """neg (B, R); A (B, N, N), b and c (B, R, N)."""
    return _Negatives.apply(A, b, c, positives)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class _DirectScores:
    """Rows and classes whose scores are computed one by one, in blocks, with the positives at -inf."""

    A: Tensor  # (B, N, N)
    b: Tensor  # (B, R, N)
    c: Tensor  # (B, R, N)
    positives: CellIndices

    @property
    def group(self) -> Tensor:
        """batch * R + label of each positive (P,)."""
        return self.positives.batch * self.b.shape[1] + self.positives.label

    def rows(self, rows: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Flat rows (b, r, i), sorted -> pieces of `rows` (m,) with their scores (m, N)."""
        R, N = self.b.shape[1:]
        key = self.group * N + self.positives.start  # (P,)
        for piece in pieces(rows, BLOCK // N):
            group, i = piece // N, piece % N
            x = self.A[group // R, i].double() + self.c.flatten(0, 1)[group]
            x += self.b.flatten()[piece][:, None]  # (m, N)
            place = torch.searchsorted(piece, key).clamp_max(piece.numel() - 1)
            here = piece[place] == key
            x[place[here], self.positives.end[here]] = -torch.inf
            yield piece, x

    def classes(self, classes: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Flat classes (b, r), sorted -> pieces of `classes` (m,) with their scores (m, N, N)."""
        R, N = self.b.shape[1:]
        for piece in pieces(classes, BLOCK // (N * N)):
            x = self.A[piece // R] + self.c.flatten(0, 1)[piece][:, None, :]
            x += self.b.flatten(0, 1)[piece][:, :, None]  # (m, N, N)
            place = torch.searchsorted(piece, self.group).clamp_max(piece.numel() - 1)
            here = piece[place] == self.group
            x[place[here], self.positives.start[here], self.positives.end[here]] = -torch.inf
            yield piece, x


class _Negatives(torch.autograd.Function):
    """Three batched matrix products: one for the value, two for the gradient."""

    @staticmethod
    def forward(ctx: FunctionCtx, A: Tensor, b: Tensor, c: Tensor, positives: CellIndices) -> Tensor:
        with exact(A):
            N = A.shape[1]
            direct = _DirectScores(A, b, c, positives)
            rows = torch.unique(direct.group * N + positives.start)  # (M,) sorted, as searchsorted needs
            E, u, v = _balance(A)
            c_v = c + v[:, None].double()  # (B, R, N), -inf on empty columns before the maximum is taken
            m = c_v.amax(dim=-1, keepdim=True)
            m = m.masked_fill(m == -torch.inf, 0.0)  # (B, R, 1)
            F = c_v.sub_(m).to(A.dtype).exp_()
            shift = (b + u[:, None].double()).add_(m)  # (B, R, N)
            shift.view(-1)[rows] = -torch.inf
            row = (F @ E.mT).log_() + shift  # (B, R, N)
            for piece, x in direct.rows(rows):
                row.view(-1)[piece] = x.logsumexp(dim=-1)
            neg = log1p_sum_exp(row)  # (B, R)

            lost = shift.logsumexp(dim=-1) + math.log(N * torch.finfo(A.dtype).tiny)
            unsafe = lost > neg + math.log(LOST)
            classes = unsafe.flatten().nonzero().squeeze(1)  # (K,)
            for piece, x in direct.classes(classes):
                neg.view(-1)[piece] = log1p_sum_exp(x.flatten(1)).double()
            if classes.numel():
                shift = shift.masked_fill_(unsafe[..., None], -torch.inf)
                row = row.masked_fill_(unsafe[..., None], -torch.inf)
                rows = rows[~unsafe.flatten()[rows // N]]
        ctx.save_for_backward(A, b, c, E, F, shift, row, neg, rows, classes)
        ctx.positives = positives  # type: ignore[attr-defined]
        return neg.to(A.dtype)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        A, b, c, E, F, shift, row, neg, rows, classes = ctx.saved_tensors  # type: ignore[attr-defined]
        direct = _DirectScores(A, b, c, ctx.positives)  # type: ignore[attr-defined]
        with exact(A):
            N = A.shape[1]
            R = b.shape[1]
            G = (shift - neg[..., None]).to(A.dtype).exp_().mul_(grad[..., None])  # (B, R, N), bounded by the guard
            dc = (G @ E).mul_(F)
            dA = (G.mT @ F).mul_(E)
            db = (row - neg[..., None]).to(A.dtype).exp_().mul_(grad[..., None])
            for piece, x in direct.rows(rows):
                flat = piece // N
                p = (x - neg.flatten()[flat, None]).to(A.dtype).exp_().mul_(grad.flatten()[flat, None])  # (m, N)
                dA.view(-1, N).index_add_(0, flat // R * N + piece % N, p)
                dc.view(-1, N).index_add_(0, flat, p)
            for piece, x in direct.classes(classes):
                p = x.sub_(neg.flatten()[piece, None, None].to(A.dtype)).exp_()  # (m, N, N)
                p *= grad.flatten()[piece, None, None]
                dA.index_add_(0, piece // R, p)
                db.view(-1, N).index_add_(0, piece, p.sum(dim=2))
                dc.view(-1, N).index_add_(0, piece, p.sum(dim=1))
        return dA, db, dc, None


def _balance(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A (B, N, N) -> E (B, N, N) in [0, 1], u and v (B, N); u or v is -inf where a row or column has no cell."""
    u = A.amax(dim=2)
    E = A - u.masked_fill(u == -torch.inf, 0.0)[:, :, None]
    v = E.amax(dim=1)
    return E.sub_(v.masked_fill(v == -torch.inf, 0.0)[:, None, :]).exp_(), u, v
