"""Linking: candidates and NIL, what decides between them, and what becomes of the document."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from factpin.documents import Document, Entity, Mention
from factpin.memory import Source, Store, open_store
from factpin.memory.link_fit import LinkExample, LinkWeights, fit, softmax
from factpin.memory.linking import Linker
from tests.memory.world import Said, tell

SPORT = "scored goals for the team and won the cup"
SCIENCE = "proved a theorem on graphs at the university"


def said(id: str, name: str, about: str, link: str = "", type: str = "PER") -> Document:
    text = f"{name} {about}."
    entities = (Entity("e0", ("m0",), type, link=link),) if link else ()
    return Document(id, text, mentions=(Mention("m0", 0, len(name), name, type),), entities=entities)


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:") as store:
        for i in range(3):
            store.put(said(f"a{i}", "Jordan", SPORT, "Q1"), Source(f"a{i}"))
        store.put(said("b", "Jordan", SCIENCE, "Q2"), Source("b"))
        yield store


def test_context_decides_against_the_prior(store: Store) -> None:
    linker = Linker(store)
    assert linker.links(said("c", "Jordan", SPORT))[0].link == "Q1"
    found = linker.links(said("c", "Jordan", SCIENCE))[0]
    assert found.link == "Q2" and found.rivals[0][0].name == "Jordan"
    assert Linker(store, given=LinkWeights((1.0, 0.0, 0.0, 0.0))).links(said("c", "Jordan", SCIENCE))[0].link == "Q1"


def test_probabilities_of_candidates_and_nil_sum_to_one(store: Store) -> None:
    linker = Linker(store)
    uses = linker.uses("jordan")
    doc = said("c", "Jordan", SPORT)
    chances = softmax(linker.weights.scores(linker.features(doc, doc.mentions[0], uses, {"jordan"}), 4))
    assert len(chances) == 3 and chances.sum() == pytest.approx(1.0)
    assert linker.links(doc)[0].score == pytest.approx(chances.max())


def test_an_unknown_name_is_nil_and_a_pronoun_is_not_looked_up(store: Store) -> None:
    linker = Linker(store)
    (found,) = linker.links(said("c", "Weber", SPORT))
    assert found.entity is None and found.score == 1.0
    assert linker.links(said("c", "He", SPORT)) == []


def test_a_high_bias_makes_everything_nil(store: Store) -> None:
    found = Linker(store, given=LinkWeights(bias=50.0)).links(said("c", "Jordan", SPORT))[0]
    assert found.entity is None and found.rivals[0][1] < 0.01


def test_the_document_gets_entities_and_keeps_its_own(store: Store) -> None:
    linker = Linker(store)
    plain = linker.link(said("c", "Jordan", SPORT))
    assert [(e.link, e.mentions) for e in plain.entities] == [("Q1", ("m0",))]
    assert plain.meta["links"][0]["link"] == "Q1" and 0 < plain.meta["links"][0]["score"] <= 1
    own = replace(said("c", "Jordan", SPORT), entities=(Entity("x", ("m0",), "PER", "Mike"),))
    assert linker.link(own).entities == (Entity("x", ("m0",), "PER", "Mike", "Q1"),)


def test_a_linked_document_is_the_same_entity_when_it_is_stored() -> None:
    with open_store("memory:") as store:
        store.put(tell(Said("谷爱凌", "出生地", "旧金山")), Source("a"))
        (before,) = store.candidates("谷爱凌")
        doc = Document("n", "谷爱凌夺冠。", mentions=(Mention("m0", 0, 3, "谷爱凌", "PER"),))
        store.put(Linker(store, given=LinkWeights(bias=-9.0)).link(doc), Source("n"))
        (after,) = store.candidates("谷爱凌")
    assert after.entity.id == before.entity.id and after.mentions == before.mentions + 1


def test_facts_with_other_names_of_the_document_count() -> None:
    with open_store("memory:") as store:
        store.put(tell(Said("李娜", "夺冠", "法网", link="Q10")), Source("a"))
        store.put(tell(Said("李娜", "演唱", "青藏高原", link="Q11")), Source("b"))
        text = "李娜的青藏高原很动听。"
        doc = Document("n", text, mentions=(Mention("m0", 0, 2, "李娜", "PER"), Mention("m1", 3, 7, "青藏高原", "LOC")))
        only_near = LinkWeights((0.0, 0.0, 0.0, 1.0), bias=-9.0)
        assert Linker(store, given=only_near).links(doc)[0].link == "Q11"


def test_fitting_leaves_the_document_out(store: Store) -> None:
    examples = Linker(store).examples()
    assert sorted(one.gold for one in examples) == [-1, 0, 0, 0]  # Q2 is in one document only: without it, NIL
    assert {one.count for one in examples if one.gold < 0} == {3}


def test_fitting_finds_what_matters() -> None:
    chance = np.random.default_rng(0)
    examples = []
    for _ in range(400):
        features = chance.normal(size=(3, 4))
        examples.append(LinkExample(features, 5, int(features[:, 2].argmax())))
    weights = fit(examples)
    assert weights.features[2] > 3 * max(abs(w) for i, w in enumerate(weights.features) if i != 2) / 2
    assert weights.bias < LinkWeights().bias
    assert fit([]) == LinkWeights()


def test_deleting_a_document_is_as_if_it_had_never_been_there(store: Store) -> None:
    doc = said("c", "Jordan", SCIENCE)
    before = Linker(store).links(doc)
    store.put(said("z", "Jordan", SCIENCE, "Q3"), Source("z"))
    assert Linker(store).links(doc) != before
    store.remove("z")
    assert Linker(store).links(doc) == before


def test_a_mention_without_a_type_has_weights_of_its_own(store: Store) -> None:
    linker = Linker(store)
    linker.weights, linker.weights_without_type = LinkWeights(bias=50.0), LinkWeights()
    assert linker.links(said("c", "Jordan", SPORT))[0].entity is None
    assert linker.links(said("c", "Jordan", SPORT, type=""))[0].link == "Q1"


def test_without_types_nil_is_not_likelier() -> None:
    right, other = np.array([[-0.1, 0.0, 1.0, 0.0]]), np.array([[-0.1, 0.0, -1.0, 0.0]])
    examples = [LinkExample(right, 3, 0)] * 300 + [LinkExample(other, 3, -1)] * 100  # where the type differs: NIL
    unknown = np.array([[-0.1, 0.0, 0.0, 0.0]])
    with_types, without = fit(examples), fit([one.without_type() for one in examples])
    assert softmax(with_types.scores(right, 3))[0] > 0.9 > 0.1 > softmax(with_types.scores(other, 3))[0]
    assert softmax(without.scores(unknown, 3))[0] == pytest.approx(0.75, abs=0.03)
