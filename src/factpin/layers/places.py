"""Indices of cells of a (B, L, N, N) tensor that is never built: four columns of one length."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class CellIndices:
    """The indices of positive cells."""

    batch: Tensor  # (P,) int64
    label: Tensor  # (P,) int64
    start: Tensor  # (P,) int64
    end: Tensor  # (P,) int64


def pieces(x: Tensor, size: int) -> Iterator[Tensor]:
    """x (P, ...) in pieces of at most `size`; none if x is empty."""
    for at in range(0, x.shape[0], max(1, size)):
        yield x[at : at + max(1, size)]
