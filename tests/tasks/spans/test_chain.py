"""The chain of tags against enumeration of all its paths."""

from itertools import product

import numpy as np
import pytest

from factpin.arrays import Floats, Floats32, Ints
from factpin.tasks.spans import chain
from factpin.tasks.spans.chain import ChainRules, best_path, run_chains

T, B, STEPS = 4, 3, 5


def rules(*, forbid: bool = True) -> ChainRules:
    chance = np.random.default_rng(5)
    transitions, start, end = (chance.standard_normal(shape).astype(np.float32) for shape in ((T, T), (T,), (T,)))
    if forbid:
        transitions[0, 2] = transitions[3, 3] = transitions[1, 0] = start[2] = end[1] = -np.inf
    return ChainRules(transitions, start, end)


def emissions(scale: float = 1.0) -> tuple[Floats32, Ints]:
    chance = np.random.default_rng(6)
    return (chance.standard_normal((B, STEPS, T)) * scale).astype(np.float32), np.array([STEPS, 1, 3])


def paths(e: Floats32, r: ChainRules, n: int) -> tuple[list[tuple[int, ...]], Floats]:
    """Every path over n steps of one text (n, T) with its score."""
    every = list(product(range(T), repeat=n))
    scores = []
    for y in every:
        score = float(r.start[y[0]]) + float(r.end[y[-1]]) + sum(float(e[t, y[t]]) for t in range(n))
        scores.append(score + sum(float(r.transitions[y[t], y[t + 1]]) for t in range(n - 1)))
    return every, np.array(scores)


@pytest.fixture(params=["scaled", "logarithms"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways through the chain: SAFE above 1 declares every text unsafe."""
    if request.param == "logarithms":
        monkeypatch.setattr(chain, "SAFE", 1e300)
    return request.param


@pytest.mark.parametrize("scale", [0.3, 1.0, 30.0])
def test_the_best_path_is_the_highest_of_all(scale: float) -> None:
    (e, length), r = emissions(scale), rules()
    path = best_path(e, r, length)
    for b in range(B):
        every, score = paths(e[b], r, int(length[b]))
        assert tuple(path[b, : length[b]].tolist()) == every[int(score.argmax())]


def check_posterior(e: Floats32, r: ChainRules, length: Ints) -> None:
    chains = run_chains(e, r, length)
    for b in range(len(e)):
        n = int(length[b])
        every, score = paths(e[b], r, n)
        p = np.exp(score - score.max())
        p /= p.sum()
        y = np.array(every)
        for t, tag in product(range(n), range(T)):
            here = p[y[:, t] == tag].sum()
            assert chains.marginal[b, t, tag] == pytest.approx(here, rel=1e-9, abs=1e-200)
            for then in range(T) if t + 1 < n and here > 1e-200 else ():
                both = p[(y[:, t] == tag) & (y[:, t + 1] == then)].sum()
                follow = chains.follow(*(np.array([x]) for x in (b, t, tag, then)))
                assert np.exp(follow[0]) == pytest.approx(both / here, rel=1e-7, abs=1e-12)
        assert not chains.marginal[b, n:].any()


def test_marginals_and_steps_are_those_of_enumeration(way: str) -> None:
    (e, length), r = emissions(), rules()
    check_posterior(e, r, length)


@pytest.mark.parametrize("spread", [100.0, 800.0, 3000.0, 1e5])
def test_scores_too_far_apart_for_float64_are_run_in_logarithms(spread: float) -> None:
    """Emissions want tags that transitions all but forbid: the right paths underflow as probabilities."""
    e, r, length = emissions()[0][:2], rules(forbid=False), np.array([5, 4])
    e[0, ::2, 0] += spread
    e[0, 1::2, 1] += spread
    r.transitions[0, 1] -= 3 * spread
    r.transitions[1, 0] -= 3 * spread
    assert run_chains(e, r, length).slow.tolist() == ([0] if spread > 700 else [])
    check_posterior(e, r, length)


def test_steps_past_the_length_change_nothing() -> None:
    (e, length), r = emissions(), rules()
    loud = e.copy()
    loud[1, 1:], loud[2, 3:] = 1e4, -1e4
    one, two = best_path(e, r, length), best_path(loud, r, length)
    assert all(one[b, : length[b]].tolist() == two[b, : length[b]].tolist() for b in range(B))
    assert np.array_equal(run_chains(e, r, length).marginal, run_chains(loud, r, length).marginal)


def test_the_path_agrees_with_pytorch_crf() -> None:
    torchcrf, torch = pytest.importorskip("torchcrf"), pytest.importorskip("torch")
    torch.manual_seed(2)
    peer = torchcrf.CRF(T, batch_first=True)
    parts = (peer.transitions, peer.start_transitions, peer.end_transitions)
    r = ChainRules(*(part.detach().numpy() for part in parts))
    e, length = torch.randn(6, 20, T), np.array([20, 3, 1, 11, 20, 7])
    mask = torch.from_numpy(np.arange(20) < length[:, None])
    best = best_path(e.numpy(), r, length)
    assert [row[: length[b]].tolist() for b, row in enumerate(best)] == peer.decode(e, mask=mask)
