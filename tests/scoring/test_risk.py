"""Risk, coverage and retrieval: by hand, by definition, and whatever the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.errors import BadInput
from factpin.scoring.means import mean
from factpin.scoring.retrieval import all_gold_at, recall_at
from factpin.scoring.risk import coverage_at, precision_at, risk_coverage, threshold_at

FOUR = [(0.9, True), (0.7, False), (0.5, True), (0.1, False)]
OUTCOMES = st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans()), min_size=1, max_size=20)


def test_the_curve_by_hand() -> None:
    curve = risk_coverage(FOUR)
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert curve.risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert curve.least == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)
    assert curve.excess == pytest.approx(1 / 8)


def test_unanswered_questions_bound_the_coverage() -> None:
    assert risk_coverage(FOUR, questions=8).coverage.tolist() == [0.125, 0.25, 0.375, 0.5]
    assert precision_at(FOUR, 0.25) == 1.0 and precision_at(FOUR, 0.5) == 0.5
    assert precision_at(FOUR, 0.5, questions=8) == 0.5
    assert precision_at(FOUR, 0.75, questions=8) is None


def test_ties_count_by_their_expectation() -> None:
    assert risk_coverage([(0.5, True), (0.5, False)]).risk.tolist() == [0.5, 0.5]
    assert precision_at([(0.5, True), (0.5, False)], 0.5) == 0.5


@given(OUTCOMES, st.randoms())
def test_nothing_depends_on_the_order(outcomes: list[tuple[float, bool]], chance: object) -> None:
    curve = risk_coverage(outcomes)
    mixed = list(outcomes)
    chance.shuffle(mixed)
    assert np.allclose(risk_coverage(mixed).risk, curve.risk)
    assert curve.risk[-1] == pytest.approx(sum(not right for _, right in outcomes) / len(outcomes))
    assert -1e-9 <= curve.least <= curve.area + 1e-9 <= 1 + 2e-9


@given(OUTCOMES, st.sampled_from([0.5, 0.8, 1.0]))
def test_the_threshold_is_the_lowest_with_that_precision(outcomes: list[tuple[float, bool]], wanted: float) -> None:
    def precision(cut: float) -> float:
        kept = [right for score, right in outcomes if score >= cut]
        return sum(kept) / len(kept)

    good = [cut for cut in sorted({score for score, _ in outcomes}) if precision(cut) >= wanted]
    assert threshold_at(outcomes, wanted) == (good[0] if good else None)
    share = sum(score >= good[0] for score, _ in outcomes) / len(outcomes) if good else 0.0
    assert coverage_at(outcomes, wanted) == pytest.approx(share)


def test_of_nothing_there_is_nothing() -> None:
    assert risk_coverage([]).area == 0.0
    assert threshold_at([], 0.8) is None and precision_at([], 0.5) is None and coverage_at([], 0.5) == 0.0


def test_what_makes_no_sense_is_refused() -> None:
    for bad in (0.0, 1.5):
        with pytest.raises(BadInput, match="expected more than 0"):
            precision_at(FOUR, bad)
        with pytest.raises(BadInput, match="expected more than 0"):
            threshold_at(FOUR, bad)
    with pytest.raises(BadInput, match="less than its 4 answers"):
        risk_coverage(FOUR, questions=3)


def test_recall_and_all_gold() -> None:
    gold = [{"a"}, {"a", "b"}, set()]
    ranked = [["c", "a"], ["b", "c", "d", "a"], ["a"]]
    assert recall_at(gold, ranked, 1).tolist() == [[0, 1], [0.5, 1], [0, 0]]
    assert mean(recall_at(gold, ranked, 2)) == pytest.approx(0.75)
    assert all_gold_at(gold, ranked, 2).tolist() == [[1, 1], [0, 1], [0, 0]]
    assert mean(all_gold_at(gold, ranked, 4)) == 1.0
    with pytest.raises(BadInput, match="k is 0"):
        recall_at(gold, ranked, 0)
    with pytest.raises(BadInput, match="3 questions and a ranking for 1"):
        all_gold_at(gold, ranked[:1], 1)
