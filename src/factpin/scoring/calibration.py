"""Calibration: are predictions with a score of 0.8 right in 8 of 10 cases? Computes errors and a reliability table.

ECE   = sum over bins of (share of the bin) * |mean score - share that is right|     bins of equal width
Brier = mean of (score - right)^2
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.errors import BadInput


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores with low < s <= high (the first bin includes 0)."""

    low: float
    high: float
    count: int
    score: float  # their mean
    accuracy: float  # the share that is right


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration errors and the reliability table."""

    ece: float
    brier: float
    count: int
    table: tuple[Bin, ...]  # non-empty bins


def calibration(outcomes: Sequence[tuple[float, bool]], *, bins: int = 10) -> Calibration:
    """Errors and table from (score, right?) of every prediction. Without predictions, both errors are 0."""
    if bins < 1:
        raise BadInput(f"bins is {bins}; expected 1 or more.")
    pairs = np.array(outcomes, dtype=np.float64).reshape(len(outcomes), 2)
    s, right = pairs[:, 0], pairs[:, 1]  # (N,), (N,)
    if not bool(np.all((s >= 0) & (s <= 1))):
        raise BadInput("a score is outside 0 to 1; expected probabilities. Fit a temperature first.")
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
