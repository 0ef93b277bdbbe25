"""Losses: every row has finite gradients, sums are divided as declared, and every head learns a few texts by heart."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import log_softmax

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.objectives import MIXTURES, OBJECTIVES, STAGES, Batch, collate
from factpin.objectives.electra import Electra, electra, filled, replaced
from factpin.objectives.fitting import fitted
from factpin.objectives.heads import Copy, Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.objective import Loss, Objective
from factpin.objectives.view import NO_LOSS
from proofs.world import VOCABULARY, text

SMALL = NetworkConfig(VOCABULARY.size, width=32, layers=2, heads=4, inner=64, longest=200, dropout=0.0)
HEADS = HeadsConfig(offset_width=8)


def learner(objective: Objective, config: NetworkConfig = SMALL) -> Learner | Electra:
    torch.manual_seed(0)
    config = fitted(config, objective)
    if any(loss.head == "replaced" for loss in objective.losses):
        return electra(config, HEADS, objective, share=0.5)
    run = Network(config)
    return Learner(run, Heads(HEADS, run.width, run.words, [objective]))


def batch(name: str, *, count: int = 3, before: int = 3) -> Batch:
    texts = [text(n, n, before=before) for n in (20, 33, 26, 30, 22, 28)[:count]]
    return collate(
        [OBJECTIVES[name].view(x, VOCABULARY, seed=0, epoch=0, index=i) for i, x in enumerate(texts)], VOCABULARY.pad
    )


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_row_has_a_loss_and_finite_gradients(name: str) -> None:
    objective = OBJECTIVES[name]
    model = learner(objective)
    losses = model(batch(name), objective)
    losses.total.backward()
    assert torch.isfinite(losses.total) and losses.total > 0
    assert set(losses.numbers()) == {f"{loss.head} {loss.stream}" for loss in objective.losses}
    for key, parameter in model.named_parameters():
        if parameter.grad is not None:
            assert torch.isfinite(parameter.grad).all(), key
    unused = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    free = (".k.bias", ".attention.w", ".attention.g")  # what moves all scores of a row alike
    assert not [key for key in unused if not key.endswith(free) and not (name == "electra" and "head.words" in key)]


def test_a_new_network_knows_nothing() -> None:
    """The first loss on words is that of an even guess."""
    objective = OBJECTIVES["gpt"]
    assert learner(objective)(batch("gpt"), objective).total.item() == pytest.approx(np.log(VOCABULARY.size), abs=0.1)


@torch.no_grad()
def test_words_are_divided_by_the_targets_of_the_whole_batch() -> None:
    objective, made = OBJECTIVES["bert"], batch("bert")
    model = learner(objective)
    losses = model(made, objective)
    labels = made.streams["content"].labels
    h = losses.states.hidden["content"]
    logs = log_softmax(model.head.words(h, model.encoder.words.weight), dim=-1)
    asked = [(b, i) for b in range(3) for i in range(labels.shape[1]) if labels[b, i] != NO_LOSS]
    right = -sum(float(logs[b, i, labels[b, i]]) for b, i in asked) / len(asked)
    assert losses.numbers()["words content"] == pytest.approx(right, rel=1e-5)
    pairs = log_softmax(model.head.pairs["2"](h[:, 0]), dim=-1)
    known = [b for b in range(3) if made.pair[b] != NO_LOSS]
    right_pair = -sum(float(pairs[b, made.pair[b]]) for b in known) / len(known)
    assert losses.numbers()["pair content"] == pytest.approx(right_pair, rel=1e-5)
    assert losses.total.item() == pytest.approx(right + right_pair, rel=1e-5)


@torch.no_grad()
def test_a_boundary_is_asked_for_each_piece_of_its_span() -> None:
    objective, made = OBJECTIVES["spanbert"], batch("spanbert")
    model = learner(objective)
    losses = model(made, objective)
    h, labels, E = losses.states.hidden["content"], made.streams["content"].labels, model.encoder.words.weight
    summed, count = 0.0, 0
    for b, start, end in made.spans.tolist():
        for i in range(start, end):
            logits = model.head.boundary(h[b, start - 1][None], h[b, end][None], torch.tensor([i - start]), E)
            summed -= float(log_softmax(logits, dim=-1)[0, labels[b, i]])
            count += 1
    part = losses.parts["boundary content"]
    assert count > 3 and part.count == count + 1
    assert float(part.value) == pytest.approx(summed / (count + 1), rel=1e-5)


@torch.no_grad()
def test_copying_mixes_two_distributions_into_one() -> None:
    torch.manual_seed(0)
    copy, V = Copy(4).double(), 7
    h, source = torch.randn(2, 3, 4).double(), torch.tensor([[1, 5, 1, 2], [6, 6, 0, 3]])
    e, a = torch.randn(2, 4, 4).double(), torch.softmax(torch.randn(2, 3, 4).double(), dim=-1)
    logits = torch.randn(2, 3, V).double()
    shares = copy.shares(h, e, a)
    assert torch.allclose(shares[0].exp() + shares[1].exp(), torch.ones(2, 3).double())
    p = copy.of_all(logits, shares, a, source).exp()
    assert torch.allclose(p.sum(dim=-1), torch.ones(2, 3).double(), atol=1e-14)
    for y in range(V):
        copied = (a * (source == y)[:, None]).sum(dim=-1)
        right = shares[0].exp() * logits.softmax(dim=-1)[..., y] + shares[1].exp() * copied
        assert torch.allclose(p[..., y], right)
        said = log_softmax(logits, dim=-1)[..., y].flatten()
        flat = (shares[0].flatten(), shares[1].flatten())
        same = (source == y)[:, None].expand(2, 3, 4).flatten(0, 1)
        assert torch.allclose(copy.of_labels(said, flat, a.flatten(0, 1), same).exp(), right.flatten())


def test_a_batch_without_targets_has_no_loss_and_no_gradient() -> None:
    objective = OBJECTIVES["roberta"]
    made = batch("roberta")
    block = made.streams["content"]
    silent = replace(made, streams={"content": replace(block, labels=np.full_like(block.labels, NO_LOSS))})
    model = learner(objective)
    losses = model(silent, objective)
    losses.total.backward()
    assert losses.total.item() == 0
    assert not any(p.grad is not None and p.grad.any() for p in model.parameters())


def test_electra_counts_a_lucky_draw_as_original() -> None:
    objective = OBJECTIVES["electra"]
    views = [objective.view(text(n, n), VOCABULARY, seed=0, epoch=0, index=0) for n in (20, 33)]
    made = collate(views, VOCABULARY.pad)
    labels = made.streams["content"].labels
    truth = labels[labels != NO_LOSS]
    drawn = truth.copy()
    drawn[::2] = 8 + (drawn[::2] + 1) % 100
    spoilt, changed = filled(made, drawn)
    assert not filled(made, truth)[1].any()
    at = 0
    for b, view in enumerate(views):
        count = int((view.streams["content"].answers >= 0).sum())
        ids, fake = replaced(view, drawn[at : at + count])
        assert np.array_equal(spoilt.streams["content"].ids[b, : len(ids)], ids)
        assert np.array_equal(changed[b, : len(ids)], fake) and not changed[b, len(ids) :].any()
        at += count


def test_electra_shares_the_input_and_judges_every_cell() -> None:
    objective, made = OBJECTIVES["electra"], batch("electra")
    model = learner(objective)
    assert model.generator.encoder.words is model.encoder.words
    assert model.generator.encoder.width == SMALL.width // 2
    losses = model(made, objective)
    assert losses.parts["replaced content"].count == int(made.streams["content"].real.sum())
    words, judged = losses.numbers()["words content"], losses.numbers()["replaced content"]
    assert losses.total.item() == pytest.approx(words + 50 * judged, rel=1e-5)
    with pytest.raises(BadInput, match="Make an Electra"):
        Learner(model.encoder, model.head)(made, objective)


def test_label_smoothing_keeps_a_certain_network_from_being_right() -> None:
    objective, made = OBJECTIVES["gpt"], batch("gpt")
    model = learner(objective)
    smooth = Learner(model.encoder, model.head, smoothing=0.1)
    with torch.no_grad():
        model.encoder.words.weight.mul_(50)
        plain = model.eval()(made, objective).total
        assert smooth.eval()(made, objective).total == plain  # a loss that judges is a plain one
        smooth.training = True  # and no dropout
        assert smooth(made, objective).total > plain


BY_HEART = {
    "words": "gpt", "pair": "albert", "boundary": "spanbert", "copy": "palm_continue", "replaced": "electra",
    "query": "mpnet",
}  # fmt: skip


@pytest.mark.parametrize("head", BY_HEART)
def test_a_few_texts_are_learned_by_heart(head: str) -> None:
    name = BY_HEART[head]
    objective, made = OBJECTIVES[name], batch(name, count=4)
    if head == "replaced":  # an even weight, so that the generator is learned as fast
        objective = replace(objective, losses=(objective.losses[0], Loss("replaced", "content", 1.0, "tokens")))
    model = learner(objective)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    first = None
    for _ in range(60):
        losses = model(made, objective)
        first = losses.numbers() if first is None else first
        optimiser.zero_grad()
        losses.total.backward()
        optimiser.step()
    for part, value in losses.numbers().items():
        assert value < first[part] / 3, (part, first[part], value)


@pytest.mark.parametrize("name", [*MIXTURES, *STAGES])
def test_the_rows_of_a_mixture_and_of_stages_share_one_network(name: str) -> None:
    rows = {row: OBJECTIVES[row] for row in (*MIXTURES.get(name, ()), *STAGES.get(name, ()))}
    torch.manual_seed(0)
    run = Network(fitted(SMALL, *rows.values()))
    model = Learner(run, Heads(HEADS, run.width, run.words, rows.values()))
    for row, objective in rows.items():
        model.zero_grad()
        losses = model(batch(row), objective)
        losses.total.backward()
        assert torch.isfinite(losses.total) and run.layers[0].think.inner.weight.grad.any()


def test_rows_with_different_classes_have_heads_of_their_own() -> None:
    rows = [OBJECTIVES[name] for name in ("ernie_basic", "ernie_distance", "ernie_reorder")]
    run = Network(fitted(SMALL, *rows))
    model = Learner(run, Heads(HEADS, run.width, run.words, rows))
    assert sorted(model.head.pairs) == ["2", "3", "9"]
    for name, row in zip(("ernie_basic", "ernie_distance", "ernie_reorder"), rows, strict=True):
        assert torch.isfinite(model(batch(name), row).total)
