"""What several models found in one document, put together: nothing twice, nothing lost."""

from dataclasses import replace
from itertools import permutations

import pytest

from factpin.documents import (
    Argument,
    Coverage,
    Document,
    Entity,
    Event,
    Evidence,
    Fact,
    Mention,
    Qualifier,
    Span,
    canonical,
)
from factpin.extraction.combine import combine

TEXT = "Barack Obama met Tan in Rome in May. Obama won."
DOC = Document("d", TEXT, sentences=(Span(0, 36), Span(36, 47)))
PLACES = {"Barack Obama": 0, "Tan": 17, "Rome": 24, "May": 32, "Obama": 37}


def mention(id: str, text: str, type: str = "", score: float | None = None) -> Mention:
    return Mention(id, PLACES[text], PLACES[text] + len(text), text, type, score)


def found(
    mentions: list[Mention],
    entities: list[Entity] | None = None,
    facts: list[Fact] | None = None,
    events: list[Event] | None = None,
) -> Document:
    return replace(DOC, mentions=tuple(mentions), entities=tuple(entities or ()), facts=tuple(facts or ()),
                   events=tuple(events or ()))  # fmt: skip


def told(doc: Document) -> list[tuple[str, str, str, float | None]]:
    return [(doc.entity(f.head).name, f.relation, doc.entity(f.tail).name, f.score) for f in doc.facts]


# A knows that both names are one man, B knows him by the short one alone
LONG = found(
    [mention("x", "Barack Obama", "person"), mention("y", "Obama", "person"), mention("z", "Rome", "place")],
    [Entity("a", ("x", "y"), "person", "Barack Obama", "Q76"), Entity("b", ("z",), "place", "Rome")],
    [Fact("a", "visited", "b", "y", "z", 0.4, (Evidence(1),), "hedged")],
)
SHORT = found(
    [mention("m0", "Obama", "person"), mention("m1", "Rome", "place"), mention("m2", "May")],
    [Entity("e0", ("m0",), "person"), Entity("e1", ("m1",), "place"), Entity("e2", ("m2",))],
    [Fact("e0", "visited", "e1", "m0", "m1", 0.9, (Evidence(0),), "asserted", (Qualifier("time", "e2", "m2"),))],
)


# ---- mentions -------------------------------------------------------------------------------------------------------


def test_the_same_characters_and_type_are_one_mention_with_the_better_score() -> None:
    parts = [found([mention("a", "Rome", "place", score)]) for score in (0.5, None, 0.8, 0.7)]
    for order in permutations(parts):
        assert combine(DOC, order).mentions == (mention("m0", "Rome", "place", 0.8),)
    assert combine(DOC, parts[1:2]).mentions == (mention("m0", "Rome", "place"),)


@pytest.mark.parametrize(("bare", "typed", "better"), [(0.99, 0.55, 0.99), (0.2, 0.55, 0.55), (None, 0.5, 0.5)])
def test_a_mention_without_a_type_takes_the_one_that_stands_there_and_the_better_score(
    bare: float | None, typed: float, better: float
) -> None:
    parts = [found([mention("a", "Rome", "", bare)]), found([mention("b", "Rome", "place", typed)])]
    for order in permutations(parts):
        assert combine(DOC, order).mentions == (mention("m0", "Rome", "place", better),)


def test_between_two_types_a_mention_without_one_stays_by_itself() -> None:
    parts = [found([mention("a", "Rome", type, 0.5)]) for type in ("place", "", "team")]
    assert [m.type for m in combine(DOC, parts).mentions] == ["", "place", "team"]


# ---- entities and facts ---------------------------------------------------------------------------------------------


def test_entities_that_share_a_mention_are_one_and_a_fact_between_them_is_told_once() -> None:
    for order in permutations([LONG, SHORT]):
        doc = combine(DOC, order)
        names = [(e.name, e.type, e.link, [doc.mention(id).text for id in e.mentions]) for e in doc.entities]
        assert names == [
            ("Barack Obama", "person", "Q76", ["Barack Obama", "Obama"]),
            ("Rome", "place", "", ["Rome"]),
            ("May", "", "", ["May"]),
        ]
        assert told(doc) == [("Barack Obama", "visited", "Rome", 0.9)]


def test_of_a_fact_told_twice_the_surer_speaks_and_no_qualifier_or_evidence_is_lost() -> None:
    for weak, strong in ((LONG, SHORT), (SHORT, LONG)):
        parts = [replace(part, facts=(replace(part.facts[0], score=score),))
                 for part, score in ((weak, 0.3), (strong, 0.6))]  # fmt: skip
        doc = combine(DOC, parts)
        (fact,) = doc.facts
        assert fact.score == 0.6 and fact.assertion == strong.facts[0].assertion
        assert [(q.role, doc.entity(q.entity).name, q.mention) for q in fact.qualifiers] == [("time", "May", "m2")]
        assert set(fact.evidence) == {Evidence(0), Evidence(1)} and fact.evidence[0] == strong.facts[0].evidence[0]


def test_entities_meet_through_a_third() -> None:
    a, b = mention("a", "Barack Obama"), mention("b", "Obama")
    parts = [
        found([a], [Entity("e", ("a",))]),
        found([b], [Entity("e", ("b",))]),
        found([a, b], [Entity("e", ("a", "b"))]),
    ]
    for order in permutations(parts):
        (entity,) = combine(DOC, order).entities
        assert entity == Entity("e0", ("m0", "m1"), "", "Barack Obama")


def test_one_name_of_two_types_is_two_entities() -> None:
    parts = [found([mention("a", "Rome", type)], [Entity("e", ("a",), type, "Rome")]) for type in ("place", "team")]
    assert [(e.name, e.type, e.mentions) for e in combine(DOC, parts).entities] == [
        ("Rome", "place", ("m0",)),
        ("Rome", "team", ("m1",)),
    ]


def test_facts_that_differ_in_a_mention_or_a_relation_all_stay() -> None:
    near = replace(LONG, facts=(replace(LONG.facts[0], head_mention="x"),))
    other = replace(LONG, facts=(replace(LONG.facts[0], relation="left"),))
    loose = replace(LONG, facts=(replace(LONG.facts[0], head_mention=None, tail_mention=None),))
    doc = combine(DOC, [LONG, near, other, loose, loose])
    assert [(f.head_mention, f.relation, f.tail_mention) for f in doc.facts] == [
        ("m0", "visited", "m1"),
        ("m2", "left", "m1"),
        ("m2", "visited", "m1"),
        (None, "visited", None),
    ]


# ---- events ---------------------------------------------------------------------------------------------------------


def meeting(score: float, *, names: tuple[str, str, str] = ("a", "b", "c"), nested: bool = False) -> Document:
    """A meeting with a place; nested: and a report that speaks of it, named before it."""
    met, who, where = (mention(id, text) for id, text in zip(names, ("Tan", "Obama", "Rome"), strict=True))
    event = Event("v", "meeting", met.id, (Argument("who", who.id), Argument("where", where.id)), score)
    report = Event("w", "report", None, (Argument("what", event="v"),), score)
    return found([met, who, where], events=[report, event] if nested else [event])


def test_the_same_event_of_two_models_is_one_with_the_better_score() -> None:
    turned = meeting(0.7, names=("q", "r", "s"))
    (event,) = turned.events
    turned = replace(turned, events=(replace(event, arguments=event.arguments[::-1]),))
    for order in permutations([meeting(0.4), turned]):
        (event,) = combine(DOC, order).events
        assert (event.id, event.type, event.trigger, event.score) == ("v0", "meeting", "m0", 0.7)
        assert set(event.arguments) == {Argument("who", "m2"), Argument("where", "m1")}


def test_events_of_events_are_compared_by_what_they_speak_of() -> None:
    doc = combine(DOC, [meeting(0.4, nested=True), meeting(0.7, names=("x", "y", "z"), nested=True)])
    report, event = doc.events
    assert (report.type, event.type) == ("report", "meeting")
    assert report.arguments == (Argument("what", event=event.id),)
    assert {report.score, event.score} == {0.7}


@pytest.mark.parametrize("change", [{"type": "visit"}, {"trigger": None}, {"arguments": (Argument("who", "b"),)}])
def test_events_that_differ_in_anything_but_score_all_stay(change: dict) -> None:
    one = meeting(0.4)
    other = replace(one, events=(replace(one.events[0], **change),))
    assert [event.id for event in combine(DOC, [one, other]).events] == ["v0", "v1"]


# ---- the whole ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [LONG, SHORT, meeting(0.4, nested=True)])
def test_one_model_alone_or_twice_says_what_it_said(part: Document) -> None:
    named = replace(part, entities=tuple(replace(e, name=e.name or part.mention(e.mentions[0]).text)
                                         for e in part.entities))  # fmt: skip
    expected = canonical(replace(named, coverage=Coverage()))
    assert canonical(combine(DOC, [part])) == canonical(combine(DOC, [part, part])) == expected


def test_coverage_of_all_models_stands_together_and_no_model_finds_nothing() -> None:
    parts = [
        replace(DOC, coverage=Coverage((Span(36, 47),), notes=("one", "two"))),
        replace(DOC, coverage=Coverage((Span(0, 36), Span(36, 47)), notes=("two",))),
        DOC,
    ]
    assert combine(DOC, parts).coverage == Coverage((Span(0, 36), Span(36, 47)), notes=("one", "two"))
    assert combine(DOC, []) == replace(DOC, coverage=Coverage())
