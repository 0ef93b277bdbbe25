import pytest

from factpin.documents import Relation, Schema, Span
from factpin.memory import Pin, StoredEntity, StoredFact
from factpin.memory.judge_facts import confidence, conflicts, judged

SCHEMA = Schema((), {"born": Relation("born", functional=True), "CEO": Relation("CEO", changes=True)})


def pin(document: str = "d1", quote: str = "", **more: object) -> Pin:
    quote = quote or f"sentence of {document}"
    return Pin(**{"document": document, "uri": document, "start": 0, "end": len(quote), "quote": quote, "score": 0.5,
                  "text_key": document, **more})  # fmt: skip


def fact(relation: str, tail: str, *pins: Pin, head: str = "acme", **more: str) -> StoredFact:
    ends = StoredEntity(head, head), relation, StoredEntity(tail, tail)
    return StoredFact(f"{head} {relation} {tail} {more}", *ends, pins=pins or (pin(tail),), **more)


def status(*facts: StoredFact, as_of: str = "") -> list[str]:
    return [f.status for f in judged(facts, SCHEMA, as_of)]


def test_confidence_grows_with_distinct_texts() -> None:
    assert confidence([pin("d1")]) == pytest.approx(0.5)
    assert confidence([pin("d1"), pin("d2")]) == pytest.approx(0.75)
    assert confidence([]) == 0.0


def test_copies_are_one_witness() -> None:
    assert confidence([pin("d1", "x y"), pin("d1", "other", score=0.7)]) == pytest.approx(0.7)
    assert confidence([pin("d1"), pin("d2", text_key="d1")]) == pytest.approx(0.5)
    assert confidence([pin("d1", "Ann lives in Rome."), pin("d2", "ann  lives in ROME!")]) == pytest.approx(0.5)
    chain = [pin("d1", "a b"), pin("d2", "A, B"), pin("d3", "c", text_key="d2"), pin("d4", "e")]
    assert confidence(chain) == pytest.approx(0.75)


def test_only_what_is_asserted_counts() -> None:
    others = [pin(a, assertion=a) for a in ("negated", "hedged", "reported", "conditional")]
    assert confidence(others) == 0.0
    assert confidence([*others, pin("d")]) == pytest.approx(0.5)
    assert confidence([pin("d", score=None)]) == 1.0


def test_assertions_make_the_status() -> None:
    assert status(fact("likes", "x", pin("a"))) == ["active"]
    assert status(fact("likes", "x", pin("a", assertion="negated"))) == ["denied"]
    assert status(fact("likes", "x", pin("a"), pin("b", assertion="negated"))) == ["disputed"]
    assert status(fact("likes", "x", pin("a", assertion="hedged"))) == ["unconfirmed"]
    assert status(fact("likes", "x"), fact("likes", "y")) == ["active", "active"]


def test_two_tails_of_a_functional_relation_are_a_dispute_whatever_their_dates() -> None:
    old, new = fact("born", "x", pin("a", published="2001")), fact("born", "y", pin("b", published="2020"))
    assert status(old, new) == ["disputed", "disputed"]
    assert status(old, fact("born", "y", head="other")) == ["active", "active"]
    assert status(old, fact("born", "y", pin("b", assertion="negated"))) == ["active", "denied"]


def test_a_later_tail_supersedes_where_the_relation_changes() -> None:
    old, new = fact("CEO", "x", pin("a", published="2019-05")), fact("CEO", "y", pin("b", published="2023"))
    assert status(old, new) == ["superseded", "active"]
    assert status(new, old) == ["active", "superseded"]
    assert status(fact("CEO", "x", pin("a", published="2019"), pin("c", published="2024")), new) == [
        "active",
        "superseded",
    ]


def test_without_an_order_in_time_both_are_disputed() -> None:
    undated = fact("CEO", "x")
    dated = fact("CEO", "y", pin("b", published="2023-05"))
    assert status(undated, dated) == ["disputed", "disputed"]
    assert status(fact("CEO", "x", pin("a", published="2023")), dated) == ["disputed", "disputed"]


def test_dates_of_the_fact_outweigh_those_of_documents() -> None:
    before = fact("CEO", "x", pin("a", published="2024"), valid_from="2010")
    after = fact("CEO", "y", pin("b", published="2020"), valid_from="2015-03-01")
    assert status(before, after) == ["superseded", "active"]
    assert status(before, after, as_of="2012") == ["active", "superseded"]
    assert status(fact("CEO", "x", valid_to="2020")) == ["superseded"]
    assert status(fact("CEO", "x", valid_to="2020"), as_of="2018") == ["active"]


def test_a_successor_that_has_not_begun_supersedes_nobody() -> None:
    now, next = fact("CEO", "x", valid_from="2010"), fact("CEO", "y", valid_from="2030")
    assert status(now, next) == ["superseded", "active"]
    assert status(now, next, as_of="2024") == ["active", "superseded"]


def test_verdicts_outweigh_texts() -> None:
    assert status(fact("born", "x", verdict="rejected"), fact("born", "y")) == ["rejected", "active"]
    assert status(fact("born", "x", verdict="confirmed"), fact("born", "y")) == ["active", "disputed"]
    assert status(fact("likes", "x", pin("a", assertion="hedged"), verdict="confirmed")) == ["active"]
    sure = judged([fact("born", "x", verdict="confirmed"), fact("born", "y", verdict="rejected")], SCHEMA)
    assert [f.confidence for f in sure] == [1.0, 0.0]


def test_an_unlikely_fact_does_not_dispute_or_supersede_a_likely_one() -> None:
    likely, unlikely = fact("born", "x", pin("a", score=0.67)), fact("born", "y", pin("b", score=0.49))
    assert status(likely, unlikely) == ["active", "disputed"]
    assert status(unlikely, likely) == ["disputed", "active"]
    assert status(unlikely, fact("born", "z", pin("c", score=0.4))) == ["disputed", "disputed"]
    assert (
        status(unlikely, fact("born", "y", pin("b", score=0.49), pin("c", score=0.49), head="other")) == ["active"] * 2
    )
    more = fact("born", "y", pin("b", score=0.49), pin("c", score=0.49))  # two texts: 0.74
    assert status(likely, more) == ["disputed", "disputed"]
    old, new = (fact("CEO", t, pin(t, score=s, published=y)) for t, s, y in (("x", 0.9, "2019"), ("y", 0.3, "2023")))
    assert status(old, new) == ["active", "disputed"]


def test_conflicts_show_both_sides() -> None:
    facts = [fact("born", "x", pin("a", "in x")), fact("born", "y", pin("b", "in y")), fact("likes", "z")]
    (conflict,) = conflicts(judged(facts, SCHEMA))
    assert (conflict.head.id, conflict.relation) == ("acme", "born")
    assert [f.fact.pins[0].quote for f in conflict.facts] == ["in x", "in y"]


@pytest.mark.parametrize(("one", "two"), [
    ("Warsaw", "Poland"), ("Los Angeles", "California"), ("California", "the United States"), ("旧金山", "美国"),
    ("杭州", "浙江省"), ("Lyon", "Lyon, France"), ("1867", "7 November 1867"), ("2003年9月3日", "2003年"),
    ("2003", "2003-09-03"),
])  # fmt: skip
def test_what_is_merely_more_exact_is_no_dispute(one: str, two: str) -> None:
    assert status(fact("born", one), fact("born", two)) == ["active", "active"]
    assert status(fact("born", two), fact("born", one)) == ["active", "active"]


@pytest.mark.parametrize(("one", "two"), [
    ("Rome", "Oslo"), ("Poland", "Russia"), ("California", "Texas"), ("York", "New York"), ("1867", "1868"),
    ("1,000", "1,000,000"), ("旧金山", "洛杉矶"), ("7 May 1867", "7 June 1867"),
])  # fmt: skip
def test_what_differs_is_a_dispute(one: str, two: str) -> None:
    assert status(fact("born", one), fact("born", two)) == ["disputed", "disputed"]


def test_a_country_beside_two_cities_is_in_no_dispute() -> None:
    assert status(fact("born", "Rome"), fact("born", "Italy"), fact("born", "Oslo")) == [
        "disputed", "active", "disputed"]  # fmt: skip


def test_a_text_that_names_two_places_as_one_settles_it() -> None:
    quote = "born in Pasadena, Bexar"
    small = pin("a", quote, head=Span(0, 1), tail=Span(8, 16))
    large = pin("a", quote, head=Span(0, 1), tail=Span(18, 23))
    assert status(fact("born", "Pasadena", small), fact("born", "Bexar", large)) == ["active", "active"]
    assert status(fact("born", "Pasadena"), fact("born", "Bexar")) == ["disputed", "disputed"]


def test_a_later_text_that_names_only_the_country_replaces_nothing() -> None:
    old, new = fact("CEO", "Paris", pin("a", published="2001")), fact("CEO", "France", pin("b", published="2020"))
    assert status(old, new) == ["active", "active"]
