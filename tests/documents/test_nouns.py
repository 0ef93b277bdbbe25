import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any

import orjson
import pytest

from factpin.documents import (
    ASSERTIONS,
    Argument,
    Document,
    Entity,
    Event,
    Evidence,
    Fact,
    Mention,
    Qualifier,
    Span,
    to_json,
)
from factpin.errors import BadDocument, OffsetMismatch

TEXT = "谷爱凌出生于美国。她滑雪。"


def test_a_mention_must_be_what_stands_at_its_offsets() -> None:
    Document("d", TEXT, mentions=(Mention("m", 6, 8, "美国"),))
    with pytest.raises(OffsetMismatch, match=r"text\[5:7\] is '于美', not '美国'. It is at 6:8"):
        Document("d", TEXT, mentions=(Mention("m", 5, 7, "美国"),))
    with pytest.raises(OffsetMismatch, match="It is not in the text"):
        Document("d", TEXT, mentions=(Mention("m", 5, 7, "英国"),))


def test_inclusive_ends_are_recognised() -> None:
    with pytest.raises(OffsetMismatch, match="inclusive ends") as caught:
        Document("d", TEXT, mentions=(Mention("m", 6, 7, "美国"),))
    assert caught.value.inclusive
    assert caught.value.field == "mentions[0]"


def test_a_mention_past_the_end_is_refused() -> None:
    with pytest.raises(OffsetMismatch):
        Document("d", "ab", mentions=(Mention("m", 0, 3, "ab"),))


@pytest.mark.parametrize("start, end", [(2, 2), (3, 2), (-1, 1)])
def test_offsets_that_are_no_span_are_refused(start: int, end: int) -> None:
    with pytest.raises(BadDocument, match="expected 0 <= start < end"):
        Mention("m", start, end, "x")


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_score_is_a_probability(score: float) -> None:
    with pytest.raises(BadDocument, match="expected a probability"):
        Mention("m", 0, 1, "x", score=score)
    with pytest.raises(BadDocument, match="expected a probability"):
        Fact("a", "r", "b", score=score)


def test_half_an_emoji_is_refused_with_its_place() -> None:
    with pytest.raises(BadDocument, match="lone surrogate at character 2"):
        Document("d", "ab\ud83d")


@pytest.mark.parametrize("sentences", [((0, 5), (4, 9)), ((5, 9), (0, 5)), ((0, 99),), ((3, 3),)])
def test_sentences_stand_in_order_inside_the_text(sentences: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(BadDocument, match="sentence"):
        Document("d", TEXT, sentences=tuple(Span(*s) for s in sentences))


def test_what_is_named_must_exist() -> None:
    m = Mention("m", 6, 8, "美国")
    e = Entity("e", ("m",))
    good = Document("d", TEXT, sentences=(Span(0, 9),), mentions=(m,), entities=(e,))
    assert good.mention("m") == m and good.entity("e") == e
    cases = [
        {"entities": (Entity("e", ("nobody",)),)},
        {"entities": (e, e)},
        {"mentions": (m, m)},
        {"entities": (e,), "facts": (Fact("e", "r", "x"),)},
        {"entities": (e,), "facts": (Fact("e", "r", "e", head_mention="x"),)},
        {"entities": (e,), "facts": (Fact("e", "r", "e", evidence=(Evidence(7),)),)},
        {"events": (Event("v", "t", "x"),)},
        {"events": (Event("v", "t", "m", assertion="negated", cue=Span(7, 99)),)},
        {"events": (Event("v", "t", "m", (Argument("who", event="x"),)),)},
    ]
    for case in cases:
        with pytest.raises(BadDocument):
            Document("d", TEXT, **{"sentences": (Span(0, 9),), "mentions": (m,), **case})


def test_an_assertion_is_one_of_those_that_are_known() -> None:
    for make in (lambda said: Fact("e", "r", "e", assertion=said), lambda said: Event("v", "t", assertion=said)):
        assert [make(said).assertion for said in ASSERTIONS] == [*ASSERTIONS]
        with pytest.raises(BadDocument, match="expected one of asserted, negated"):
            make("denied")


def test_an_argument_is_a_mention_or_an_event() -> None:
    with pytest.raises(BadDocument):
        Argument("who")
    with pytest.raises(BadDocument):
        Argument("who", mention="m", event="v")


def test_the_sentence_of_a_character() -> None:
    doc = Document("d", TEXT, sentences=(Span(0, 9), Span(10, 13)))
    assert [doc.sentence_of(i) for i in (0, 8, 9, 10, 12, 13)] == [0, 0, None, 1, 1, None]


def test_nouns_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Mention("m", 0, 1, "x").start = 3  # type: ignore[misc]


CURIE = Document(
    "d",
    "Marie Curie was born in Warsaw. Curie died in Passy.",
    sentences=(Span(0, 31), Span(32, 52)),
    mentions=(
        Mention("m0", 0, 11, "Marie Curie", "person", 0.9),
        Mention("m1", 24, 30, "Warsaw", "place"),
        Mention("m2", 32, 37, "Curie"),
        Mention("m3", 46, 51, "Passy", "place"),
    ),
    entities=(Entity("e0", ("m2", "m0")), Entity("e1", ("m1",), "city", "Warszawa", "Q270"), Entity("e2", ("m3",))),
    facts=(
        Fact("e0", "place of birth", "e1", "m0", "m1", 0.84, (Evidence(0), Evidence(1, 32, 37))),
        Fact("e0", "place of death", "e2", assertion="hedged", qualifiers=(Qualifier("in", "e1"),)),
    ),
    events=(
        Event("v0", "birth", "m1", (Argument("who", "m0"), Argument("before", event="v1")), 0.7),
        Event("v1", "death", assertion="negated"),
    ),
)


def test_a_fact_of_a_document_knows_its_entities() -> None:
    birth, death = CURIE.facts
    assert (birth.head.name, birth.head.type, birth.head.link) == ("Marie Curie", "person", "")
    assert (birth.tail.name, birth.tail.type, birth.tail.link) == ("Warszawa", "city", "Q270")
    assert (death.tail.name, death.tail.type) == ("Passy", "place")
    assert birth.tail.entity is CURIE.entities[1]
    assert birth.head.mentions == (CURIE.mentions[2], CURIE.mentions[0])


def test_evidence_events_and_arguments_know_their_text() -> None:
    assert [e.quote for e in CURIE.facts[0].evidence] == ["Marie Curie was born in Warsaw.", "Curie"]
    birth, death = CURIE.events
    assert (birth.text, death.text) == ("Warsaw", "")
    assert [a.text for a in birth.arguments] == ["Marie Curie", "v1"]


def test_head_and_tail_are_ids_as_before() -> None:
    fact = CURIE.facts[0]
    assert isinstance(fact.head, str) and fact.head == "e0" and hash(fact.head) == hash("e0")
    assert {"e0": 1}[fact.head] == 1 and f"{fact.head}→{fact.tail}" == "e0→e1"
    assert json.dumps(fact.head) == '"e0"' and orjson.dumps([fact.head]) == b'["e0"]'
    assert type(pickle.loads(pickle.dumps(fact.head))) is str
    assert asdict(fact)["head"] == "e0" and asdict(fact).keys() == {f.name for f in fields(Fact)}


def test_in_no_document_a_fact_is_its_ids_alone() -> None:
    fact = Fact("e0", "r", "e1", evidence=(Evidence(0),))
    assert (fact.head, fact.tail) == ("e0", "e1")
    for ask in (lambda: fact.head.name, lambda: fact.tail.mentions, lambda: fact.evidence[0].quote,
                lambda: Event("v", "t", "m").text, lambda: Argument("who", "m").text):  # fmt: skip
        with pytest.raises(BadDocument, match="not in a document"):
            ask()


def test_a_fact_in_two_documents_knows_each() -> None:
    renamed = replace(CURIE, entities=(replace(CURIE.entities[0], name="M. Curie"), *CURIE.entities[1:]))
    assert renamed.facts == CURIE.facts and renamed.events == CURIE.events
    assert renamed.facts[0].head.name == "M. Curie" and CURIE.facts[0].head.name == "Marie Curie"
    other = Document("o", "Tom.", sentences=(Span(0, 4),), mentions=(Mention("m", 0, 3, "Tom"),),
                     entities=(Entity("e0", ("m",)),), facts=(replace(CURIE.facts[0], tail="e0", head_mention=None,
                     tail_mention=None, evidence=CURIE.facts[0].evidence[:1]),))  # fmt: skip
    assert other.facts[0].head.name == "Tom" and other.facts[0].evidence[0].quote == "Tom."
    assert CURIE.facts[0].evidence[0].quote == "Marie Curie was born in Warsaw."


def test_a_version_with_the_same_annotation_keeps_its_facts() -> None:
    fewer = replace(CURIE, facts=CURIE.facts[:1], meta={"a": 1})
    assert fewer.facts[0] is CURIE.facts[0]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), replace])
def test_a_copy_of_a_document_is_equal_and_knows_its_entities(again: Callable[[Any], Any]) -> None:
    found = again(CURIE)
    assert found == CURIE and type(found.facts[0]) is Fact
    assert found.facts[0].head.name == "Marie Curie" and found.events[0].text == "Warsaw"
    fact, event = again(CURIE.facts[0]), again(CURIE.events[0])
    assert (fact, event) == (CURIE.facts[0], CURIE.events[0])
    assert hash(fact) == hash(CURIE.facts[0]) and {fact} == {CURIE.facts[0]}
    assert to_json(found) == to_json(CURIE)


def test_facts_stay_frozen() -> None:
    for name, value in (("head", "e1"), ("score", 0.1), ("evidence", ()), ("other", 1)):
        with pytest.raises((AttributeError, TypeError)):
            setattr(CURIE.facts[0], name, value)
    assert not hasattr(CURIE.facts[0], "__dict__")


def test_a_repr_is_short_and_says_what_matters() -> None:
    assert repr(CURIE.facts[0]) == "Fact(Marie Curie —place of birth→ Warszawa, 0.84)"
    assert repr(CURIE.facts[1]) == "Fact(Marie Curie —place of death→ Passy, hedged)"
    assert repr(Fact("a", "r", "b")) == "Fact(a —r→ b)"
    assert repr(CURIE.mentions[0]) == "Mention('Marie Curie', person, 0:11, 0.90)"
    assert repr(CURIE.entities[1]) == "Entity('Warszawa', city, Q270, 1 mention)"
    assert repr(CURIE.events[0]) == "Event(birth 'Warsaw', who: Marie Curie, before: v1, 0.70)"
    assert repr(CURIE.events[1]) == "Event(death, negated)"
    assert repr(Event("v", "t", "m", (Argument("who", "m"),))) == "Event(t 'm', who: m)"
    told = "4 mentions, 3 entities, 2 facts, 2 events"
    assert repr(CURIE) == f"Document('d', 'Marie Curie was born in Warsaw. Curie d…', {told})"
    assert repr(Document("x", "")) == "Document('x', '')"
    assert len(repr(Mention("m", 0, 5000, "x" * 5000))) < 100
