"""The texts that a linker learns from, and entity vectors: each as if its document were not in the store."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.documents import Document, Entity, Mention, Span
from factpin.knowledge.kar import Kar, KarConfig
from factpin.knowledge.linked import LinkedText, cut, linked_texts
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan, collate_mentions
from factpin.knowledge.reading import WINDOW, ContextSums, context_vectors, contexts_of, main_directions, place_of
from factpin.knowledge.store_entities import StoreEntities, read_entities
from factpin.memory import Source, Store, TypedFact, open_store
from factpin.tokens import Tokenizer
from factpin.training.knowledge_layer import with_others
from tests.memory.world import Said, tell


def said(id: str, link: str, name: str = "小明") -> Document:
    entities = (Entity("e0", ("m0",), "PER", link=link),)
    return Document(id, f"{name}出生于北京。", mentions=(Mention("m0", 0, len(name), name, "PER"),), entities=entities)


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:") as store:
        for id, link in (("a1", "Q1"), ("a2", "Q1"), ("a3", "Q1"), ("b", "Q2")):
            store.put(said(id, link), Source(id))
        store.put(said("c", "Q3", "王小明"), Source("c"))
        yield store


def test_only_facts_that_hold_describe_an_entity() -> None:
    """By words and by translation alike, as in a fact memory."""
    with open_store("memory:") as store:
        said = [
            Said("王芳", "出生地", "北京"),
            Said("王芳", "职业地", "上海"),
            Said("王芳", "居住地", "广州", assertion="negated"),
        ]
        store.put(tell(*said, id="a"), Source("a"))
        (rejected,) = (fact for fact in store.facts() if fact.relation == "职业地")
        store.judge(rejected.id, "rejected")
        found = read_entities(store)
    named = dict(zip((text.split(" ")[0] for text in found.described), found.described, strict=True))
    assert named["王芳"].endswith("出生地 北京") and "职业地" not in named["上海"] and "居住地" not in named["广州"]
    assert [relation for _, relation, _ in found.facts] == ["出生地"]


def test_a_fact_in_several_periods_describes_an_entity_once() -> None:
    with open_store("memory:") as store:
        store.put(tell(Said("王芳", "居住地", "北京"), id="a"), Source("a"))
        for year in range(1990, 2000):
            store.add(TypedFact("王芳", "居住地", "北京", "PER", "LOC", valid_from=str(year)))
        found = read_entities(store)
        assert len(store.facts()) > 8
    assert len(found.facts) == 1 and sorted(text.count("居住地") for text in found.described)[-3:] == [0, 1, 1]


def read(store: Store, folder: Path) -> tuple[StoreEntities, dict[str, LinkedText]]:
    entities = read_entities(store)
    return entities, {text.source: text for text in linked_texts(store, entities, Tokenizer.load(folder))}


def test_a_text_does_not_raise_its_own_priors(store: Store, encoder_folder: Path) -> None:
    _, texts = read(store, encoder_folder)
    (mention,) = texts["a1"].mentions  # two others mean Q1, one means Q2
    assert sorted(mention.priors, reverse=True) == pytest.approx([2 / 3, 1 / 3])
    assert mention.candidates[mention.gold] == mention.entity and mention.priors[mention.gold] == pytest.approx(2 / 3)


def test_an_entity_that_only_this_text_names_is_nil(store: Store, encoder_folder: Path) -> None:
    _, texts = read(store, encoder_folder)
    (only,) = texts["b"].mentions  # the three others mean Q1
    assert only.gold == NIL and only.priors == (1.0,) and only.entity not in only.candidates
    (unknown,) = texts["c"].mentions
    assert unknown.gold == NIL and unknown.candidates == ()


def test_a_layer_is_where_its_method_reads_the_encoder() -> None:
    assert [place_of("kar", layers) for layers in (2, 6, 12)] == [1, 5, 10]
    assert [place_of("entities", layers) for layers in (2, 6, 12)] == [1, 2, 4]


@torch.no_grad()
def test_null_takes_part_in_a_softmax() -> None:
    vectors = torch.eye(5, 4)
    mentions = collate_mentions([[MentionSpan(0, 0, (2, 3), (0.7, 0.3))], [MentionSpan(0, 0, (2,), (1.0,))]])
    kar = Kar(4, vectors, KarConfig(2, 4, 0.0, "softmax")).eval()
    mixed = kar.average(torch.zeros(2, 1, 2), mentions)[:, 0]  # over unit vectors: NULL, MASK and both candidates
    assert torch.allclose(mixed, torch.tensor([[1 / 3, 0, 1 / 3, 1 / 3], [1 / 2, 0, 1 / 2, 0]]))
    margin = Kar(4, vectors, replace(kar.config, loss="margin")).eval()
    mixed = margin.average(torch.zeros(2, 1, 2), mentions)[:, 0]
    assert torch.allclose(mixed, torch.tensor([[0, 0, 1 / 2, 1 / 2], [0, 0, 1.0, 0]]))


def test_names_are_found_again_in_the_parts_of_a_text(encoder_folder: Path) -> None:
    tokenizer = Tokenizer.load(encoder_folder)
    text = "小明在北京。" * 40
    names = [Span(at, at + 2) for at in range(len(text)) if text[at : at + 2] in ("小明", "北京")]
    parts = list(cut(text, names, tokenizer, 16))
    assert len(parts) > 10 and sorted(number for part in parts for number in part.names) == list(range(len(names)))
    for part in parts:
        assert len(part.ids) <= 16 + tokenizer.frame_size and part.first + part.last == tokenizer.frame_size
        for number, (first, last) in part.names.items():
            wanted = tokenizer.encode(text[names[number].start : names[number].end]).ids.tolist()
            assert part.ids[first : last + 1].tolist() == wanted[: len(part.ids) - part.last - first]


def test_names_that_share_a_token_are_one_name_the_longer(store: Store, encoder_folder: Path) -> None:
    mentions = (Mention("m0", 0, 3, "王小明", "PER"), Mention("m1", 1, 3, "小明", "PER"))
    entities = (Entity("e0", ("m0",), "PER", link="Q3"), Entity("e1", ("m1",), "PER", link="Q1"))
    store.put(Document("d", "王小明出生于北京。", mentions=mentions, entities=entities), Source("d"))
    (only,) = read(store, encoder_folder)[1]["d"].mentions
    assert only.last - only.first == 2


def sums_of(texts: Sequence[LinkedText], contexts: Sequence[torch.Tensor]) -> ContextSums:
    sums = ContextSums(texts, contexts[0].shape[1])
    for text, found in zip(texts, contexts, strict=True):
        sums.add(text, found)
    return sums


def test_a_context_is_the_mean_of_what_is_around_a_mention() -> None:
    hidden = torch.randn(70, 3, generator=torch.Generator().manual_seed(0))
    places = [(0, 1), (30, 34), (69, 69), (0, 69)]
    around = [hidden[2 : 2 + WINDOW], torch.cat([hidden[30 - WINDOW : 30], hidden[35 : 35 + WINDOW]]),
              hidden[69 - WINDOW : 69], hidden]  # nothing is around the last one  # fmt: skip
    found = contexts_of(hidden, [MentionSpan(*place) for place in places])
    assert torch.allclose(found, torch.stack([one.mean(0) for one in around]), atol=1e-6)


def test_main_directions_are_those_of_a_singular_value_decomposition() -> None:
    vectors = torch.randn(50, 6, generator=torch.Generator().manual_seed(1)) * torch.arange(1, 7)
    rows = torch.arange(3, 48)
    some = vectors[rows] - vectors[rows].mean(0)
    found, wanted = main_directions(vectors, 4, rows), torch.linalg.svd(some, full_matrices=False).Vh[:4]
    assert torch.allclose((found.axes * wanted).sum(1).abs(), torch.ones(4), atol=1e-5)
    assert torch.allclose(found.mean, vectors[rows].mean(0), atol=1e-6)


def test_an_entity_is_not_described_by_the_text_that_names_it() -> None:
    contexts = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    places = (("a", FIRST), ("a", FIRST + 1), ("b", FIRST), ("b", FIRST))
    texts = [
        LinkedText(source, np.zeros(3, np.int32), 1, 1, (MentionSpan(1, 1, (FIRST, FIRST + 1), (0.5, 0.5), 0, entity),))
        for source, entity in places
    ]
    table, seen = context_vectors(texts, sums_of(texts, list(contexts[:, None])), 2, 4)
    means = torch.stack([contexts[[0, 2, 3]].mean(0), contexts[1]])
    whole = main_directions(means, 4)
    assert torch.equal(table[:FIRST], torch.zeros(FIRST, 4)) and torch.allclose(
        table[FIRST : FIRST + 2], whole.reduce(means), atol=1e-6
    )
    offered = {text.source: text.mentions[0].candidates for text in seen}
    assert offered["b"][1] == FIRST + 1  # which b does not name
    for source, others in (("a", contexts[2:].mean(0)), ("b", contexts[0])):
        assert offered[source][0] >= FIRST + 2
        assert torch.allclose(table[offered[source][0]], whole.reduce(others[None])[0], atol=1e-5)
    assert len(table) == FIRST + 2 + 2  # the second entity is in one document only, where it is no candidate


def test_an_entity_that_only_this_document_names_is_not_offered() -> None:
    """Its name can be a candidate because another document has it inside of a longer name, which won there."""
    contexts = [torch.eye(3)[:1], torch.eye(3)[1:2]]
    spans = (
        MentionSpan(1, 1, (FIRST, FIRST + 1, FIRST + 2), (0.5, 0.25, 0.25), 0, FIRST),  # the third is nowhere a name
        MentionSpan(1, 1, (FIRST + 1, FIRST), (0.5, 0.5), 1, FIRST + 1),
    )
    texts = [LinkedText(source, np.zeros(3, np.int32), 1, 1, (one,)) for source, one in zip("ab", spans, strict=True)]
    table, (a, b) = context_vectors(texts, sums_of(texts, contexts), 3, 3)
    assert len(table) == FIRST + 3
    (first,), (second,) = a.mentions, b.mentions
    assert (first.candidates, first.priors, first.gold) == ((FIRST + 1,), (1.0,), NIL)
    assert (second.candidates, second.priors, second.gold) == ((FIRST,), (1.0,), 0)


def test_random_candidates_are_no_second_right_one() -> None:
    chance = np.random.default_rng(0)
    span = MentionSpan(1, 2, (30, 4), (0.7, 0.3), 0, 3)  # row 30: entity 3 without this document
    seen = [with_others(span, 12, 8, chance) for _ in range(200)]
    assert {len(one.candidates) > 2 for one in seen} == {True, False}
    for one in seen:
        assert one.candidates[:2] == (30, 4) and 3 not in one.candidates and max(one.candidates[2:], default=0) < 12
        assert len(set(one.candidates)) == len(one.candidates) and sum(one.priors) == pytest.approx(1.0)
    nil = MentionSpan(1, 2, (4,), (1.0,), NIL, 3)
    assert all(with_others(nil, 12, 8, chance) is nil for _ in range(20))
