"""The texts that a linker learns from: each as if its document were not in the store."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from factpin.documents import Document, Entity, Mention
from factpin.encoders import Encoder
from factpin.knowledge.kar import Kar, KarConfig
from factpin.knowledge.linked import LinkedText, linked_texts
from factpin.knowledge.mentions import NIL, MentionSpan, collate_mentions
from factpin.knowledge.names import StoreEntities, read_entities
from factpin.knowledge.store_layer import build_layer, place_of
from factpin.memory import Source, Store, open_store


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


def read(store: Store, folder: Path) -> tuple[StoreEntities, dict[str, LinkedText]]:
    encoder = Encoder.load(folder)
    tokenizer, entities = encoder.tokenizer, read_entities(store)
    assert tokenizer is not None
    layer = build_layer("kar", encoder, tokenizer, entities, "x", size=8)
    texts = linked_texts(store, entities, layer.names, layer.inside, tokenizer)
    return entities, {text.source: text for text in texts}


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
