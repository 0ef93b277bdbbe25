"""Places in a (B, L, N, N) tensor that is never made: four columns of one length."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Places:
    batch: Tensor  # (P,) int64
    label: Tensor  # (P,) int64
    start: Tensor  # (P,) int64
    end: Tensor  # (P,) int64

    @staticmethod
    def join(parts: "list[Places]", device: torch.device) -> "Places":
        """All parts, one after the other; there may be none."""
        none = [torch.zeros(0, dtype=torch.int64, device=device)]
        return Places(
            torch.cat([part.batch for part in parts] + none),
            torch.cat([part.label for part in parts] + none),
            torch.cat([part.start for part in parts] + none),
            torch.cat([part.end for part in parts] + none),
        )


def pieces(x: Tensor, size: int) -> Iterator[Tensor]:
    """x (P, ...) in pieces of at most `size`; none if x is empty."""
    for at in range(0, x.shape[0], max(1, size)):
        yield x[at : at + max(1, size)]
