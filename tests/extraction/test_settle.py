"""Facts between the entities of a document: each once, between names, and one tail where there can be one alone."""

from dataclasses import replace

import pytest

from factpin.documents import Document, Entity, Evidence, Fact, Mention
from factpin.extraction.settle import (
    RESOLVED,
    once,
    one_country,
    one_couple,
    one_head,
    one_partner,
    one_tail,
    places,
    settle,
    unbroken,
    without_loose,
    without_mentions,
)
from factpin.language.coreference import references, resolve

TEXT = "Ada Lovelace was born in 1815. She lived in London. He lived in Paris."


def mention(id: str, text: str, type: str) -> Mention:
    start = TEXT.index(text)
    return Mention(id, start, start + len(text), text, type, 0.9)


def document(*facts: Fact) -> Document:
    mentions = (
        mention("m0", "Ada Lovelace", "person"),
        mention("m1", "1815", "date"),
        mention("m2", "She", "person"),
        mention("m3", "London", "location"),
        mention("m4", "He", "person"),
        mention("m5", "Paris", "location"),
    )
    entities = tuple(Entity(f"e{i}", (m.id,), m.type, m.text) for i, m in enumerate(mentions))
    return Document("d", TEXT, "en", ((0, 30), (31, 51), (52, 70)), mentions, entities, facts)


def fact(head: int, relation: str, tail: int, score: float = 0.9, assertion: str | None = None) -> Fact:
    return Fact(f"e{head}", relation, f"e{tail}", f"m{head}", f"m{tail}", score, assertion=assertion)


def test_a_fact_of_a_pronoun_is_told_of_the_one_who_is_meant() -> None:
    doc = settle(resolve(document(fact(2, "residence", 3))))
    name = {e.id: e.name for e in doc.entities}
    assert [(name[f.head], f.relation, name[f.tail]) for f in doc.facts] == [("Ada Lovelace", "residence", "London")]
    assert doc.facts[0].head_mention == "m2"  # pinned where it is said
    assert doc.facts[0].score == pytest.approx(0.9 * RESOLVED)  # whom a pronoun means is a guess
    (unscored,) = settle(resolve(document(replace(fact(2, "residence", 3), score=None)))).facts
    assert unscored.score is None


def test_a_pronoun_that_nobody_is_found_for_is_never_shown() -> None:
    doc = document(fact(0, "date of birth", 1), fact(4, "residence", 5))
    settled = settle(doc)
    assert references(doc) == {"m2", "m4"}
    assert [f.relation for f in settled.facts] == ["date of birth"]
    assert "He" not in {m.text for m in settled.mentions} | {e.name for e in settled.entities}
    assert settled.coverage is not None
    assert settled.coverage.notes == ("1 fact left out of somebody or something that no name was found for",)


def test_of_a_functional_relation_the_surest_tail_stays_and_what_is_denied_stays_too() -> None:
    told = [fact(0, "date of birth", 1, 0.6), fact(0, "date of birth", 3, 0.8), fact(0, "residence", 3, 0.6),
            fact(0, "residence", 5, 0.7), fact(0, "date of birth", 5, 0.9, "negated")]  # fmt: skip
    assert one_tail(told, {"date of birth"}, {}) == [told[1], told[2], told[3], told[4]]
    assert one_tail(told, (), {}) == told


def test_a_place_and_the_country_around_it_are_both_kept_if_one_sentence_names_them() -> None:
    places = {"e1": "location", "e3": "location", "e5": "location"}
    city, country, other = (replace(fact(0, "place of birth", tail, score), evidence=(Evidence(sentence),))
                            for tail, score, sentence in ((1, 0.9, 0), (3, 0.6, 0), (5, 0.8, 1)))  # fmt: skip
    assert one_tail([city, country, other], {"place of birth"}, places) == [city, country]
    assert one_tail([city, country, other], {"place of birth"}, {}) == [city]


def test_a_place_lies_in_one_country() -> None:
    names = {"e0": "Oaxaca", "e1": "Mexico", "e2": "US", "e3": "the United States", "e4": "Texas"}
    within = "located in the administrative territorial entity"
    facts = [fact(0, within, 1, 0.9), fact(0, "country", 2, 0.8), fact(0, within, 4, 0.6)]
    assert one_country(facts, names) == [facts[0], facts[2]]
    both = [fact(0, "country", 2, 0.8), fact(0, within, 3, 0.7)]
    assert one_country(both, names) == both


def test_a_place_of_birth_is_that_of_the_likelier_head_unless_two_are_alike() -> None:
    child, mother, twin = (fact(head, "place of birth", 3, score) for head, score in ((0, 0.8), (2, 0.5), (4, 0.7)))
    assert one_head([child, mother, twin], {"place of birth"}) == [child, twin]
    assert one_head([child, mother, twin], ()) == [child, mother, twin]


def test_a_fact_that_is_told_twice_is_one() -> None:
    first, second = fact(0, "residence", 3, 0.6), replace(fact(0, "residence", 3, 0.8), head_mention="m2")
    assert once([first, second]) == [second]


def test_a_mention_that_only_a_hidden_fact_spoke_of_is_hidden_with_it() -> None:
    doc = document(fact(0, "residence", 3))
    shown = without_loose(doc, places(doc) - {(0, 12, "person")})
    assert [m.text for m in shown.mentions] == ["Ada Lovelace", "London"]
    assert [e.name for e in shown.entities] == ["Ada Lovelace", "London"]


def test_of_two_people_one_is_the_husband_and_one_the_wife() -> None:
    told = [fact(0, "妻子", 4, 0.6), fact(4, "丈夫", 0, 0.6), fact(0, "丈夫", 4, 0.7), fact(0, "妻子", 2, 0.5)]
    assert one_couple(told) == [told[0], told[1], told[3]]


def test_a_sentence_gives_everybody_one_spouse_at_most() -> None:
    def spouse(head: int, tail: int, score: float, sentence: int = 0) -> Fact:
        return replace(fact(head, "spouse", tail, score), evidence=(Evidence(sentence),))

    couple, turned, rival, later = spouse(0, 2, 0.8), spouse(2, 0, 0.7), spouse(4, 2, 0.75), spouse(0, 4, 0.6, 1)
    assert one_partner([couple, turned, rival, later]) == [couple, turned, later]


def test_of_a_name_that_was_cut_in_two_ways_one_stays() -> None:
    long, short = Mention("m0", 0, 12, "Ada Lovelace", "person"), Mention("m2", 4, 12, "Lovelace", "person")
    year, other = Mention("m1", 20, 24, "1815", "date"), Mention("m3", 40, 44, "1815", "date")
    at = {m.id: m for m in (long, short, year, other)}
    best, part, apart = (fact(*ends, score) for *ends, score in ((0, "date of birth", 1, 0.7),
                                                                 (2, "date of birth", 1, 0.7),
                                                                 (2, "date of birth", 3, 0.7)))  # fmt: skip
    assert unbroken([part, best], at) == [best]
    assert unbroken([best, apart], at) == [best, apart]


def test_an_entity_is_not_named_by_a_mention_that_goes() -> None:
    text = "“桂林行营主任白崇禧”"
    whole, inner = Mention("a", 0, 7, "“桂林行营主任", "title"), Mention("b", 1, 7, "桂林行营主任", "title")
    doc = Document("d", text, mentions=(whole, inner), entities=(Entity("e", ("a", "b"), "title", "“桂林行营主任"),))
    assert [e.name for e in without_mentions(doc, {"a"}).entities] == ["桂林行营主任"]
    assert [e.name for e in without_mentions(doc, {"b"}).entities] == ["“桂林行营主任"]
    named = replace(doc, entities=(Entity("e", ("a", "b"), "title", "桂林行营主任（职务）"),))
    assert [e.name for e in without_mentions(named, {"a"}).entities] == ["桂林行营主任（职务）"]
    plain = Document("d", "Acme Corp. Acme. The company.", mentions=(
        Mention("a", 0, 9, "Acme Corp", "x"), Mention("b", 11, 15, "Acme", "x"),
        Mention("c", 17, 28, "The company", "x")),
        entities=(Entity("e", ("a", "b", "c"), "x", "Acme Corp"),))  # fmt: skip
    assert [e.name for e in without_mentions(plain, {"a"}).entities] == ["Acme"]
    assert [e.name for e in without_mentions(plain, {"a", "b"}).entities] == ["Acme Corp"]
