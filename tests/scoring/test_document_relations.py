"""Document relations against the counting of DocRED, written here as a loop over its definition."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factpin.documents import Document
from factpin.scoring import Pair, document_relations
from factpin.scoring.counts import Counts, total
from factpin.scoring.document_relations import ign_figures, ign_rows, train_names
from tests.scoring import make

TEXT = "Ann Bob Cat Ann Dan Bob Eve Ann"  # three letters and a blank
SENTENCES = [(0, 12), (12, 24), (24, 31)]
ENTITIES = {
    "0": [(0, 3), (12, 15), (28, 31)],
    "1": [(4, 7), (20, 23)],
    "2": [(8, 11)],
    "3": [(16, 19)],
    "4": [(24, 27)],
}
facts = st.dictionaries(
    st.tuples(st.sampled_from("01234"), st.sampled_from(["P1", "P2"]), st.sampled_from("01234")),
    st.sets(st.integers(0, 2), max_size=3),
    max_size=12,
)


def document(found, id="d", entities=ENTITIES, **options) -> Document:
    return make.relations(
        entities, list(found), id=id, text=TEXT, sentences=SENTENCES,
        evidence={key: sorted(lines) for key, lines in found.items()}, **options,
    )  # fmt: skip


def totals(gold: Document, predicted: Document) -> dict[str, Counts]:
    return {name: total(rows) for name, rows in document_relations.score(make.pair(gold, predicted)).rows.items()}


def names(id):
    return {TEXT[start:end] for start, end in ENTITIES[id]}


def f1(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def docred(corpus, train):
    """F1, evidence F1 and Ign F1 in the way of the public script: titles, indexes, sets, one loop."""
    truth = {(title, r, h, t): lines for title, (gold, _) in enumerate(corpus) for (h, r, t), lines in gold.items()}
    answers = [(title, r, h, t, lines) for title, (_, p) in enumerate(corpus) for (h, r, t), lines in p.items()]
    known = {(n1, n2, r) for found in train for h, r, t in found for n1 in names(h) for n2 in names(t)}
    correct = seen = correct_lines = lines_given = 0
    for title, r, h, t, lines in answers:
        lines_given += len(lines)
        if (title, r, h, t) in truth:
            correct += 1
            correct_lines += len(truth[title, r, h, t] & lines)
            seen += any((n1, n2, r) in known for n1 in names(h) for n2 in names(t))
    precision = correct / len(answers) if answers else 0.0
    recall = correct / len(truth) if truth else 0.0
    lines_true = sum(map(len, truth.values()))
    evidence = f1(correct_lines / lines_given if lines_given else 0, correct_lines / lines_true if lines_true else 0)
    ign = (correct - seen) / (len(answers) - seen + 1e-5)
    return f1(precision, recall), evidence, f1(ign, recall)


@given(st.lists(st.tuples(facts, facts), min_size=1, max_size=4), st.lists(facts, max_size=2))
@settings(max_examples=150, deadline=None)
def test_f1_evidence_and_ign_equal_the_counting_of_docred(corpus, train):
    pairs = [Pair(document(gold, str(i)), document(p, str(i))) for i, (gold, p) in enumerate(corpus)]
    expected = docred(corpus, train)
    rows = document_relations.score(pairs).rows
    assert total(rows["strict"]).f1 == pytest.approx(expected[0])
    assert total(rows["evidence"]).f1 == pytest.approx(expected[1])
    seen = ign_rows(pairs, train_names(document(found) for found in train))
    assert float(ign_figures(seen.sum(axis=0))[2]) == pytest.approx(expected[2], abs=1e-4)


@given(facts, facts)
@settings(max_examples=60, deadline=None)
def test_intra_and_inter_are_the_two_parts_of_strict(gold, predicted):
    found = totals(document(gold), document(predicted))
    assert found["intra"] + found["inter"] == found["strict"]
    near = {frozenset("01"), frozenset("02"), frozenset("12"), frozenset("03"), frozenset("13"), frozenset("04")}
    expected = sum(1 for h, _, t in gold if h == t or frozenset((h, t)) in near)
    assert found["intra"].gold == expected


def test_entities_are_matched_by_their_mentions_whatever_their_ids():
    renamed = {"4": ENTITIES["0"], "3": ENTITIES["1"], "x": ENTITIES["2"]}
    gold = document({("0", "P1", "1"): {0}, ("1", "P1", "2"): {1}})
    predicted = document({("4", "P1", "3"): {0}, ("3", "P1", "x"): {0}}, entities=renamed)
    found = totals(gold, predicted)
    assert found["strict"] == Counts(tp=2) and found["evidence"] == Counts(tp=1, fp=1, fn=1)


def test_an_equal_id_with_other_mentions_is_another_entity():
    predicted = document({("0", "P1", "1"): set()}, entities={"0": [(16, 19)], "1": ENTITIES["1"]})
    assert totals(document({("0", "P1", "1"): set()}), predicted)["strict"] == Counts(fp=1, fn=1)


def test_ids_decide_between_gold_entities_with_the_same_mentions():
    twins = {"a": [(0, 3)], "b": [(0, 3)], "c": [(4, 7)]}
    gold = document({("b", "P1", "c"): set()}, entities=twins)
    assert totals(gold, gold)["strict"] == Counts(tp=1)
    assert totals(gold, document({("a", "P1", "c"): set()}, entities=twins))["strict"] == Counts(fp=1, fn=1)


def test_the_two_public_rules_of_end_to_end_differ_when_a_later_mention_is_lost():
    gold = document({("0", "P1", "1"): set()})
    predicted = document({("0", "P1", "1"): set()}, entities={"0": ENTITIES["0"][:2], "1": ENTITIES["1"]})
    found = totals(gold, predicted)
    assert found["first_mention"] == found["first_mention_typed"] == Counts(tp=1)
    assert found["all_mentions"] == found["strict"] == Counts(fp=1, fn=1)


def test_typed_rules_want_the_types():
    gold = document({("0", "P1", "1"): set()}, types={"0": "PER", "1": "PER"})
    predicted = document({("0", "P1", "1"): set()}, types={"0": "PER", "1": "ORG"})
    found = totals(gold, predicted)
    assert found["all_mentions"] == found["first_mention"] == Counts(tp=1)
    assert found["all_mentions_typed"] == found["first_mention_typed"] == Counts(fp=1, fn=1)


def test_ign_takes_seen_facts_from_precision_and_leaves_recall():
    gold = document({("0", "P1", "1"): set(), ("2", "P2", "3"): set()})
    predicted = document({("0", "P1", "1"): set(), ("2", "P2", "3"): set(), ("3", "P2", "2"): set()})
    train = make.relations({"a": [(0, 3)], "b": [(4, 7)]}, [("a", "P1", "b")], text="Ann Bob")
    precision, recall, _ = ign_figures(ign_rows(make.pair(gold, predicted), train_names([train])).sum(axis=0))
    assert (float(precision), float(recall)) == (0.5, 1.0)


def test_evidence_is_carried_over_by_place_where_sentences_differ():
    fact = ("0", "P1", "1")
    other = [(0, 4), (4, 12), (12, 31)]
    predicted = make.relations(ENTITIES, [fact], text=TEXT, sentences=other, evidence={fact: [1, 2]})
    assert totals(document({fact: {0, 1}}), predicted)["evidence"] == Counts(tp=2)
    assert totals(document({fact: {1, 2}}), predicted)["evidence"] == Counts(tp=1, fp=1, fn=1)


def test_confusions_are_relations_of_the_same_pair_in_the_nearest_sentence():
    gold = document({("0", "P1", "1"): set(), ("2", "P1", "4"): set()})
    found = document_relations.score(make.pair(gold, document({("0", "P2", "1"): set(), ("3", "P2", "1"): set()})))
    assert [(c.kind, c.gold, c.predicted) for c in found.confusions] == [
        ("label", "P1", "P2"),
        ("missed", "P1", None),
        ("spurious", None, "P2"),
    ]
    assert found.confusions[0].example == "[Ann] [Bob] Cat"
    assert found.confusions[1].example == "Ann Bob [Cat] … [Eve] Ann"


def test_empty_sides_divide_nothing():
    full, empty = document({("0", "P1", "1"): {0}}), Document("d", TEXT)
    for gold, predicted in ((full, empty), (empty, full), (empty, empty)):
        assert all(counts.f1 == 0 for counts in totals(gold, predicted).values())
        assert float(ign_figures(ign_rows(make.pair(gold, predicted), train_names([full])).sum(axis=0))[2]) == 0
    assert ign_rows([], frozenset()).shape == (0, 5)


def test_pairs_that_gold_says_nothing_about_count_in_strict_and_not_in_filtered() -> None:
    gold = document({("0", "P1", "1"): set()})
    rows = [["1:P1:2", "L2R", "CROSS", "0-1", "1-2", 0, 1], ["not_include", "L2R", "CROSS", "0-1", "2-3", 2, 0]]
    gold = replace(gold, meta={"extra": {"pairs": {"rows": rows}}})
    predicted = document({("0", "P1", "1"): set(), ("0", "P1", "2"): set(), ("0", "P1", "3"): set()})
    found = totals(gold, predicted)
    assert (found["strict"].tp, found["strict"].fp) == (1, 2)
    assert (found["filtered"].tp, found["filtered"].fp, found["filtered"].fn) == (1, 1, 0)


def test_gold_without_sentences_is_split_for_intra_and_inter() -> None:
    text = "Ann met Bob. Later Cat came."
    entities = {"0": [(0, 3)], "1": [(8, 11)], "2": [(19, 22)]}
    gold = make.relations(entities, [("0", "P1", "1"), ("0", "P1", "2")], text=text, sentences=[])
    found = totals(gold, gold)
    assert (found["intra"].tp, found["inter"].tp) == (1, 1)
