"""Pairs of tokens scored by a dot product for each label, in tiles, without a (B, L, N, N) tensor.

    qk     views of the first and last token, already rotated and scaled   (B, N, L, 2, d)
    real   True at text                                                    (B, N)
    s      qk[b, i, l, 0] . qk[b, j, l, 1]                                 a tile at a time: (L, rows, columns)
    loss   the multi-label loss over the cells that exist                  (B, L)

A cell (i, j) exists where i and j are real, i <= j, and j - i < max_span if that is given.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from factpin.errors import BadInput
from factpin.layers.exact import exact, first_derivative_only
from factpin.layers.multilabel_loss import positive_loss
from factpin.layers.places import CellIndices

ROWS = 64  # rows of a tile: more rows waste cells under the diagonal, fewer make small products


def cells_that_exist(real: Tensor, max_span: int | None) -> Tensor:
    """real (B, N) -> (B, N, N), True where tokens i..j can be a span."""
    N = real.shape[1]
    band = torch.ones(N, N, dtype=torch.bool, device=real.device).triu()
    if max_span is not None:
        band = band.tril(max_span - 1)
    return real[:, :, None] & real[:, None, :] & band


@dataclass(frozen=True)
class Tile:
    """Rows top..bottom of one text against columns top..right, half-open."""

    text: int
    top: int
    bottom: int
    right: int


def tiles(real: Tensor, max_span: int | None) -> Iterator[Tile]:
    """Tiles that hold every existing cell once; a text costs by its length, and by max_span if given."""
    N = real.shape[1]
    flags = real.to(torch.uint8)
    first = flags.argmax(dim=1).tolist()
    last = (N - flags.flip(1).argmax(dim=1)).tolist()
    for text, (low, high, some) in enumerate(zip(first, last, real.any(dim=1).tolist(), strict=True)):
        for top in range(low, high if some else low, ROWS):
            bottom = min(top + ROWS, high)
            yield Tile(text, top, bottom, high if max_span is None else min(high, bottom - 1 + max_span))


def tiled_loss(
    qk: Tensor, real: Tensor, max_span: int | None, positives: CellIndices, known: Tensor | None = None
) -> Tensor:
    """loss (B, L); the positives are cells that exist, each once; negatives count where known (B, L), if given."""
    return _Loss.apply(qk, real, max_span, positives, known)  # type: ignore[no-untyped-call]


class _Loss(torch.autograd.Function):
    """The loss returns one scalar for each (text, label), so forward already computes the gradient up to that scalar.

    The running maximum starts at 0, the exponent of the 1 in the sum; what was summed under an older maximum is scaled.
    The gradient is one tensor, as the argument is, and backward scales it in place: it can be used once.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx, qk: Tensor, real: Tensor, max_span: int | None, y: CellIndices, known: Tensor | None
    ) -> Tensor:
        q, k = qk.unbind(3)  # 2 x (B, N, L, d)
        B, _, L, _ = q.shape
        wanted = ctx.needs_input_grad[0]  # type: ignore[attr-defined]
        dqk = torch.zeros_like(qk) if wanted else qk.new_zeros(0, 0, 0, 2, 0)
        dq, dk = dqk.unbind(3)
        top, total = q.new_zeros(B, L, 1, 1), q.new_ones(B, L, 1, 1)
        holes = _texts_with_holes(real)
        with exact(q):
            for tile in tiles(real, max_span):
                s = _scores(q, k, tile)  # (L, rows, columns)
                _mask(s, tile, real if holes[tile.text] else None, max_span)
                here = (y.batch == tile.text) & (y.start >= tile.top) & (y.start < tile.bottom)
                s[y.label[here], y.start[here] - tile.top, y.end[here] - tile.top] = -torch.inf
                old, sum_ = top[tile.text], total[tile.text]  # (L, 1, 1)
                new = torch.maximum(old, s.amax(dim=(1, 2), keepdim=True))
                scale = (old - new).exp_()
                p = s.sub_(new).exp_()
                sum_.mul_(scale).add_(p.sum(dim=(1, 2), keepdim=True))
                if wanted:
                    _add_gradients(p, q, k, dq, dk, tile, scale)
                old.copy_(new)
            s = (q[y.batch, y.start, y.label] * k[y.batch, y.end, y.label]).sum(dim=-1)  # (P,)
            group = y.batch * L + y.label
            pos = positive_loss(s, group, B * L)
        counts = q.new_ones(B, L) if known is None else known.to(q.dtype)
        if wanted:
            dqk.mul_((counts / total.view(B, L)).view(B, 1, L, 1, 1))
            p = (-s - pos[group]).exp_()[:, None]  # (P, 1)
            dq.index_put_((y.batch, y.start, y.label), -p * k[y.batch, y.end, y.label], accumulate=True)
            dk.index_put_((y.batch, y.end, y.label), -p * q[y.batch, y.start, y.label], accumulate=True)
            ctx.gradient = dqk  # type: ignore[attr-defined]
        return (top + total.log()).view(B, L) * counts + pos.view(B, L)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        first_derivative_only()
        dqk: Tensor | None = ctx.gradient  # type: ignore[attr-defined]
        if dqk is None:
            raise BadInput("The gradient of this loss was asked for twice (retain_graph). Compute the loss again.")
        ctx.gradient = None  # type: ignore[attr-defined]
        return dqk.mul_(grad[:, None, :, None, None]), None, None, None, None


def _scores(q: Tensor, k: Tensor, tile: Tile) -> Tensor:
    rows = q[tile.text, tile.top : tile.bottom].transpose(0, 1)  # (L, rows, d)
    columns = k[tile.text, tile.top : tile.right].permute(1, 2, 0)  # (L, d, columns)
    return rows @ columns


def _mask(s: Tensor, tile: Tile, real: Tensor | None, max_span: int | None) -> None:
    """Set the cells of a tile that do not exist to -inf, in place; `real` is given where a text has holes."""
    rows = tile.bottom - tile.top
    ones = torch.ones(s.shape[1:], dtype=torch.bool, device=s.device)
    s[:, :, :rows].masked_fill_(ones[:, :rows].tril(-1), -torch.inf)
    if max_span is not None and s.shape[2] > max_span:
        s[:, :, max_span:].masked_fill_(ones[:, max_span:].triu(), -torch.inf)
    if real is not None:
        s.masked_fill_(~real[tile.text, tile.top : tile.bottom, None], -torch.inf)
        s.masked_fill_(~real[tile.text, tile.top : tile.right], -torch.inf)


def _add_gradients(p: Tensor, q: Tensor, k: Tensor, dq: Tensor, dk: Tensor, tile: Tile, scale: Tensor) -> None:
    """Rescale the values of this text in dq and dk, and add the tile's p k and p^T q."""
    if bool((scale < 1).any()):
        dq[tile.text].mul_(scale.view(-1, 1))
        dk[tile.text].mul_(scale.view(-1, 1))
    rows, columns = slice(tile.top, tile.bottom), slice(tile.top, tile.right)
    dq[tile.text, rows] = (p @ k[tile.text, columns].transpose(0, 1)).transpose(0, 1)
    dk[tile.text, columns] += (p.mT @ q[tile.text, rows].transpose(0, 1)).transpose(0, 1)


def _texts_with_holes(real: Tensor) -> list[bool]:
    starts = (real[:, 1:] & ~real[:, :-1]).sum(dim=1) + real[:, 0]  # runs of real tokens
    return [bool(flag) for flag in (starts > 1).tolist()]
