"""One test body for every head of the table: it scores, learns, hands its scores over, and what is found in them is
what the definition says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from factpin.heads import HEADS, Cells
from factpin.heads.gplinker import TripleCells
from factpin.heads.mention_pair import MentionBatch, gold_of
from tests.heads import finding, test_atlop, test_crf, test_event_linker, test_gplinker, test_heads, test_mention_pair

Found = dict[tuple[Any, ...], float]


@dataclass(frozen=True)
class Case:
    """A head with something to read."""

    head: nn.Module
    score: Callable[[], Any]
    loss: Callable[[Any], Tensor]
    find: Callable[[Any], Found]  # from the arrays
    define: Callable[[Any], Found]  # from the scores, by the definition


def pointer(name: str, cut: float) -> Case:
    head, batch = test_heads.build(name), test_heads.batch()

    def define(scores: Any) -> Found:
        s = head.dense(scores)
        return {tuple(row): float(s[tuple(row)]) for row in (s > cut).nonzero().tolist()}

    return Case(head, lambda: head(*batch), lambda s: head.loss(s, Cells.of(test_heads.NESTED)), spans(cut), define)


def spans(cut: float) -> Callable[[Any], Found]:
    def find(arrays: Any) -> Found:
        found = finding.find_spans(arrays, cut)
        return dict(zip(found.rows(), found.score.tolist(), strict=True))

    return find


def crf() -> Case:
    head = test_crf.build("bioes")
    H, real = torch.randn(1, 7, 8), test_crf.scored(head, 0).real

    def define(scores: Any) -> Found:
        every = test_crf.enumerate_paths(head, scores)
        weight = torch.tensor([score for _, score, _ in every], dtype=torch.float64).softmax(0)
        best = max(every, key=lambda item: item[1])[2]
        p = {span: sum(float(w) for w, (*_, held) in zip(weight, every, strict=True) if span in held) for span in best}
        return {(0, *span): float(torch.logit(torch.tensor(x, dtype=torch.float64))) for span, x in p.items()}

    gold = Cells.of([(0, 0, 1, 2), (0, 1, 4, 5)])
    return Case(head, lambda: head(H, real), lambda s: head.loss(s, gold), spans(-torch.inf), define)


def linker(module: Any, find: Callable[..., Any], links: list[tuple[int, int, int]]) -> Case:
    head, batch, gold = module.build(), module.batch(), TripleCells.of(module.SPANS, links)

    def found(arrays: Any) -> Found:
        return module.as_dict(find(arrays, 0.0, max_spans=None))

    return Case(head, lambda: head(*batch), lambda s: head.loss(s, gold), found, lambda s: module.scan(head, s, 0.0))


def atlop() -> Case:
    head, inputs = test_atlop.build(top_k=2), test_atlop.document()

    def find(arrays: Any) -> Found:
        found = finding.find_relations(arrays, 0.0)
        keys = zip(found.head.tolist(), found.relation.tolist(), found.tail.tolist(), strict=True)
        return dict(zip(keys, found.score.tolist(), strict=True))

    def define(scores: Any) -> Found:
        rows = zip(
            scores.head.tolist(), scores.tail.tolist(), (scores.s[:, 1:] - scores.s[:, :1]).tolist(), strict=True
        )
        return {(h, r, t): m[r] for h, t, m in rows for r in sorted(range(3), key=lambda r: -m[r])[:2] if m[r] > 0}

    return Case(head, lambda: head(*inputs), lambda s: head.loss([s], [test_atlop.GOLD]), find, define)


def mention_pair() -> Case:
    head, H = test_mention_pair.build(), torch.randn(1, 25, test_mention_pair.WIDTH)
    tokens, asked = test_mention_pair.asked(7, 4)
    gold = gold_of([test_mention_pair.some_gold(asked)])

    def define(s: Tensor) -> Found:
        p = torch.cat((torch.zeros(7, 1), s), dim=1).softmax(1)[:, 1:].tolist()
        return {(i, k): p[i][k] for i in range(7) for k in range(4)}

    def find(arrays: Any) -> Found:
        p = arrays.probability().tolist()
        return {(i, k): p[i][k] for i in range(7) for k in range(4)}

    return Case(head, lambda: head(H, MentionBatch.of([(tokens, asked)])), lambda s: head.loss(s, gold), find, define)


CASES: dict[str, Callable[[], Case]] = {
    "atlop": atlop,
    "crf": crf,
    "efficient_global_pointer": lambda: pointer("efficient_global_pointer", -6.0),
    "event_linker": lambda: linker(test_event_linker, finding.find_events, test_event_linker.LINKS),
    "global_pointer": lambda: pointer("global_pointer", 0.0),
    "gplinker": lambda: linker(test_gplinker, finding.find_triples, test_gplinker.TRIPLES),
    "mention_pair": mention_pair,
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_scores_learns_and_is_found_in_as_the_definition_says(name: str) -> None:
    torch.manual_seed(0)
    case = CASES[name]()
    with torch.no_grad():
        scores = case.score()
        found, defined = case.find(case.head.to_arrays(scores)), case.define(scores)
    assert found.keys() == defined.keys() and found
    assert all(found[key] == pytest.approx(score, abs=1e-4) for key, score in defined.items())
    optimiser = torch.optim.Adam(case.head.parameters(), lr=0.02)
    losses = []
    for _ in range(25):
        optimiser.zero_grad()
        loss = case.loss(case.score())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert isinstance(case.head.default_threshold, float)
