"""Calibration where the answer is known."""

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.scoring import calibration


def test_perfectly_calibrated_scores_have_no_error():
    outcomes = [(0.75, i % 4 != 0) for i in range(40)] + [(0.2, i % 5 == 0) for i in range(50)] + [(1.0, True)] * 3
    found = calibration(outcomes)
    assert found.ece == pytest.approx(0)
    assert [(b.count, pytest.approx(b.score)) for b in found.table] == [(50, 0.2), (40, 0.75), (3, 1.0)]
    assert all(b.score == pytest.approx(b.accuracy) for b in found.table)


def test_overconfidence_is_the_gap():
    found = calibration([(0.9, False), (0.9, True)])
    assert found.ece == pytest.approx(0.4)
    assert found.brier == pytest.approx((0.81 + 0.01) / 2)


def test_it_equals_a_loop_over_the_definition():
    rng = np.random.default_rng(0)
    outcomes = [(float(s), bool(rng.random() < s**2)) for s in rng.random(500)] + [
        (0.0, False),
        (1.0, True),
        (0.3, True),
    ]
    expected = 0.0
    for b in range(10):
        inside = [o for o in outcomes if b / 10 < o[0] <= (b + 1) / 10 or (b == 0 and o[0] == 0)]
        if inside:
            score, right = (sum(column) / len(inside) for column in zip(*inside, strict=True))
            expected += len(inside) / len(outcomes) * abs(score - right)
    found = calibration(outcomes)
    assert found.ece == pytest.approx(expected)
    assert sum(b.count for b in found.table) == found.count == 503


def test_a_score_on_an_edge_belongs_to_the_bin_below():
    table = calibration([(0.5, True), (0.0, False), (0.51, True)]).table
    assert [(round(b.low, 1), round(b.high, 1), b.count) for b in table] == [(0, 0.1, 1), (0.4, 0.5, 1), (0.5, 0.6, 1)]


def test_no_scores_and_bad_scores():
    assert calibration([]).ece == 0 and calibration([]).table == ()
    with pytest.raises(BadInput, match="0 to 1"):
        calibration([(1.5, True)])
    with pytest.raises(BadInput, match="0 to 1"):
        calibration([(float("nan"), True)])
