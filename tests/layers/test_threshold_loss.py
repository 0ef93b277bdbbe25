"""The adaptive-threshold loss against its definition, in every precision, and the decision rule against loops."""

import math

import pytest
import torch
from torch import Tensor

from factpin.layers.threshold_loss import adaptive_threshold_loss, global_threshold_loss, margins, taught_loss

P, R = 40, 7


def case(scale: float = 1.0, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Scores and labels: pairs without a relation, with one, with several, and one with all."""
    torch.manual_seed(seed)
    y = torch.rand(P, R) < 0.15
    y[3] = True
    y[4:20] = False
    return torch.randn(P, 1 + R, dtype=torch.float64) * scale, y


def slow(s: Tensor, y: Tensor) -> Tensor:
    """The paper, pair by pair; 0 is TH."""
    total = s.new_zeros(())
    for scores, holds in zip(s, y, strict=True):
        positive = [r + 1 for r in range(len(holds)) if holds[r]]
        negative = [r + 1 for r in range(len(holds)) if not holds[r]]
        for r in positive:
            total = total - (scores[r] - torch.stack([scores[i] for i in [*positive, 0]]).logsumexp(0))
        total = total - (scores[0] - torch.stack([scores[i] for i in [*negative, 0]]).logsumexp(0))
    return total / len(s)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3])
def test_loss_and_gradient_are_those_of_the_definition(scale: float) -> None:
    s, y = case(scale)
    ours, theirs = s.clone().requires_grad_(), s.clone().requires_grad_()
    loss, expected = adaptive_threshold_loss(ours, y), slow(theirs, y)
    loss.backward()
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-12)
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-14, rtol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_scores_give_the_value_of_single_precision(dtype: torch.dtype) -> None:
    s, y = case(20.0)
    half = s.to(dtype).requires_grad_()
    loss = adaptive_threshold_loss(half, y)
    loss.backward()
    assert loss.dtype == torch.float32 and loss.item() == pytest.approx(slow(half.double(), y).item(), rel=1e-5)
    assert half.grad.isfinite().all() and half.grad.abs().sum() > 0
    assert global_threshold_loss(half, torch.zeros(P, 1 + R, dtype=torch.bool)).isfinite()


def test_scores_at_the_edge_of_half_precision_stay_finite() -> None:
    s = torch.tensor([[-65504.0, 65504.0, 0.0], [65504.0, -65504.0, 0.0]], dtype=torch.float16, requires_grad=True)
    loss = adaptive_threshold_loss(s, torch.tensor([[False, True], [True, True]]))
    loss.backward()
    assert loss.isfinite() and s.grad.isfinite().all()


@pytest.mark.parametrize("form", [adaptive_threshold_loss, global_threshold_loss])
def test_labels_and_scores_are_the_same_bits_after_the_call(form) -> None:
    s, y = case()
    s = s if form is adaptive_threshold_loss else s[:, 1:].contiguous()
    s.requires_grad_()
    before = s.detach().clone(), y.clone()
    form(s, y).backward()
    assert torch.equal(s, before[0]) and torch.equal(y, before[1]) and y.dtype == torch.bool


def test_a_pair_without_a_relation_costs_only_what_stands_near_its_threshold() -> None:
    none = torch.zeros(1, R, dtype=torch.bool)
    s = torch.zeros(1, 1 + R)
    assert adaptive_threshold_loss(s, none).item() == pytest.approx(math.log(1 + R))
    s[0, 0] = 50.0
    assert adaptive_threshold_loss(s, none).item() == pytest.approx(0.0, abs=1e-6)


def test_there_may_be_no_pairs() -> None:
    s = torch.zeros(0, 1 + R, requires_grad=True)
    loss = adaptive_threshold_loss(s, torch.zeros(0, R, dtype=torch.bool))
    loss.backward()
    assert loss.item() == 0.0
    assert global_threshold_loss(torch.zeros(0, R), torch.zeros(0, R, dtype=torch.bool)).item() == 0.0


def test_the_global_loss_is_binary_cross_entropy() -> None:
    s, y = case(3.0)
    s = s[:, 1:]
    expected = 0.0
    for scores, holds in zip(s.tolist(), y.tolist(), strict=True):
        for x, yes in zip(scores, holds, strict=True):
            expected += math.log1p(math.exp(-x if yes else x))
    assert global_threshold_loss(s, y).item() == pytest.approx(expected / P, rel=1e-12)


def test_a_margin_is_what_stands_above_th() -> None:
    s, _ = case()
    for p in range(P):
        for r in range(R):
            assert margins(s)[p, r] == s[p, r + 1] - s[p, 0]


# ---- a teacher -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [1.0, 3.0])
def test_the_taught_loss_is_the_divergence_of_every_yes_or_no(T: float) -> None:
    torch.manual_seed(0)
    m, t = (torch.randn(6, 4, dtype=torch.float64) * 3 for _ in range(2))
    total = 0.0
    for a, b in zip(m.flatten().tolist(), t.flatten().tolist(), strict=True):
        p, q = 1 / (1 + math.exp(-b / T)), 1 / (1 + math.exp(-a / T))
        total += p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    assert taught_loss(m, t, T).item() == pytest.approx(T**2 * total / 6)
    assert taught_loss(t, t, T).item() == 0.0 and taught_loss(m[:0], t[:0], T).item() == 0.0


def test_the_taught_loss_stays_finite_and_pulls_towards_the_teacher() -> None:
    m = torch.tensor([[60.0, -60.0, 0.5]], requires_grad=True)
    loss = taught_loss(m, torch.tensor([[-60.0, 60.0, 2.0]], dtype=torch.float16), 1.0)
    loss.backward()
    assert loss.isfinite() and m.grad is not None
    assert m.grad[0].tolist() == pytest.approx([1.0, -1.0, 1 / (1 + math.exp(-0.5)) - 1 / (1 + math.exp(-2.0))])
