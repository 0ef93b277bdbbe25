"""The assignment against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from factpin.scoring.assignment import best_assignment


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 10**6), st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_sum_is_that_of_scipy(rows, columns, seed, tied):
    rng = np.random.default_rng(seed)
    gain = rng.integers(-2, 3, size=(rows, columns)).astype(float) if tied else rng.normal(size=(rows, columns))
    chosen = best_assignment(gain)
    assert len(chosen) == len({i for i, _ in chosen}) == len({j for _, j in chosen}) == min(rows, columns)
    best = gain[linear_sum_assignment(gain, maximize=True)].sum()
    assert sum(gain[i, j] for i, j in chosen) == pytest.approx(best)


def test_a_greedy_choice_is_not_the_best():
    assert best_assignment(np.array([[0.9, 0.8], [0.8, 0.1]])) == [(0, 1), (1, 0)]
