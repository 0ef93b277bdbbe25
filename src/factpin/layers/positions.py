"""Positions: how a network knows where a cell is, or how far two cells are apart.

    sinusoid       sin and cos of position · 10000^(-2i/D), interleaved (s c s c …) or concatenated (s s … c c …)
    distances      i - j of query i and key j as one row of numbers, which `shift` lays out as a matrix
    buckets        one number for a range of distances, exact when near, logarithmic when far (T5, MPNet)
    functional     sinusoids of distances up to a limit, beyond it the limit's (NEZHA); not learned

`shift` is the trick of Transformer-XL: with Q queries after K - Q older keys, what was computed for distances

    left    K - 1, …, 0             (K numbers)          both    K, …, 1 - Q          (K + Q numbers)

becomes row i, column j at distance i + K - Q - j, without an index. Under `left` the cells of negative distance hold
other numbers: a causal mask must hide them. Where cells are not consecutive (packed views, queries of targets),
`by_index` finds the same numbers by index.
"""

import math
from typing import Literal

import torch
from torch import Tensor

Layout = Literal["interleaved", "concatenated"]
Ways = Literal["left", "both"]

LONGEST_WAVE = 10_000.0


def sinusoid(at: Tensor, width: int, layout: Layout = "interleaved", dtype: torch.dtype = torch.float32) -> Tensor:
    """at (…) positions -> (…, width). The two layouts are the same columns in another order."""
    rate = LONGEST_WAVE ** (-torch.arange(0, width, 2, device=at.device, dtype=torch.float64) / width)
    angle = at[..., None] * rate  # (…, width / 2), double: far positions keep their digits
    waves = (angle.sin(), angle.cos())
    both = torch.stack(waves, dim=-1).flatten(-2) if layout == "interleaved" else torch.cat(waves, dim=-1)
    return both[..., :width].to(dtype)


def distances(queries: int, keys: int, ways: Ways) -> Tensor:
    """(R,) the distances for which `shift` needs a number, in its order."""
    return torch.arange(keys - 1, -1, -1) if ways == "left" else torch.arange(keys, -queries, -1)


def shift(s: Tensor, keys: int, ways: Ways) -> Tensor:
    """s (…, Q, R) by distance -> (…, Q, K) by key."""
    *batch, Q, R = s.shape
    if ways == "left":
        s = torch.cat([s.new_zeros(*batch, Q, 1), s], dim=-1)  # (…, Q, R + 1)
        R += 1
    s = s.reshape(*batch, R, Q)[..., 1:, :]  # each row now begins one cell later than the row above it
    return s.reshape(*batch, Q, R - 1)[..., :keys]


def by_index(s: Tensor, index: Tensor) -> Tensor:
    """s (B, heads, Q, R), index (B, Q, K) into R -> (B, heads, Q, K)."""
    return s.gather(-1, index[:, None].expand(-1, s.shape[1], -1, -1))


def sum_by_index(p: Tensor, index: Tensor, size: int) -> Tensor:
    """p (B, heads, Q, K), index (B, Q, K) -> (B, heads, Q, size): the sum of p over the keys of each number."""
    return p.new_zeros(*p.shape[:-1], size).scatter_add(-1, index[:, None].expand_as(p), p)


def buckets(ahead: Tensor, *, count: int = 32, farthest: int = 128, ways: Ways = "both") -> Tensor:
    """ahead = key - query, any shape -> 0..count.

    Half of a direction's buckets hold one distance each; the others grow up to `farthest`, and the last has all beyond.
    """
    if ways == "both":
        count //= 2
        start, far = count * (ahead > 0).long(), ahead.abs()
    else:
        start, far = torch.zeros_like(ahead), (-ahead).clamp(min=0)
    near = count // 2
    # single precision as in public code: a rounding at a border would move a distance into another bucket
    grown = torch.log(far.clamp(min=1).float() / near) / math.log(farthest / near) * (count - near)
    return start + torch.where(far < near, far, (near + grown.long()).clamp(max=count - 1))


def functional(width: int, limit: int = 64, dtype: torch.dtype = torch.float32) -> Tensor:
    """(2 limit + 1, width): row r is the vector of key - query = r - limit."""
    return sinusoid(torch.arange(2 * limit + 1), width, "interleaved", dtype)
