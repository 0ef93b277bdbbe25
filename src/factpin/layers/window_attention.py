"""Attention of mentions or entities, kept for each window apart: what a long document has instead of (E, heads, N).

    rows     attention over the tokens of one window                  (T, heads, n)
    owner    the mention or entity of each row                        (T,)
    window   the window of each row                                   (T,)

A token i of window w is token start[w] + i of the document. The attention of an owner over the document is the sum of
its rows. Segments are the ranges of tokens between the borders of windows: inside one, the same windows are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class WindowAttention:
    """Rows of attention, each over one window."""

    rows: Tensor  # (T, heads, n), 0 outside `kept`
    owner: Tensor  # (T,)
    window: Tensor  # (T,) in order
    owners: int
    start: tuple[int, ...]  # of every window, in the tokens of the document
    kept: tuple[tuple[int, int], ...]  # the tokens of a window that are in the document
    tokens: int  # N of the document

    @staticmethod
    def whole(A: Tensor) -> "WindowAttention":
        """Attention (E, heads, N) over the whole document as one window."""
        E, _, N = A.shape
        owner = torch.arange(E, device=A.device)
        return WindowAttention(A, owner, torch.zeros_like(owner), E, (0,), ((0, N),), N)

    def mean(self, entity: Tensor, entities: int) -> "WindowAttention":
        """The mean over the mentions of each entity; entity (M,) of every mention."""
        share = 1.0 / torch.bincount(entity, minlength=entities).to(self.rows.dtype)  # (E,)
        mine = entity[self.owner]  # (T,)
        key, group = torch.unique(self.window * entities + mine, return_inverse=True)  # (G,), (T,)
        rows = self.rows.new_zeros(len(key), *self.rows.shape[1:])
        rows = rows.index_add(0, group, self.rows * share[mine][:, None, None])
        return replace(self, rows=rows, owner=key % entities, window=key // entities, owners=entities)

    def dense(self) -> Tensor:
        """A (owners, heads, N) over the whole document, which grows with the square of its length."""
        A = self.rows.new_zeros(self.owners, self.rows.shape[1], self.tokens)
        for start, (low, high), (first, last) in zip(self.start, self.kept, self.ranges, strict=True):
            whole = torch.nn.functional.pad(
                self.rows[first:last, :, low:high], (start + low, self.tokens - start - high)
            )
            A = A.index_add(0, self.owner[first:last], whole)
        return A

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """The rows of each window, half-open."""
        ends = torch.bincount(self.window, minlength=len(self.start)).cumsum(0).tolist()
        return list(zip([0, *ends], ends, strict=False))


@dataclass(frozen=True)
class Segment:
    """Tokens start:end of a document, the entities that are attended from the windows there, and their rows."""

    start: int
    end: int
    entity: Tensor  # (e,) in order
    parts: tuple[tuple[int, int, Tensor, int], ...]  # of each window: its rows first:last, their entities, first token

    def attention(self, rows: Tensor) -> Tensor:
        """X (n, e, heads)."""
        n = self.end - self.start
        X = rows.new_zeros(len(self.entity), rows.shape[1], n)
        for first, last, local, at in self.parts:
            X.index_add_(0, local, rows[first:last, :, at : at + n])
        return X.permute(2, 0, 1).contiguous()

    def add_gradient(self, drows: Tensor, dX: Tensor) -> None:
        """Add dX (n, e, heads) to the gradient of all rows."""
        d = dX.permute(1, 2, 0)  # (e, heads, n)
        for first, last, local, at in self.parts:
            drows[first:last, :, at : at + len(dX)] += d[local]


def segments(attention: WindowAttention) -> Iterator[Segment]:
    """The segments of a document that some entity is attended from."""
    spans = [(start + low, start + high) for start, (low, high) in zip(attention.start, attention.kept, strict=True)]
    borders = sorted({border for span in spans for border in span})
    first = 0
    for start, end in zip(borders, borders[1:], strict=False):
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        here = []
        for w in range(first, len(spans)):
            if spans[w][0] > start:
                break
            if spans[w][1] >= end and attention.ranges[w][0] < attention.ranges[w][1]:
                here.append(w)
        if here:
            yield _segment(attention, start, end, here)


def _segment(attention: WindowAttention, start: int, end: int, windows: list[int]) -> Segment:
    ranges = [attention.ranges[w] for w in windows]
    owners = [attention.owner[first:last] for first, last in ranges]
    entity, local = torch.unique(torch.cat(owners), return_inverse=True)
    parts = tuple(
        (first, last, own, start - attention.start[w])
        for (first, last), own, w in zip(ranges, torch.split(local, [len(o) for o in owners]), windows, strict=True)
    )
    return Segment(start, end, entity, parts)
