"""How directly English sentences state facts, and what that does to their scores."""

import pytest

import factpin
from factpin.extraction.evidence import features, weigh
from factpin.extraction.evidence_en import KINDS, is_stated
from factpin.extraction.extract import Team
from factpin.extraction.scene import Scene
from tests.extraction.test_wording_en import IN, sentence


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail", "stated"),
    [
        ("[L Stamford], [L Connecticut] grew.", IN, 0, 1, True),
        ("[L Stamford] grew faster than other cities of the west such as [L Ohio].", IN, 0, 1, False),
        ("[P Ann Lee] attended [O Leeds College].", "educated at", 0, 1, True),
        ("Studying at [O Leeds College], [P Ann Lee] won.", "educated at", 1, 0, False),
        ("[O Acme] is based in [L Leeds].", "headquarters location", 0, 1, True),
        ("[P Ann Lee] is the CEO of [O Acme].", "chief executive officer", 1, 0, True),
        ("[P Ann Lee] praised [O Acme].", "chief executive officer", 1, 0, False),
        ("[L Belgian] writer [P Ann Lee] came.", "country of citizenship", 1, 0, True),
        ("King Tom of [L Scotland] married [P Ann Lee].", "country of citizenship", 1, 0, False),
        ("It is a [L Belgian] drama series starring [P Ann Lee].", "country of citizenship", 1, 0, False),
        ("[L Belgian] retired boxer [P Ann Lee] came.", "country of citizenship", 1, 0, True),
        ("[L Belgian] speed skater [P Ann Lee] came.", "country of citizenship", 1, 0, True),
        ("[L Belgian] mixed martial artist [P Ann Lee] came.", "country of citizenship", 1, 0, True),
        ("[L Belgian] sprinting legend [P Ann Lee] came.", "country of citizenship", 1, 0, True),
        ("[L Belgian] red-haired singer [P Ann Lee] came.", "country of citizenship", 1, 0, True),
        ("[W Moonlight], released in [D 1954], sold well.", "publication date", 0, 1, True),
    ],
)
def test_a_fact_is_stated_where_words_join_its_names(
    marked: str, relation: str, head: int, tail: int, stated: bool
) -> None:
    doc = sentence(marked, relation, head, tail)
    assert is_stated(Scene.of(doc), doc.facts[0]) == stated


def test_a_name_between_two_others_is_a_rival_unless_they_are_in_a_list() -> None:
    def found(marked: str) -> dict[str, float]:
        doc = sentence(marked, "employer", 0, 2)
        return features(Scene.of(doc), doc.facts[0], ())

    apart, listed = found("[P Ann Lee] told [O Acme] to sue [O Bolt]."), found("[P Ann Lee] led [O Acme] and [O Bolt].")
    assert (apart["rival tail"], listed["rival tail"]) == (1.0, 0.0)
    assert apart["job"] == 1.0
    assert not any(apart[kind] for kind in KINDS if kind != "job")


def test_the_shipped_weights_are_those_of_the_features() -> None:
    doc = sentence("[P Ann Lee] is the CEO of [O Acme].", "chief executive officer", 1, 0)
    names = {*features(Scene.of(doc), doc.facts[0], ())}
    team = Team.of([factpin.load("en-facts")])
    weights = team.evidence("en")
    assert {*weights} == names | {"shift"}
    (fact,) = weigh(Scene.of(doc), doc.facts, weights, ())
    assert fact.score is not None and fact.score > 0.5
    assert not team.evidence("zh")
