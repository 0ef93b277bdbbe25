"""Marginals and decoding against sums over everything there is."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor

from factpin.answers.beam import Prefix, beam_search
from factpin.answers.marginal import fast, posterior, prior, sequence, thorough, token, token_posterior, utility
from factpin.errors import BadInput

K, V, END, LONGEST = 3, 4, 0, 3


def world(seed: int) -> tuple[Tensor, dict[tuple[int, Prefix], Tensor]]:
    """Documents, and what each says of the piece that follows any prefix."""
    chance = torch.Generator().manual_seed(seed)
    doc = prior(2 * torch.randn(K, generator=chance, dtype=torch.float64))
    prefixes = [p for n in range(LONGEST) for p in product(range(V), repeat=n)]
    table = {
        (k, p): (2 * torch.randn(V, generator=chance, dtype=torch.float64)).log_softmax(-1)
        for k in range(K)
        for p in prefixes
    }
    return doc, table


def pieces_of(table: dict[tuple[int, Prefix], Tensor], answer: Prefix) -> Tensor:
    """log p of every piece of an answer under every document (1, K, T)."""
    rows = [[float(table[k, answer[:t]][piece]) for t, piece in enumerate(answer)] for k in range(K)]
    return torch.tensor(rows, dtype=torch.float64)[None]


def answers() -> list[Prefix]:
    """All answers: they end, or are as long as they may be."""
    short = [(*p, END) for n in range(LONGEST - 1) for p in product(range(1, V), repeat=n)]
    return [*short, *((*p, last) for p in product(range(1, V), repeat=LONGEST - 1) for last in range(V))]


@pytest.mark.parametrize("seed", range(3))
def test_marginals_are_sums_over_documents(seed: int) -> None:
    doc, table = world(seed)
    total = {"sequence": 0.0, "token": 0.0}
    for answer in answers():
        y = pieces_of(table, answer)
        by_hand = sum(math.exp(doc[k] + y[0, k].sum()) for k in range(K))
        assert float(sequence(doc[None], y)) == pytest.approx(math.log(by_hand), abs=1e-12)
        each = [sum(math.exp(doc[k] + y[0, k, t]) for k in range(K)) for t in range(len(answer))]
        assert token(doc[None], y)[0].exp().tolist() == pytest.approx(each, abs=1e-12)
        weights = [math.exp(doc[k] + y[0, k].sum()) / by_hand for k in range(K)]
        assert posterior(doc[None], y)[0].tolist() == pytest.approx(weights, abs=1e-12)
        assert token_posterior(doc[None], y).sum(1).tolist() == [pytest.approx([1.0] * len(answer))]
        assert float(utility(doc[None], y, 1)) == pytest.approx(math.log(by_hand) - float(y[0, 1].sum()))
        total["sequence"] += by_hand
        total["token"] += math.prod(each)
    assert total == pytest.approx({"sequence": 1.0, "token": 1.0})  # both are distributions over answers


def test_for_one_piece_both_marginals_are_the_same() -> None:
    doc, y = prior(torch.randn(5, K)), torch.randn(5, K, 1).clamp(max=0)
    assert torch.equal(sequence(doc, y), token(doc, y)[:, 0])


def test_the_gradient_of_a_score_is_posterior_minus_prior() -> None:
    scores = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    y = torch.randn(4, 6, 3, dtype=torch.float64).clamp(max=0)
    sequence(prior(scores), y).sum().backward()
    expected = posterior(prior(scores), y) - prior(scores).exp()
    assert torch.allclose(scores.grad, expected, atol=1e-12)
    likelihood = y.sum(-1).exp() / sequence(prior(scores), y).exp()[:, None]
    assert torch.allclose(scores.grad, prior(scores).exp() * (likelihood - 1), atol=1e-12)  # as REALM writes it


def test_padding_adds_nothing_and_the_null_document_alone_is_worth_nothing() -> None:
    doc, y = prior(torch.randn(2, K)), torch.randn(2, K, 3).clamp(max=0)
    padded = torch.cat([y, torch.zeros(2, K, 2)], -1)
    assert torch.allclose(sequence(doc, padded), sequence(doc, y))
    assert torch.allclose(token(doc, padded)[:, 3:], torch.zeros(2, 2), atol=1e-6)
    assert float(utility(torch.zeros(1, 1), y[:1, :1])) == 0.0
    with pytest.raises(BadInput, match=r"expected \(…, K\) and \(…, K, T\)"):
        sequence(doc, y[:, :2])


@pytest.mark.parametrize("seed", range(5))
def test_thorough_is_the_sum_and_never_below_fast(seed: int) -> None:
    doc, table = world(seed)
    beams = [beam_search(lambda p, k=k: torch.stack([table[k, q] for q in p]), 3, END, LONGEST) for k in range(K)]
    found = {k: {one.pieces for one in mine} for k, mine in enumerate(beams)}
    every = sorted(set().union(*found.values()))
    scores = torch.stack([pieces_of(table, answer)[0].sum(-1) for answer in every], dim=1)
    own = torch.tensor([[answer in found[k] for answer in every] for k in range(K)])
    all_of_it, some = thorough(doc, scores), fast(doc, scores, own)
    for h, answer in enumerate(every):
        assert float(all_of_it[h]) == pytest.approx(float(sequence(doc[None], pieces_of(table, answer))))
    assert bool((all_of_it >= some).all()) and bool((all_of_it > some).any())
    assert bool(torch.isfinite(some).all())  # every candidate was found by some document


@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_of_all_answers(seed: int) -> None:
    doc, table = world(seed)

    def mixed(prefixes: list[Prefix]) -> Tensor:
        return torch.stack([torch.stack([doc[k] + table[k, p] for k in range(K)]).logsumexp(0) for p in prefixes])

    scores = {answer: float(token(doc[None], pieces_of(table, answer)).sum()) for answer in answers()}
    best = sorted(scores, key=lambda answer: (-scores[answer], answer))
    found = beam_search(mixed, V**LONGEST, END, LONGEST)
    assert [one.pieces for one in found[:5]] == best[:5]
    assert found[0].score == pytest.approx(scores[best[0]])
    narrow = beam_search(mixed, 1, END, LONGEST)
    assert len(narrow) == 1 and narrow[0].score <= found[0].score + 1e-12


def test_a_beam_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="expected 1 or more"):
        beam_search(lambda p: torch.zeros(len(p), V), 0, END, LONGEST)
