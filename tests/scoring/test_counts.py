"""The arithmetic of counts."""

import numpy as np
import pytest

from factpin.scoring.counts import Counts, as_rows, by_label, f1_of, macro, row, total


def test_figures_follow_from_the_counts():
    counts = Counts(tp=3, fp=1, fn=2)
    assert (counts.predicted, counts.gold) == (4, 5)
    assert (counts.precision, counts.recall) == (0.75, 0.6)
    assert counts.f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)


def test_a_partial_match_is_half_right_on_both_sides():
    counts = Counts(tp=1, partial=2, fp=1, fn=0)
    assert (counts.precision, counts.recall) == (0.5, pytest.approx(2 / 3))
    assert counts.f1 == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3))


def test_zero_by_zero_is_zero():
    assert (Counts().precision, Counts().recall, Counts().f1) == (0, 0, 0)
    assert Counts(fp=3).f1 == Counts(fn=3).f1 == 0


def test_rows_add_up_to_the_counts_and_their_f1():
    rows = as_rows([row(2, 3, 4), row(0, 0, 1), row(1, 2, 2, partial=1)])
    assert total(rows) == Counts(tp=3, partial=1, fp=1, fn=3) == Counts(3, 1, 2) + Counts(0, 0, 1, 1)
    assert f1_of(rows.sum(axis=0)) == pytest.approx(total(rows).f1)
    assert f1_of(np.zeros((2, 4))).tolist() == [0, 0]


def test_macro_is_the_mean_over_labels_of_gold_and_predictions():
    labels = by_label({"a": 1}, {"a": 1, "c": 2}, {"a": 1, "b": 1})
    assert labels == {"a": Counts(tp=1), "b": Counts(fn=1), "c": Counts(fp=2)}
    assert macro(labels.values())["f1"] == pytest.approx(1 / 3)
