"""Coreference against published worked examples, and CEAF-e against trying every assignment."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factpin.scoring import Pair, coreference
from tests.scoring import make


def clusters(*groups: str):
    """Every letter is a mention."""
    return [frozenset((ord(letter), ord(letter) + 1) for letter in group) for group in groups]


def figures(gold, predicted):
    """metric -> precision, recall, F1."""
    rows = coreference.agreement(gold, predicted)
    return {
        name: tuple(float(x) for x in coreference.figures(row))
        for name, row in zip(coreference.METRICS, rows, strict=True)
    }


def test_the_example_of_pradhan_et_al_2014():
    found = figures(clusters("abc", "defg"), clusters("ab", "cd", "fghi"))
    assert found["muc"] == pytest.approx((0.4, 0.4, 0.4))
    assert found["b_cubed"] == pytest.approx((4 / 8, 35 / 12 / 7, 2 * 0.5 * (5 / 12) / (0.5 + 5 / 12)))
    assert found["ceaf_e"] == pytest.approx((1.3 / 3, 1.3 / 2, 0.52))


def test_the_example_of_vilain_et_al_1995():
    assert figures(clusters("abcd"), clusters("ab", "cd"))["muc"][:2] == pytest.approx((1, 2 / 3))
    assert figures(clusters("ab", "cd"), clusters("abcd"))["muc"][:2] == pytest.approx((2 / 3, 1))


def test_the_two_responses_of_bagga_and_baldwin_1998():
    """MUC cannot tell them apart, B-cubed can."""
    gold = clusters("12345", "67", "89ABC")
    first = figures(gold, clusters("12345", "6789ABC"))
    second = figures(gold, clusters("1234589ABC", "67"))
    assert first["muc"] == pytest.approx(second["muc"]) and first["muc"][:2] == pytest.approx((0.9, 1))
    assert first["b_cubed"][:2] == (pytest.approx(0.76, abs=0.005), pytest.approx(1))
    assert second["b_cubed"][:2] == (pytest.approx(0.58, abs=0.005), pytest.approx(1))


partitions = st.lists(st.integers(-1, 3), min_size=8, max_size=8).map(
    lambda groups: [
        frozenset((i, i + 1) for i, g in enumerate(groups) if g == group) for group in sorted(set(groups) - {-1})
    ]
)


@given(partitions, partitions)
@settings(max_examples=150, deadline=None)
def test_all_three_equal_loops_over_their_definitions(gold, predicted):
    def similarity(k, r):
        return 2 * len(k & r) / (len(k) + len(r))

    few, many = sorted((gold, predicted), key=len)
    best = max(sum(map(similarity, few, order)) for order in permutations(many, len(few)))

    def links(side, other):
        kept = there = 0
        for cluster in side:
            parts = {next((j for j, o in enumerate(other) if span in o), span) for span in cluster}
            kept, there = kept + len(cluster) - len(parts), there + len(cluster) - 1
        return kept, there

    def overlap(side, other):
        spans = [(span, cluster) for cluster in side for span in cluster]
        return sum(len(c & o) / len(c) for span, c in spans for o in other if span in o), len(spans)

    expected = [
        [*links(predicted, gold), *links(gold, predicted)],
        [*overlap(predicted, gold), *overlap(gold, predicted)],
        [best, len(predicted), best, len(gold)],
    ]
    assert coreference.agreement(gold, predicted) == pytest.approx(np.array(expected))


@given(partitions)
@settings(max_examples=30, deadline=None)
def test_a_perfect_prediction_scores_one(gold):
    found = figures(gold, list(reversed(gold)))
    assert found["b_cubed"] == found["ceaf_e"] == pytest.approx((1, 1, 1) if gold else (0, 0, 0))
    assert found["muc"][2] == pytest.approx(1 if any(len(c) > 1 for c in gold) else 0)


def test_empty_sides_divide_nothing():
    for gold, predicted in (([], []), (clusters("ab"), []), ([], clusters("ab"))):
        assert all(f1 == 0 for _, _, f1 in figures(gold, predicted).values())


def test_documents_add_up_numerators_and_denominators():
    first = make.relations({"e": [(0, 1), (2, 3)], "f": [(4, 5)]}, [])
    second = make.relations({"e": [(0, 1), (2, 3), (6, 7)]}, [])
    rows = coreference.score([Pair(first, first), Pair(second, first), Pair(first, make.spans())])
    assert rows["muc"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 2], [0, 0, 0, 1]]
    assert rows["b_cubed"][:, 3].tolist() == [3, 3, 3]


def test_a_span_of_several_entities_counts_in_the_largest_whatever_their_order():
    entities = {"a": [(0, 1), (2, 3)], "b": [(2, 3), (4, 5), (6, 7)], "c": [(0, 1)]}
    gold, turned = make.relations(entities, []), make.relations(dict(reversed(entities.items())), [])
    assert set(coreference.clusters(gold)) == {frozenset({(0, 1)}), frozenset({(2, 3), (4, 5), (6, 7)})}
    rows = coreference.score([Pair(gold, turned)])
    assert all(coreference.figures(values.sum(axis=0))[2] == 1 for values in rows.values())
