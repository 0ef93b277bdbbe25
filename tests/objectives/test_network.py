"""Network: it depends on exactly what the audit says, sums to one, remembers, and refuses what it cannot read."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.errors import BadInput
from factpin.layers.masks import full
from factpin.objectives import OBJECTIVES, Batch, Text, View, Vocabulary, collate, pack
from factpin.objectives.audit import graph, layers_between
from factpin.objectives.glm import GLM
from factpin.objectives.gpt import behind_memory, left_to_right
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.mass import MASS
from factpin.objectives.mpnet import MPNet
from factpin.objectives.network import Network, fitted
from factpin.objectives.objective import Declare, Objective
from factpin.objectives.palm import Continue
from factpin.objectives.parts import NetworkConfig
from factpin.objectives.spoil import Rates
from factpin.objectives.t5 import T5
from factpin.objectives.text import Chance
from factpin.objectives.xlnet import XLNet
from tests.objectives.world import VOCABULARY, text

LAYERS = 2
TINY = NetworkConfig(VOCABULARY.size, width=8, layers=LAYERS, heads=2, inner=12, longest=200, dropout=0.0)
EACH = pytest.mark.parametrize("name", OBJECTIVES)


def network(config: NetworkConfig, seed: int = 0) -> Network:
    """A network whose weights are large enough for everything to matter."""
    torch.manual_seed(seed)
    made = Network(config).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.4)
    return made


def make(name: str, x: Text, index: int = 0) -> View:
    return OBJECTIVES[name].view(x, VOCABULARY, seed=3, epoch=0, index=index)


def changed(batch: Batch, name: str, cell: int) -> Batch:
    """The batch with another id in one cell of its first text."""
    block = batch.streams[name]
    ids = block.ids.copy()
    ids[0, cell] = (ids[0, cell] + 1) % VOCABULARY.size
    return replace(batch, streams={**batch.streams, name: replace(block, ids=ids)})


@EACH
@torch.no_grad()
def test_a_network_depends_on_exactly_what_the_audit_says(name: str) -> None:
    view = make(name, text(10, 5, before=2), 1)
    cells, sees = graph(view)
    depth = layers_between(sees, np.arange(len(cells)))
    run = network(fitted(TINY, OBJECTIVES[name]))
    batch = collate([view], VOCABULARY.pad)
    computed = [stream != "memory" for stream, _ in cells]
    hidden = [stream for stream in view.streams if stream != "memory"]

    def states(one: Batch) -> Tensor:
        found = run(one).hidden
        return torch.cat([found[stream][0] for stream in hidden])

    before = states(batch)
    for c, (stream, cell) in enumerate(cells):
        moved = (states(changed(batch, stream, cell)) - before).abs().amax(dim=1) > 0
        assert np.array_equal(moved.numpy(), ((depth[:, c] >= 0) & (depth[:, c] <= LAYERS))[computed]), (stream, cell)


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


ALL_MASKED = Rates(1.0, 0.0)
FACTORED = {
    "glm_token": (GLM(), "content", 12),
    "gpt": (left_to_right, "content", 6),
    "mass": (MASS(rates=ALL_MASKED), "decoder", 6),
    "mpnet": (MPNet(rates=ALL_MASKED), "query", 18),
    "palm_continue": (Continue(0.5, None), "decoder", 6),
    "t5": (T5(), "decoder", 18),
    "transformer_xl": (behind_memory, "content", 6),
    "xlnet": (XLNet(), "query", 18),
}


def sum_over_fillings(row: Objective, declare: Declare, asked_in: str, n: int) -> float:
    """Σ Π p(piece | what its cell may see), over all ways to fill the places asked for with two ids.

    Where the decoder copies, the pieces it copies from are among the two.
    """
    ids = [8, 9]
    base = text(n, 3, ids=np.full(n, 8), before=3)
    make_view = lambda x: declare(x, VOCABULARY, np.random.default_rng(4))  # noqa: E731
    answers = make_view(base).streams[asked_in].answers
    places = answers[(answers >= 0) & (answers < n)]
    assert 2 <= len(places) <= 6
    views = []
    for filling in product(ids, repeat=len(places)):
        filled = base.ids.copy()
        filled[places] = filling
        views.append(make_view(text(n, 3, ids=filled, before=3)))
    batch = collate(views, VOCABULARY.pad)
    run = network(fitted(TINY, row))
    learner = Learner(run, Heads(HeadsConfig(), run.width, run.words, [row])).double().eval()
    total = torch.zeros(len(views), dtype=torch.float64)
    labels = batch.streams[asked_in].labels
    for cell in range(labels.shape[1]):
        asked = np.isin(labels[:, cell], ids)
        assert asked.all() or not asked.any()  # every filling asks in the same cells
        if asked.all():
            logs = learner.log_p(batch, asked_in, np.full(len(views), cell))
            logs = torch.log_softmax(logs[:, ids], dim=-1)
            total += logs.gather(1, torch.as_tensor(labels[:, cell : cell + 1]) - ids[0])[:, 0]
    return float(total.exp().sum())


@pytest.mark.parametrize("name", FACTORED)
@torch.no_grad()
def test_the_probabilities_of_all_fillings_sum_to_one(name: str) -> None:
    declare, asked_in, n = FACTORED[name]
    assert sum_over_fillings(OBJECTIVES[name], declare, asked_in, n) == pytest.approx(1, abs=1e-12)


@torch.no_grad()
def test_a_network_that_sees_what_it_is_asked_sums_to_something_else() -> None:
    def open_gpt(x: Text, vocabulary: Vocabulary, chance: Chance) -> View:
        view = left_to_right(x, vocabulary, chance)
        return replace(view, streams={"content": replace(view.streams["content"], sees={"content": full(len(x))})})

    assert abs(sum_over_fillings(OBJECTIVES["gpt"], open_gpt, "content", 6) - 1) > 1e-3


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
