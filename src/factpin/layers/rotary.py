"""Rotary positions: a dot product of rotated vectors depends on content and on the distance j - i only.

x      vectors            (B, N, ..., d)
turn   cos and sin tables 2 x (N, d / 2)

the pair (2m, 2m + 1) of token i is rotated by the angle i * BASE^(-2m / d)
"""

from functools import lru_cache

import torch
from torch import Tensor

from factpin.layers.exact import is_recorded

BASE = 10000.0


def turns(n: int, d: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """cos and sin of every angle, 2 x (n, d / 2) in float32; tables are kept for lengths rounded up to a power of 2."""
    if is_recorded():  # a traced tensor must not enter the cache
        return _table(n, d, device)
    cos, sin = _kept(1 << max(n - 1, 0).bit_length(), d, device)
    return cos[:n], sin[:n]


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate each pair of x (B, N, ..., d) by the angle of its token; the shape stays.

    cos and sin (N, d / 2), or (N, c, d / 2) where the c vectors before the last axis are scaled as well as rotated.
    """
    between = (1,) * (x.dim() - 1 - cos.dim())
    cos, sin = (table.view(table.shape[0], *between, *table.shape[1:]) for table in (cos, sin))
    even, odd = x.view(*x.shape[:-1], -1, 2).unbind(-1)  # 2 x (B, N, ..., d / 2)
    return torch.stack(
        (torch.addcmul(even * cos, odd, sin, value=-1), torch.addcmul(odd * cos, even, sin)), dim=-1
    ).flatten(-2)


def _table(n: int, d: int, device: torch.device) -> tuple[Tensor, Tensor]:
    speed = BASE ** (-torch.arange(0, d, 2, device=device, dtype=torch.float64) / d)  # (d / 2,)
    angle = torch.arange(n, device=device, dtype=torch.float64)[:, None] * speed  # (n, d / 2)
    return angle.cos().float(), angle.sin().float()


@lru_cache(maxsize=64)
def _kept(n: int, d: int, device: torch.device) -> tuple[Tensor, Tensor]:
    with torch.inference_mode(False):  # a table first made while predicting must serve training too
        return _table(n, d, device)
