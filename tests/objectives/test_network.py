"""Network: padding and packing change nothing, it remembers, and refuses what it cannot read."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Text, View, collate, pack
from factpin.objectives.fitting import fitted
from proofs.leaks import TINY, network
from proofs.world import VOCABULARY, text


def make(name: str, x: Text, index: int = 0) -> View:
    return OBJECTIVES[name].view(x, VOCABULARY, seed=3, epoch=0, index=index)


@pytest.mark.parametrize("norm_at", ["after", "before"])
@pytest.mark.parametrize("name", ["bert", "glm_token", "mpnet", "nezha", "pegasus", "t5", "transformer_xl", "xlnet"])
@torch.no_grad()
def test_padding_and_neighbours_in_a_batch_change_nothing(name: str, norm_at: str) -> None:
    views = [make(name, text(n, n, before=m), n) for n, m in ((20, 4), (33, 2), (26, 0))]
    run = network(replace(fitted(TINY, OBJECTIVES[name]), norm_at=norm_at))
    together = run(collate(views, VOCABULARY.pad)).hidden
    for b, view in enumerate(views):
        alone = run(collate([view], VOCABULARY.pad)).hidden
        for stream, h in alone.items():
            assert torch.allclose(together[stream][b, : h.shape[1]], h[0], atol=1e-12)


@pytest.mark.parametrize("name", ["glm_token", "gpt", "mass", "mpnet", "spanbert", "t5"])
@torch.no_grad()
def test_packed_views_compute_what_they_compute_alone(name: str) -> None:
    views = [make(name, text(n, n), n) for n in (12, 25, 18)]
    run = network(fitted(TINY, OBJECTIVES[name]))
    packed = run(collate([pack(views)], VOCABULARY.pad)).hidden
    for stream, h in packed.items():
        alone = [run(collate([view], VOCABULARY.pad)).hidden[stream][0] for view in views]
        assert torch.allclose(h[0], torch.cat(alone), atol=1e-12)


def stretch(ids: np.ndarray, before: np.ndarray) -> Text:
    return Text(ids, np.arange(len(ids)), np.array([len(ids)]), before=before)


@torch.no_grad()
def test_two_steps_with_memory_read_what_one_step_reads() -> None:
    """A causal network with its whole past as memory is the same network on the whole text."""
    row = OBJECTIVES["transformer_xl"]
    run = network(replace(fitted(TINY, row), memory=50))
    ids = np.random.default_rng(0).integers(8, 200, (2, 12))
    whole = run(collate([row.view(stretch(x, x[:0]), VOCABULARY, seed=0, epoch=0, index=0) for x in ids], 0))
    first = run(collate([row.view(stretch(x[:7], x[:0]), VOCABULARY, seed=0, epoch=0, index=0) for x in ids], 0))
    second = collate([row.view(stretch(x[7:], x[:7]), VOCABULARY, seed=0, epoch=0, index=0) for x in ids], 0)
    assert torch.allclose(run(second, first.memory).hidden["content"], whole.hidden["content"][:, 7:], atol=1e-12)
    assert torch.allclose(run(second).hidden["content"], whole.hidden["content"][:, 7:], atol=1e-12)  # from ids
    assert not torch.allclose(first.hidden["content"][:, :5], whole.hidden["content"][:, 7:])


@torch.no_grad()
def test_memory_that_is_carried_reaches_further_than_memory_made_of_ids() -> None:
    """What `factpin pretrain` does reaches one segment back; a piece two segments back moves a carried memory alone."""
    row = OBJECTIVES["transformer_xl"]
    run = network(replace(fitted(TINY, row), memory=4))
    ids = np.random.default_rng(1).integers(8, 200, 12)
    other = np.concatenate([[ids[0] + 1], ids[1:]])

    def last(x: np.ndarray, *, carried: bool) -> torch.Tensor:
        memory = None
        for n in (0, 4, 8) if carried else (8,):
            view = row.view(stretch(x[n : n + 4], x[max(0, n - 4) : n]), VOCABULARY, seed=0, epoch=0, index=0)
            states = run(collate([view], 0), memory if n else None)
            memory = states.memory
        return states.hidden["content"]

    assert torch.equal(last(ids, carried=False), last(other, carried=False))
    assert not torch.equal(last(ids, carried=True), last(other, carried=True))


@torch.no_grad()
def test_memory_is_cut_to_its_length_and_keeps_the_beginning_of_a_window() -> None:
    row = OBJECTIVES["transformer_xl"]
    run = network(replace(fitted(TINY, row), memory=5))
    views = [row.view(text(n, n, before=m), VOCABULARY, seed=0, epoch=0, index=0) for n, m in ((9, 3), (3, 1))]
    batch = collate(views, VOCABULARY.pad)
    memory = run(batch).memory
    assert memory.real.sum(dim=1).tolist() == [5, 4]
    embedded = run.input(run.words(torch.as_tensor(batch.streams["content"].ids)), torch.zeros(2, 9, 1), None)
    assert torch.equal(memory.layers[0][0], embedded[0, 4:])
    assert torch.equal(memory.layers[0][1, 1:4], embedded[1, :3])
    short = run(batch, keep=2).memory
    assert short.real.sum(dim=1).tolist() == [5, 3]
    assert torch.equal(short.layers[0][0, 3:], embedded[0, :2])


def test_memory_carries_no_gradient() -> None:
    row = OBJECTIVES["transformer_xl"]
    run = network(replace(fitted(TINY, row), memory=5))
    memory = run(collate([row.view(text(9, 1), VOCABULARY, seed=0, epoch=0, index=0)], 0)).memory
    assert not any(layer.requires_grad for layer in memory.layers)


def test_a_memory_of_another_length_is_refused() -> None:
    row = OBJECTIVES["transformer_xl"]
    run = network(replace(fitted(TINY, row), memory=5))
    memory = run(collate([row.view(text(9, 1), VOCABULARY, seed=0, epoch=0, index=0)], 0)).memory
    batch = collate([row.view(text(9, 1, before=4), VOCABULARY, seed=0, epoch=0, index=0)], 0)
    with pytest.raises(BadInput, match="memory holds"):
        run(batch, memory)


def test_what_a_network_cannot_read_is_refused() -> None:
    views = {name: collate([make(name, text(40, 1))], VOCABULARY.pad) for name in ("bert", "t5", "unilm_right")}
    with pytest.raises(BadInput, match="counts 20 positions"):
        network(replace(TINY, longest=20))(views["bert"])
    with pytest.raises(BadInput, match="knows 2 segments"):
        network(replace(TINY, segments=2))(views["unilm_right"])
    with pytest.raises(BadInput, match="decoder"):
        network(replace(TINY, positions="buckets"))(views["t5"])
    with pytest.raises(BadInput, match="multiple of the heads"):
        NetworkConfig(10, width=9, heads=2)
    with pytest.raises(BadInput, match="share its positions"):
        fitted(TINY, OBJECTIVES["bert"], OBJECTIVES["glm_token"])


def test_shared_layers_are_one_set_and_factorised_vectors_are_small() -> None:
    config = replace(TINY, width=16, embedding=4, shared=True)
    run = Network(config)
    assert len(run.layers) == 1
    assert run.words.weight.shape == (VOCABULARY.size, 4)
    full_size = sum(p.numel() for p in Network(replace(config, embedding=None, shared=False)).parameters())
    assert sum(p.numel() for p in run.parameters()) < full_size / 2
