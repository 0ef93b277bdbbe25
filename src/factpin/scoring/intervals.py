"""Confidence intervals and p-values by resampling the rows of documents.

    x     rows                      (D, C)      D documents, C columns of counts
    n     documents with equal rows (K,)        K distinct rows
    w     drawn documents           (S, K)      S samples, each row sums to D:  w ~ Multinomial(D, n / D)
    w x   totals of every sample    (S, C)

The sum over D documents drawn with replacement only depends on the distinct rows, so K instead of D columns are drawn.
The distribution is that of the plain bootstrap over documents.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from factpin.errors import BadInput
from factpin.scoring.counts import Floats, Rows, f1_of

Statistic: TypeAlias = Callable[[Floats], Floats]  # totals (S, C) -> metric (S,)
TIE = 1e-12  # smaller differences are ties: rounding must not decide a p-value


class PairedDifference(NamedTuple):
    """first - second, with its interval and the two-sided p-value for equal systems."""

    difference: float
    interval: tuple[float, float]
    p_value: float


def interval(
    rows: Rows, *, statistic: Statistic = f1_of, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """The percentile bootstrap interval of statistic(sum of rows)."""
    return _middle(statistic(_totals(rows, samples, seed)), level)


def paired_bootstrap(
    first: Rows, second: Rows, *, statistic: Statistic = f1_of, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> PairedDifference:
    """Compare two systems on the same resampled documents.

    d is the difference on all documents, d_s on sample s. If the systems were equal, the d_s would vary around 0 as
    they do around d: p = (1 + number of |d_s - d| >= |d|) / (1 + S). Equal predictions give 1, and p is never 0.
    """
    both, split = _side_by_side(first, second)
    difference = _difference(both.sum(axis=0)[None], split, statistic)[0]
    drawn = _difference(_totals(both, samples, seed), split, statistic)  # (S,)
    return PairedDifference(
        float(difference), _middle(drawn, level), _share(np.abs(drawn - difference), abs(difference))
    )


def paired_randomization(
    first: Rows, second: Rows, *, statistic: Statistic = f1_of, samples: int = 1000, seed: int = 0
) -> float:
    """p-value by approximate randomization: each sample swaps the two rows of each document at random."""
    both, split = _side_by_side(first, second)
    observed = _difference(both.sum(axis=0)[None], split, statistic)[0]
    x, n = np.unique(both, axis=0, return_counts=True)  # (K, 2C), (K,)
    changed = np.random.default_rng(seed).binomial(n, 0.5, size=(_checked(samples), len(n)))  # (S, K)
    swapped = np.concatenate([x[:, split:], x[:, :split]], axis=1)
    totals = (n - changed) @ x + changed @ swapped  # (S, 2C)
    return _share(np.abs(_difference(totals, split, statistic)), abs(observed))


def _totals(rows: Rows, samples: int, seed: int) -> Floats:
    if not len(rows):
        return np.zeros((_checked(samples), rows.shape[1]))
    x, n = np.unique(rows, axis=0, return_counts=True)  # (K, C), (K,)
    w = np.random.default_rng(seed).multinomial(len(rows), n / len(rows), size=_checked(samples))  # (S, K)
    return w @ x  # (S, C)


def _side_by_side(first: Rows, second: Rows) -> tuple[Rows, int]:
    if first.shape != second.shape:
        raise BadInput(
            f"expected rows of the same documents, got {first.shape} and {second.shape}. "
            f"Score both against the same gold."
        )
    return np.concatenate([first, second], axis=1), first.shape[1]


def _difference(totals: Floats, split: int, statistic: Statistic) -> Floats:
    return statistic(totals[:, :split]) - statistic(totals[:, split:])


def _middle(figures: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(figures, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _share(distances: Floats, at_least: float) -> float:
    return float((1 + np.count_nonzero(distances >= at_least - TIE)) / (1 + len(distances)))


def _checked(samples: int) -> int:
    if samples < 1:
        raise BadInput(f"samples is {samples}; expected 1 or more.")
    return samples
