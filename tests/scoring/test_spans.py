"""Spans against nervaluate and seqeval, and the places where factpin departs from them by name."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from factpin.scoring import Pair, macro, spans
from factpin.scoring.counts import Counts, total
from tests.scoring import make

LENGTH = 18
NERVALUATE = {"strict": "strict", "boundary": "exact", "partial": "partial", "type": "ent_type"}


@st.composite
def flat(draw: st.DrawFn) -> list[tuple[int, int, str]]:
    """Spans that do not overlap, in order."""
    cuts = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=10)))
    pieces = list(zip(cuts, cuts[1:], strict=False))
    kept = [piece for piece in pieces if draw(st.booleans())]
    return [(start, end, draw(st.sampled_from("xyz"))) for start, end in kept]


corpora = st.lists(st.tuples(flat(), flat()), min_size=1, max_size=4)


def scored(corpus):
    return spans.score([Pair(make.spans(*gold), make.spans(*predicted)) for gold, predicted in corpus])


def totals(gold, predicted) -> dict[str, Counts]:
    result = spans.score(make.pair(make.spans(*gold), make.spans(*predicted)))
    return {name: total(rows) for name, rows in result.rows.items()}


def as_dicts(labelled):
    return [{"start": start, "end": end - 1, "label": label} for start, end, label in labelled]


def as_tags(labelled):
    tags = ["O"] * LENGTH
    for start, end, label in labelled:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return tags


@given(corpora)
@settings(max_examples=200, deadline=None)
def test_flat_spans_equal_nervaluate_under_all_four_conventions(corpus):
    evaluator = Evaluator(
        [as_dicts(gold) for gold, _ in corpus], [as_dicts(p) for _, p in corpus], tags=["x", "y", "z"], loader="dict"
    )
    theirs = evaluator.evaluate()["overall"]
    for ours, name in NERVALUATE.items():
        counts = total(scored(corpus).rows[ours])
        other = theirs[name]
        assert (counts.tp, counts.partial) == (other.correct, other.partial), ours
        assert (counts.predicted, counts.gold) == (other.actual, other.possible), ours
        assert (counts.precision, counts.recall, counts.f1) == pytest.approx((other.precision, other.recall, other.f1))


@given(corpora)
@settings(max_examples=150, deadline=None)
def test_strict_equals_seqeval_in_strict_mode_micro_and_macro(corpus):
    gold, predicted = [as_tags(g) for g, _ in corpus], [as_tags(p) for _, p in corpus]
    scores = scored(corpus)
    counts = total(scores.rows["strict"])
    means = macro(scores.labels.values())
    if not scores.labels:
        assert counts == Counts() and means["f1"] == 0
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of labels that were never predicted
        for average, ours in (("micro", (counts.precision, counts.recall, counts.f1)), ("macro", means.values())):
            theirs = [
                figure(gold, predicted, average=average, mode="strict", scheme=IOB2, zero_division=0)
                for figure in (precision_score, recall_score, f1_score)
            ]
            assert list(ours) == pytest.approx(theirs), average


@given(corpora)
@settings(max_examples=50, deadline=None)
def test_every_convention_forgives_at_least_what_strict_does(corpus):
    rows = scored(corpus).rows
    strict = total(rows["strict"])
    for name, values in rows.items():
        counts = total(values)
        assert counts.f1 >= strict.f1
        assert (counts.gold, counts.predicted) == (strict.gold, strict.predicted), name


def test_split_predictions_count_gold_once():
    """nervaluate issue 29: recall over the two gold spans that there are."""
    counts = totals([(1, 3, "PER"), (3, 11, "PER")], [(1, 3, "PER"), (3, 6, "PER"), (6, 11, "PER")])
    assert counts["strict"] == counts["boundary"] == Counts(tp=1, fp=2, fn=1)
    assert counts["boundary"].recall == 0.5
    assert counts["partial"] == Counts(tp=1, partial=1, fp=1, fn=0)
    assert counts["type"] == Counts(tp=2, fp=1, fn=0)


def test_exact_first_an_overlapping_prediction_cannot_use_up_what_another_hits():
    gold, predicted = [(3, 6, "x")], [(1, 6, "x"), (3, 6, "x")]
    counts = totals(gold, predicted)
    assert counts["strict"] == counts["boundary"] == counts["partial"] == counts["type"] == Counts(tp=1, fp=1, fn=0)
    theirs = Evaluator([as_dicts(gold)], [as_dicts(predicted)], tags=["x"], loader="dict").evaluate()["overall"]
    assert theirs["strict"].correct == 0  # the departure: there the order of the predictions decides


def test_any_overlap_one_character_of_a_long_span_is_enough():
    text = "a" * 300
    gold, predicted = make.spans((0, 250, "x"), text=text), make.spans((249, 260, "x"), text=text)
    assert total(spans.score(make.pair(gold, predicted)).rows["type"]).tp == 1


def test_a_wrong_label_uses_the_gold_span_up_as_in_nervaluate():
    counts = totals([(0, 10, "y")], [(0, 3, "x"), (4, 10, "y")])
    assert counts["type"] == Counts(tp=0, fp=2, fn=1)


def test_two_labels_on_the_same_characters_are_two_spans():
    counts = totals([(0, 4, "x"), (0, 4, "y")], [(0, 4, "y")])
    assert counts["strict"] == counts["boundary"] == counts["type"] == Counts(tp=1, fn=1)


def test_nested_spans_that_are_all_right_score_one():
    nested = [(0, 8, "x"), (0, 3, "y"), (2, 8, "x"), (4, 5, "z")]
    for counts in totals(nested, list(reversed(nested))).values():
        assert counts == Counts(tp=4)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(9, 14), st.sampled_from("xy")), max_size=6, unique=True),
       st.lists(st.tuples(st.integers(0, 8), st.integers(9, 14), st.sampled_from("xy")), max_size=6, unique=True),
       st.randoms())  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_the_order_of_nested_spans_changes_nothing_and_exact_hits_always_count(gold, predicted, random):
    before = totals(gold, predicted)
    assert before["strict"].tp == len(set(gold) & set(predicted))
    assert all(counts.tp + counts.partial <= min(len(gold), len(predicted)) for counts in before.values())
    random.shuffle(gold)
    random.shuffle(predicted)
    assert totals(gold, predicted) == before


def test_repeated_predictions_count_once_with_their_best_score():
    gold = make.spans((0, 2, "x"))
    predicted = make.spans((0, 2, "x"), (0, 2, "x"), (5, 6, "x"), scores=(0.3, 0.9, 0.4))
    result = spans.score(make.pair(gold, predicted))
    assert total(result.rows["strict"]) == Counts(tp=1, fp=1)
    assert sorted(result.outcomes) == [(0.4, False), (0.9, True)]


def test_nothing_against_nothing_divides_nothing():
    for gold, predicted in ([], []), ([(0, 1, "x")], []), ([], [(0, 1, "x")]):
        for counts in totals(gold, predicted).values():
            assert (counts.precision, counts.recall, counts.f1) == (0, 0, 0)
    assert spans.score([]).rows["strict"].shape == (0, 4)
    assert macro([]) == {"precision": 0, "recall": 0, "f1": 0}


def test_confusions_name_kind_labels_count_and_an_example_in_brackets():
    gold = [(0, 3, "org"), (4, 7, "org"), (8, 12, "per"), (20, 22, "per")]
    predicted = [(0, 3, "loc"), (4, 7, "loc"), (8, 11, "per"), (30, 32, "loc")]
    found = spans.score(make.pair(make.spans(*gold), make.spans(*predicted))).confusions
    assert [(c.kind, c.gold, c.predicted, c.count) for c in found] == [
        ("label", "org", "loc", 2),
        ("boundary", "per", "per", 1),
        ("missed", "per", None, 1),
        ("spurious", None, "loc", 1),
    ]
    assert found[0].example == "[abc]defghijklmnopqrstuvwxyz0123456789"
    assert found[1].example == "abcdefgh[ijkl]mnopqrstuvwxyz0123456789 (predicted: ijk)"
    assert found[3].example.endswith("[45]6789")
