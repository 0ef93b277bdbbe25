"""Triples under every convention."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factpin.documents import Document, Entity, Fact, Mention, Qualifier
from factpin.scoring import triples
from factpin.scoring.counts import Counts, total
from tests.scoring import make

TEXT = "Marie Curie met Pierre Curie. Marie Curie left Paris."
MARIE, PIERRE, AGAIN, PARIS = (0, 11), (16, 28), (30, 41), (47, 52)


def totals(gold: Document, predicted: Document) -> dict[str, Counts]:
    return {name: total(rows) for name, rows in triples.score(make.pair(gold, predicted)).rows.items()}


def pinned(*facts: tuple[tuple[int, int], str, tuple[int, int]], types: str = "") -> Document:
    places = sorted({place for head, _, tail in facts for place in (head, tail)})
    ids = {place: str(i) for i, place in enumerate(places)}
    return make.relations(
        {ids[place]: [place] for place in places},
        [(ids[head], relation, ids[tail]) for head, relation, tail in facts],
        text=TEXT,
        pinned=True,
        types=dict.fromkeys(ids.values(), types),
    )


def test_strict_wants_both_spans_and_the_relation():
    gold = pinned((MARIE, "met", PIERRE), (AGAIN, "left", PARIS))
    assert totals(gold, gold)["strict"] == Counts(tp=2)
    assert totals(gold, pinned((MARIE, "left", PIERRE)))["strict"] == Counts(fp=1, fn=2)
    assert totals(gold, pinned((PIERRE, "met", MARIE)))["strict"] == Counts(fp=1, fn=2)


def test_another_place_with_the_same_text_is_wrong_by_offsets_and_right_by_text():
    found = totals(pinned((AGAIN, "left", PARIS)), pinned((MARIE, "left", PARIS)))
    assert found["strict"] == Counts(fp=1, fn=1)
    assert found["text"] == found["last_word"] == Counts(tp=1)


def test_text_counts_equal_triples_of_a_document_once():
    both = pinned((MARIE, "left", PARIS), (AGAIN, "left", PARIS))
    found = totals(both, both)
    assert found["strict"] == Counts(tp=2) and found["text"] == Counts(tp=1)


def test_last_word_forgives_what_stands_before_it():
    found = totals(pinned((MARIE, "left", PARIS)), pinned(((36, 41), "left", PARIS)))
    assert found["text"] == Counts(fp=1, fn=1) and found["last_word"] == Counts(tp=1)
    assert triples.last_word("居里 夫人") == "夫人" and triples.last_word("居里夫人") == "居里夫人"


def test_typed_wants_the_types_too():
    found = totals(pinned((MARIE, "met", PIERRE), types="PER"), pinned((MARIE, "met", PIERRE), types="ORG"))
    assert found["strict"] == Counts(tp=1) and found["typed"] == Counts(fp=1, fn=1)


def test_a_fact_that_names_no_mention_stands_for_any_mention_of_its_entities():
    gold = make.relations({"m": [MARIE, AGAIN], "p": [PARIS]}, [("m", "left", "p")], text=TEXT)
    for place in (MARIE, AGAIN):
        assert totals(gold, pinned((place, "left", PARIS)))["strict"] == Counts(tp=1)
    assert totals(gold, pinned((PIERRE, "left", PARIS)))["strict"] == Counts(fp=1, fn=1)
    assert totals(gold, pinned((MARIE, "left", PARIS), (AGAIN, "left", PARIS)))["strict"] == Counts(tp=1, fp=1)


def test_the_text_of_a_loose_fact_is_the_name_of_its_entity():
    doc = Document(
        "d",
        TEXT,
        mentions=(Mention("m", 30, 41, "Marie Curie"), Mention("p", 47, 52, "Paris")),
        entities=(Entity("e", ("m",), name="Maria"), Entity("f", ("p",))),
        facts=(Fact("e", "left", "f"),),
    )
    assert [t.text().bare() for t in triples.triples(doc)] == [("Maria", "left", "Paris")]


def unfound(doc: Document, *told: object) -> Document:
    return replace(doc, meta={"unfound": [*told]})


def test_gold_that_is_not_in_the_text_is_missed_where_texts_are_compared():
    fact = pinned((MARIE, "left", PARIS))
    spo = {"subject": "Marie Curie", "predicate": "met", "object": "Lise Meitner"}
    for told in (["Marie Curie", "met", "Lise Meitner"], spo, spo | {"object": {"@value": "Lise Meitner"}}):
        found = totals(unfound(fact, told), fact)
        assert found["text"] == found["last_word"] == Counts(tp=1, fn=1)
        assert found["strict"] == found["typed"] == Counts(tp=1)
        assert totals(unfound(fact, told), unfound(fact, told))["text"] == Counts(tp=2)
        assert totals(fact, unfound(fact, told))["text"] == Counts(tp=1, fp=1)
    strange = totals(unfound(fact, "x", ["a", "b"], {"object": {}}, ["a", None, "b"]), fact)
    assert strange["text"] == totals(replace(fact, meta={"unfound": "x"}), fact)["text"] == Counts(tp=1)


def qualified(*roles: tuple[str, tuple[int, int]]) -> Document:
    """Marie met Pierre, with qualifiers; and she left Paris, without."""
    doc = pinned((MARIE, "met", PIERRE), (AGAIN, "left", PARIS))
    entity = {(m.start, m.end): e.id for e in doc.entities for m in doc.mentions if m.id in e.mentions}
    met = next(f for f in doc.facts if f.relation == "met")
    met_so = replace(met, qualifiers=tuple(Qualifier(role, entity[place]) for role, place in roles))
    return replace(doc, facts=tuple(met_so if f is met else f for f in doc.facts))


def test_complex_compares_all_qualifiers_of_the_facts_that_have_any():
    gold = qualified(("in", PARIS), ("with", AGAIN))
    assert totals(gold, gold)["complex"] == Counts(tp=1)
    assert totals(gold, qualified(("with", MARIE), ("in", PARIS)))["complex"] == Counts(tp=1)  # by text
    assert totals(gold, qualified(("in", PARIS)))["complex"] == Counts(fp=1, fn=1)
    assert totals(gold, qualified())["complex"] == Counts(fn=1)
    assert totals(gold, qualified())["text"] == Counts(tp=2)
    assert "complex" not in totals(qualified(), qualified())
    spo = {"subject": "A", "predicate": "r", "object": {"@value": "B", "in": "Paris"}}
    assert totals(unfound(gold, spo), gold)["complex"] == Counts(tp=1, fn=1)


places = st.frozensets(st.sampled_from([(0, 1), (2, 3), (4, 5)]), min_size=1, max_size=3)
keys = st.sets(st.builds(triples.Key, st.just(("r",)), places, places), max_size=4)


@given(keys, keys)
@settings(max_examples=200, deadline=None)
def test_matching_is_one_to_one_and_as_large_as_trying_everything(gold, predicted):
    def fit(g, p):
        return bool(g.head & p.head and g.tail & p.tail)

    def largest(left, free):
        if not left:
            return 0
        rest = largest(left[1:], free)
        return max([rest, *(1 + largest(left[1:], free - {g}) for g in free if fit(g, left[0]))])

    found = triples.match(gold, predicted)
    assert len(set(found.values())) == len(found) and all(fit(g, p) for p, g in found.items())
    equal = gold & predicted
    assert all(found[key] == key for key in equal)
    assert len(found) == len(equal) + largest(sorted(predicted - equal, key=str), frozenset(gold - equal))


@given(keys, st.permutations([triples.Key(("r",), frozenset({(a, a + 1)}), frozenset({(b, b + 1)}))
                              for a in (0, 2) for b in (2, 4)]))  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_the_first_of_pinned_predictions_are_matched_as_if_they_were_alone(gold, predicted):
    found = triples.match(gold, predicted)
    for k in range(len(predicted)):
        assert sum(key in found for key in predicted[:k]) == len(triples.match(gold, predicted[:k]))


def test_confusions_name_relations_boundaries_and_both_arguments():
    gold = pinned((MARIE, "met", PIERRE), (AGAIN, "left", PARIS))
    found = triples.score(make.pair(gold, pinned((MARIE, "knew", PIERRE), ((36, 41), "left", PARIS)))).confusions
    assert {(c.kind, c.gold, c.predicted) for c in found} == {("label", "met", "knew"), ("boundary", "left", "left")}
    examples = {c.kind: c.example for c in found}
    assert examples["label"] == "[Marie Curie] met [Pierre Curie]. Marie Curie left Paris."
    assert examples["boundary"].endswith("[Marie Curie] left [Paris]. (predicted: Curie, Paris)")
    alone = triples.score(make.pair(gold, pinned((PIERRE, "left", PARIS)))).confusions
    assert sorted(c.kind for c in alone) == ["missed", "missed", "spurious"]


def test_scored_facts_give_outcomes_and_labels_are_relations():
    entities = {"m": [MARIE], "p": [PARIS]}
    gold = make.relations(entities, [("m", "left", "p")], text=TEXT, pinned=True)
    predicted = make.relations(entities, [("m", "left", "p"), ("p", "left", "m")], text=TEXT, pinned=True)
    scored = tuple(replace(fact, score=s) for fact, s in zip(predicted.facts, (0.9, 0.2), strict=True))
    found = triples.score(make.pair(gold, replace(predicted, facts=scored)))
    assert sorted(found.outcomes) == [(0.2, False), (0.9, True)]
    assert found.labels == {"left": Counts(tp=1, fp=1)}


@pytest.mark.parametrize("side", ["gold", "predicted", "both"])
def test_empty_sides_divide_nothing(side):
    full, empty = pinned((MARIE, "met", PIERRE)), Document("d", TEXT)
    found = totals(empty if side != "predicted" else full, empty if side != "gold" else full)
    assert all(counts.f1 == 0 for counts in found.values())
