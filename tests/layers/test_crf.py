"""The linear chain against enumeration of all its paths."""

from itertools import product

import pytest
import torch
from torch import Tensor

from factpin.layers import crf_chains
from factpin.layers.crf import TagRules, log_partition, path_score
from factpin.layers.crf_chains import run_chains

T = 4


def rules(scale: float = 1.0, dtype: torch.dtype = torch.float32, *, forbid: bool = True) -> TagRules:
    torch.manual_seed(5)
    transitions, start, end = torch.randn(T, T) * scale, torch.randn(T) * scale, torch.randn(T) * scale
    if forbid:
        transitions[0, 2] = transitions[3, 3] = transitions[1, 0] = start[2] = end[1] = -torch.inf
    return TagRules(transitions.to(dtype), start.to(dtype), end.to(dtype))


def emissions(scale: float = 1.0) -> tuple[Tensor, Tensor]:
    torch.manual_seed(6)
    return torch.randn(3, 5, T) * scale, torch.tensor([5, 1, 3])


def paths(e: Tensor, r: TagRules, n: int) -> list[tuple[tuple[int, ...], float]]:
    """Every path over n steps of one text (n, T) with its score."""
    e, transitions, start, end = (x.detach().double() for x in (e, r.transitions, r.start, r.end))
    found = []
    for y in product(range(T), repeat=n):
        score = start[y[0]] + end[y[-1]] + sum(e[t, y[t]] for t in range(n))
        found.append((y, float(score + sum(transitions[y[t], y[t + 1]] for t in range(n - 1)))))
    return found


def probabilities(e: Tensor, r: TagRules, n: int) -> tuple[list[tuple[int, ...]], Tensor, float]:
    found = paths(e, r, n)
    scores = torch.tensor([score for _, score in found], dtype=torch.float64)
    return [y for y, _ in found], scores.softmax(0), float(scores.logsumexp(0))


@pytest.fixture(params=["scaled", "logarithms"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways through the chain: SAFE above 1 declares every text unsafe."""
    if request.param == "logarithms":
        monkeypatch.setattr(crf_chains, "SAFE", 1e300)
    return request.param


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
def test_log_Z_is_the_sum_over_all_paths(way: str, scale: float) -> None:
    e, length = emissions(scale)
    r = rules(scale)
    ours = log_partition(e, r, length)
    for b in range(3):
        assert ours[b].item() == pytest.approx(probabilities(e[b], r, int(length[b]))[2], rel=1e-12, abs=1e-12)


def test_the_gradient_of_log_Z_is_the_marginals(way: str) -> None:
    e, length = emissions()
    r = rules()
    e.requires_grad_()
    for part in (r.transitions, r.start, r.end):
        part.requires_grad_()
    weight = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
    (log_partition(e, r, length) * weight).sum().backward()

    unary, pair = torch.zeros(3, 5, T, dtype=torch.float64), torch.zeros(T, T, dtype=torch.float64)
    first, last = torch.zeros(T, dtype=torch.float64), torch.zeros(T, dtype=torch.float64)
    for b in range(3):
        n = int(length[b])
        for y, p in zip(*probabilities(e[b].detach(), r, n)[:2], strict=True):
            p = p * weight[b]
            first[y[0]] += p
            last[y[-1]] += p
            for t in range(n):
                unary[b, t, y[t]] += p
            for t in range(n - 1):
                pair[y[t], y[t + 1]] += p
    for ours, right in ((e, unary), (r.transitions, pair), (r.start, first), (r.end, last)):
        assert torch.allclose(ours.grad.double(), right, atol=1e-6)
    assert e.grad[1, 1:].abs().sum() == 0 and e.grad[2, 3:].abs().sum() == 0
    assert r.transitions.grad[0, 2] == 0


def test_steps_past_the_length_change_nothing() -> None:
    e, length = emissions()
    r = rules()
    loud = e.clone()
    loud[1, 1:], loud[2, 3:] = 1e4, -1e4
    assert torch.equal(log_partition(e, r, length), log_partition(loud, r, length))


@pytest.mark.parametrize("spread", [100.0, 800.0, 3000.0, 1e5])
def test_scores_too_far_apart_for_float64_are_run_in_logarithms(spread: float) -> None:
    """Emissions want tags that transitions all but forbid: the right paths underflow as probabilities."""
    torch.manual_seed(0)
    e = torch.randn(2, 5, T)
    e[0, ::2, 0] += spread
    e[0, 1::2, 1] += spread
    r = rules(forbid=False)
    transitions = r.transitions.clone()
    transitions[0, 1] -= 3 * spread  # the chain has to leave tag 0 or tag 1 at every step
    transitions[1, 0] -= 3 * spread
    r = TagRules(transitions, r.start, r.end)
    length = torch.tensor([5, 4])
    chains = run_chains(e.double(), r.transitions.double(), r.start.double(), r.end.double(), length)
    assert chains.slow.tolist() == ([0] if spread > 700 else [])
    e.requires_grad_()
    transitions.requires_grad_()
    value = log_partition(e, r, length)
    value.sum().backward()
    for b in range(2):
        ys, p, log_Z = probabilities(e[b].detach(), r, int(length[b]))
        assert value[b].item() == pytest.approx(log_Z, rel=1e-12)
        for t in range(int(length[b])):
            for tag in range(T):
                right = sum(float(q) for y, q in zip(ys, p, strict=True) if y[t] == tag)
                assert e.grad[b, t, tag].item() == pytest.approx(right, abs=1e-6)
    assert transitions.grad.sum().item() == pytest.approx(7.0, rel=1e-6)  # 4 + 3 steps


@pytest.mark.parametrize("scale", [1.0, 3.0, 20.0])
def test_the_gradient_stays_near_float64_autograd_on_long_texts(scale: float) -> None:
    torch.manual_seed(1)
    e, length = torch.randn(4, 100, T) * scale, torch.tensor([100, 37, 1, 88])
    r = rules()
    slow = e.double().requires_grad_()
    alpha = r.start.double() + slow[:, 0]
    for t in range(1, 100):
        grown = (alpha[:, :, None] + r.transitions.double()).logsumexp(1) + slow[:, t]
        alpha = torch.where((t < length)[:, None], grown, alpha)
    right = (alpha + r.end.double()).logsumexp(1)
    right.sum().backward()
    e.requires_grad_()
    ours = log_partition(e, r, length)
    ours.sum().backward()
    assert torch.allclose(ours, right, rtol=1e-12)
    assert torch.allclose(e.grad.double(), slow.grad, atol=1e-6)


def test_the_loss_agrees_with_pytorch_crf() -> None:
    torchcrf = pytest.importorskip("torchcrf")
    torch.manual_seed(2)
    peer = torchcrf.CRF(T, batch_first=True)
    r = TagRules(peer.transitions.detach(), peer.start_transitions.detach(), peer.end_transitions.detach())
    e, length = torch.randn(6, 20, T), torch.tensor([20, 3, 1, 11, 20, 7])
    mask = torch.arange(20) < length[:, None]
    path = torch.randint(0, T, (6, 20))
    theirs = -peer(e, path, mask=mask, reduction="none")
    ours = log_partition(e, r, length) - path_score(e, r, length, path)
    assert torch.allclose(ours.float(), theirs, rtol=1e-4, atol=1e-4)
