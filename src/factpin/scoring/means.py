"""Metrics that are means over questions, as rows that `intervals` can resample.

A row is (value, 1) for a question that the metric applies to, and (0, 0) otherwise. The metric is the sum of the values
divided by the sum of the ones.
"""

from collections.abc import Sequence

import numpy as np

from factpin.scoring.counts import Floats, Rows, divide
from factpin.scoring.intervals import interval


def as_mean_rows(values: Sequence[float | None]) -> Rows:
    """One row per question: (questions, 2). A value is None if the metric does not apply."""
    pairs = [(0.0, 0.0) if value is None else (value, 1.0) for value in values]
    return np.array(pairs, np.float64).reshape(len(pairs), 2)


def mean_of(totals: Floats) -> Floats:
    """Totals of rows (..., 2) -> mean over the questions that the metric applies to (...)."""
    return divide(totals[..., 0], totals[..., 1])


def mean(rows: Rows) -> float:
    """The mean over all questions."""
    return float(mean_of(rows.sum(axis=0)))


def mean_interval(rows: Rows, *, samples: int = 1000, seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """The bootstrap interval of a mean over questions."""
    return interval(rows, statistic=mean_of, samples=samples, seed=seed, level=level)
