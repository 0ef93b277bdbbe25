"""Whether a score of 0.8 is right in 8 of 10 cases: scores and outcomes come in, a reliability table goes out.

ECE   = sum over bins of (share of the bin) * |mean score - share that is right|     bins of equal width
Brier = mean of (score - right)^2
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.errors import BadInput


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores in low < s <= high (the first bin holds 0 too)."""

    low: float
    high: float
    count: int
    score: float  # their mean
    accuracy: float  # the share of them that is right


@dataclass(frozen=True, slots=True)
class Calibration:
    ece: float
    brier: float
    count: int
    table: tuple[Bin, ...]  # bins that hold something


def calibration(outcomes: Sequence[tuple[float, bool]], *, bins: int = 10) -> Calibration:
    """(score, right?) of every prediction -> error and table; without predictions both errors are 0."""
    if bins < 1:
        raise BadInput(f"bins is {bins}; expected 1 or more, 10 is usual.")
    pairs = np.array(outcomes, dtype=np.float64).reshape(len(outcomes), 2)
    s, right = pairs[:, 0], pairs[:, 1]  # (N,), (N,)
    if not bool(np.all((s >= 0) & (s <= 1))):
        raise BadInput("scores are expected to lie in 0 to 1; fit a temperature, or pass probabilities.")
    if not len(s):
        return Calibration(0.0, 0.0, 0, ())
    edges = np.linspace(0, 1, bins + 1)
    bin = np.clip(np.searchsorted(edges, s, side="left") - 1, 0, bins - 1)  # (N,)
    n = np.bincount(bin, minlength=bins)
    sums = np.bincount(bin, weights=s, minlength=bins), np.bincount(bin, weights=right, minlength=bins)
    table = tuple(
        Bin(float(edges[b]), float(edges[b + 1]), int(n[b]), float(sums[0][b] / n[b]), float(sums[1][b] / n[b]))
        for b in np.flatnonzero(n)
    )
    ece = float(np.abs(sums[0] - sums[1]).sum() / len(s))
    return Calibration(ece, float(np.mean((s - right) ** 2)), len(s), table)
