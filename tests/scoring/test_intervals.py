"""The bootstrap: against a plain loop, and where its answer is known."""

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.scoring import interval, paired_bootstrap, paired_randomization
from factpin.scoring.counts import f1_of


def corpus(documents: int, accuracy: float, seed: int = 1):
    """Five gold spans a document, each found with the given chance."""
    right = np.random.default_rng(seed).binomial(5, accuracy, size=documents)
    return np.stack([right, 0 * right, 5 - right, 5 - right], axis=1).astype(float)


def test_the_interval_holds_the_figure_and_shrinks_with_more_documents():
    widths = []
    for documents in (50, 500, 5000):
        rows = corpus(documents, 0.8)
        low, high = interval(rows)
        assert low < float(f1_of(rows.sum(axis=0))) < high
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_the_interval_is_that_of_drawing_documents_one_by_one():
    rows = corpus(60, 0.7)
    rng = np.random.default_rng(3)
    plain = [float(f1_of(rows[rng.integers(0, 60, size=60)].sum(axis=0))) for _ in range(4000)]
    assert interval(rows, samples=4000) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=0.008)


def test_a_seed_gives_the_same_interval_and_another_seed_another():
    rows = corpus(40, 0.6)
    assert interval(rows, seed=5) == interval(rows, seed=5) != interval(rows, seed=6)


def test_the_order_of_documents_changes_nothing():
    rows = corpus(40, 0.6)
    assert interval(rows) == interval(rows[::-1].copy())


def test_equal_predictions_have_p_one():
    rows = corpus(100, 0.7)
    found = paired_bootstrap(rows, rows)
    assert (found.difference, found.interval, found.p_value) == (0, (0, 0), 1)
    assert paired_randomization(rows, rows) == 1


def test_a_clearly_better_prediction_has_a_small_p_and_signs_agree():
    good, bad = corpus(200, 0.9, seed=1), corpus(200, 0.7, seed=2)
    found = paired_bootstrap(good, bad)
    assert 0.15 < found.difference < 0.25 and found.interval[0] > 0
    assert found.p_value < 0.01 and paired_randomization(good, bad) < 0.01
    back = paired_bootstrap(bad, good)
    assert back.difference == pytest.approx(-found.difference) and back.p_value < 0.01


def test_p_is_roughly_uniform_where_nothing_differs():
    values = [
        paired_bootstrap(corpus(80, 0.7, seed=2 * s), corpus(80, 0.7, seed=2 * s + 1), samples=200).p_value
        for s in range(200)
    ]
    assert 0.01 <= np.mean(np.array(values) < 0.05) <= 0.12
    assert 0.35 < np.mean(values) < 0.65


def test_no_documents_give_zeros():
    nothing = np.zeros((0, 4))
    assert interval(nothing) == (0, 0)
    assert paired_bootstrap(nothing, nothing).p_value == 1


def test_rows_of_different_documents_are_refused():
    with pytest.raises(BadInput, match="same gold"):
        paired_bootstrap(corpus(3, 0.5), corpus(4, 0.5))
    with pytest.raises(BadInput, match="samples"):
        interval(corpus(3, 0.5), samples=0)
