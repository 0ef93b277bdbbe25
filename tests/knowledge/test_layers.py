"""The three layers: what they promise exactly, that they learn, and that every gradient is finite."""

import pytest
import torch
from torch import nn

from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig, linking_loss
from factpin.knowledge.fact_memory import FactMemory, HeadFacts, answer_loss, fact_loss
from factpin.knowledge.kar import Kar, KarConfig, decide, margin_loss, softmax_loss
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan, collate_mentions
from factpin.knowledge.store_layer import StoreLayerConfig
from proofs import memory_eae, memory_fae, memory_knowbert


@pytest.mark.parametrize("system", [memory_eae, memory_fae, memory_knowbert])
def test_every_promise_is_kept(system: object) -> None:
    found = [one for proof in system.PROOFS for one in proof.compare()]  # type: ignore[attr-defined]
    assert len(found) > 5
    assert [str(one) for one in found if not one.holds] == []


def test_mentions_side_by_side() -> None:
    batch = collate_mentions([[], [MentionSpan(1, 3, (4, 5), (0.9, 0.1), 0, 4), MentionSpan(5, 5, (7,), (1.0,), NIL)]])
    assert batch.count == 2 and batch.places.tolist() == [[1, 1, 3], [1, 5, 5]]
    assert batch.candidates[1, 1].tolist() == [7, 0] and batch.offered[1, 1].tolist() == [True, False]


@pytest.mark.parametrize("loss", ["margin", "softmax"])
def test_kar_learns_links_and_its_vectors_stay(loss: str) -> None:
    torch.manual_seed(0)
    vectors = torch.randn(10, 8)
    kar = Kar(12, vectors.clone(), KarConfig(2, 16, 0.0, loss))  # type: ignore[arg-type]
    hidden = torch.randn(2, 5, 12)
    mentions = collate_mentions(
        [[MentionSpan(0, 1, (2, 3), (0.5, 0.5), 1)], [MentionSpan(2, 2, (4, 5, 6), (0.2, 0.4, 0.4), NIL)]]
    )
    optimiser = torch.optim.AdamW(kar.linker(), lr=1e-2)
    for _ in range(150):
        optimiser.zero_grad()
        changed, scores = kar(hidden, mentions)
        (kar.loss(scores, mentions) + changed.mean() * 0).backward()
        assert all(p.grad is None or torch.isfinite(p.grad).all() for p in kar.parameters())
        optimiser.step()
    assert kar.loss(scores, mentions) < 0.1
    assert decide(scores, mentions)[:, 0].tolist() == [1, NIL]
    assert torch.equal(kar.entities, vectors)


def test_losses_without_gold_are_zero_and_can_be_trained() -> None:
    mentions = collate_mentions([[MentionSpan(0, 0, (2, 3), (0.5, 0.5))]])
    scores = torch.zeros(1, 1, 2, requires_grad=True)
    for loss in (margin_loss(scores, mentions), softmax_loss(scores, mentions)):
        assert loss == 0 and loss.requires_grad


def test_the_entity_memory_learns_links_and_mentions() -> None:
    torch.manual_seed(0)
    memory = EntityMemory(12, FIRST + 6, EntityMemoryConfig(8))
    hidden, real = torch.randn(2, 5, 12), torch.ones(2, 5, dtype=torch.bool)
    mentions = collate_mentions([[MentionSpan(0, 1, entity=FIRST + 3)], [MentionSpan(2, 2, entity=FIRST + 5)]])
    optimiser = torch.optim.AdamW(memory.parameters(), lr=2e-2)
    for _ in range(150):
        optimiser.zero_grad()
        changed, scores = memory(hidden, mentions)
        loss = linking_loss(scores, mentions) + memory.detection_loss(hidden, mentions, real) + 0 * changed.sum()
        loss.backward()
        optimiser.step()
    assert loss < 0.2 and scores.argmax(-1).tolist() == [FIRST + 3, FIRST + 5]


def test_an_empty_batch_has_no_mentions() -> None:
    memory = EntityMemory(12, FIRST + 6, EntityMemoryConfig(8)).eval()
    hidden = torch.randn(1, 3, 12)
    changed, scores = memory(hidden, collate_mentions([[]]))
    assert len(scores) == 0 and torch.equal(changed, memory.norm(hidden))
    assert linking_loss(scores, collate_mentions([[]])) == 0


def test_the_fact_memory_learns_and_hidden_facts_are_not_used() -> None:
    torch.manual_seed(0)
    memory = FactMemory(12, nn.Embedding(FIRST + 8, 8), nn.Embedding(2, 8))
    memory.replace_facts([HeadFacts(FIRST, 0, (FIRST + 1,)), HeadFacts(FIRST, 1, (FIRST + 2, FIRST + 3))])
    hidden, gold = torch.randn(3, 12), torch.tensor([1, 2, 0])
    hide = torch.tensor([[False, False], [False, False], [True, True]])
    optimiser = torch.optim.AdamW(memory.parameters(), lr=2e-2)
    for _ in range(200):
        optimiser.zero_grad()
        reading = memory(hidden, hide=hide)
        loss = fact_loss(reading, gold) + answer_loss(reading.answers, torch.tensor([FIRST + 1, FIRST + 2, FIRST + 7]))
        loss.backward()
        assert all(p.grad is None or torch.isfinite(p.grad).all() for p in memory.parameters())
        optimiser.step()
    assert reading.facts.argmax(-1).tolist() == [1, 2, 0]
    assert reading.null[2] == 1.0


def test_the_value_of_a_fact_is_the_set_of_its_tails() -> None:
    memory = FactMemory(12, nn.Embedding(FIRST + 4, 8), nn.Embedding(1, 8))
    one, two, other = FIRST + 1, FIRST + 2, FIRST + 3
    memory.replace_facts([HeadFacts(FIRST, 0, (one, two, one)), HeadFacts(two, 0, (other,))])  # `one` in two periods
    vectors = memory.entities.weight
    assert torch.allclose(memory.values(), torch.stack([(vectors[one] + vectors[two]) / 2, vectors[other]]))


def test_a_layer_of_before_weighs_its_candidates_as_it_learned() -> None:
    config = StoreLayerConfig("kar", 1, 4, 8, (1, 1), "x", "softmax")
    record = config.to_json()
    assert StoreLayerConfig.from_json(record) == config
    del record["loss"]  # before it was written, all learned with the margin
    assert StoreLayerConfig.from_json(record).loss == "margin"
