"""The CRF head: spans, their posterior by enumeration, and gold that a chain cannot hold."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from factpin.errors import FactpinError
from factpin.heads import Cells
from factpin.heads.crf import CRF, CRFConfig, CRFScores
from factpin.tasks.spans import chain
from tests.heads import finding


def build(scheme) -> CRF:
    torch.manual_seed(3)
    head = CRF(CRFConfig(labels=("a", "b"), scheme=scheme), 8)
    for p in (head.transitions, head.start, head.end):
        torch.nn.init.normal_(p)
    return head


def scored(head: CRF, seed: int, scale: float = 2.0) -> CRFScores:
    torch.manual_seed(seed)
    real = torch.tensor([[False, True, True, False, True, True, False]])  # 4 steps: tokens 1, 2, 4, 5
    return CRFScores(torch.randn(1, 7, len(head.tags)) * scale, real)


def enumerate_paths(head: CRF, scores: CRFScores) -> list[tuple[tuple[int, ...], float, set[tuple[int, int, int]]]]:
    """Every legal path with its score and its spans (label, first token, last token)."""
    rules = head._rules()
    tokens = scores.real[0].nonzero().squeeze(1)
    e, n = scores.emissions[0, tokens].double(), len(tokens)
    transitions, start, end = (x.detach().double() for x in (rules.transitions, rules.start, rules.end))
    found = []
    for y in product(range(len(head.tags)), repeat=n):
        score = float(start[y[0]] + end[y[-1]] + sum(e[t, y[t]] for t in range(n)))
        score += sum(float(transitions[a, b]) for a, b in pairwise(y))
        if score > -math.inf:
            _, label, first, last = head.tags.spans(np.array([y]), np.array([n]))
            columns = (label.tolist(), tokens[first].tolist(), tokens[last].tolist())
            found.append((y, score, set(zip(*columns, strict=True))))
    return found


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@pytest.mark.parametrize("way", ["scaled", "logarithms"])
def test_hits_are_the_best_path_and_scores_its_spans_posterior(
    scheme, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "logarithms":
        monkeypatch.setattr(chain, "SAFE", 1e300)
    head = build(scheme)
    count = 0
    for seed in range(2):
        scores = scored(head, seed)
        every = enumerate_paths(head, scores)
        weights = torch.tensor([score for _, score, _ in every], dtype=torch.float64).softmax(0)
        best = max(every, key=lambda item: item[1])
        found = finding.spans(head, scores)
        assert {row[1:] for row in found.rows()} == best[2]
        for row, score in zip(found.rows(), found.score.tolist(), strict=True):
            p = sum(float(w) for w, (_, _, held) in zip(weights, every, strict=True) if row[1:] in held)
            assert score == pytest.approx(math.log(p / (1 - p)), abs=1e-4)
        count += len(found)
    assert count > 0


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_loss_is_the_log_likelihood_of_the_gold_spans(scheme) -> None:
    head = build(scheme)
    scores = scored(head, 7)
    every = enumerate_paths(head, scores)
    log_Z = torch.tensor([score for _, score, _ in every], dtype=torch.float64).logsumexp(0)
    for taught in ([(0, 1, 2), (1, 4, 4)], [(1, 2, 5)], [(0, 1, 1), (0, 2, 4)], []):
        gold = next(score for _, score, held in every if held == set(taught))
        loss = head.loss(scores, Cells.of([(0, *span) for span in taught]))
        assert loss.item() == pytest.approx(float(log_Z) - gold, rel=1e-5)


def test_gold_spans_that_overlap_are_refused() -> None:
    head = build("bioes")
    scores = scored(head, 0)
    for rows in ([(0, 0, 1, 4), (0, 1, 2, 2)], [(0, 0, 4, 5), (0, 0, 1, 4)], [(0, 0, 1, 1), (0, 1, 1, 1)]):
        with pytest.raises(FactpinError, match="must not overlap.*global_pointer"):
            head.loss(scores, Cells.of(rows))
    head.loss(scores, Cells.of([(0, 0, 1, 2), (0, 1, 4, 5)]))


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_loss_is_finite_and_not_negative_for_scores_of_any_size(scheme, scale: float) -> None:
    head = build(scheme)
    scores = scored(head, 1, scale)
    scores.emissions.requires_grad_()
    loss = head.loss(scores, Cells.of([(0, 0, 1, 2)]))
    loss.backward()
    assert torch.isfinite(loss) and loss.item() >= 0
    assert torch.isfinite(scores.emissions.grad).all()
    assert scores.emissions.grad[~scores.real].abs().sum() == 0
    assert head.transitions.grad[head.no_transitions].abs().sum() == 0
    own = finding.spans(head, scores)
    assert np.isfinite(own.score).all()
    assert head.loss(scores, Cells.of(own.rows())).item() >= 0


def test_a_span_the_model_is_certain_of_has_a_finite_score() -> None:
    head = build("bioes")
    scores = scored(head, 1)
    scores.emissions.fill_(-1e5)
    scores.emissions[..., 4] = 1e5  # S of the first label
    found = finding.spans(head, scores)
    assert [row[2] for row in found.rows()] == [1, 2, 4, 5]
    assert (found.score > 30).all() and np.isfinite(found.score).all()
