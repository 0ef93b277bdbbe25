"""Partial annotation: labels that a text does not annotate are learned from their positives alone."""

from dataclasses import replace
from itertools import product

import pytest
import torch

from factpin.heads import CONFIGS, HEADS, Cells
from factpin.heads.cells import known_rows
from factpin.heads.crf import CRF, CRFConfig, encode_tags
from factpin.layers.multilabel_loss import multilabel_loss
from factpin.layers.places import CellIndices

LABELS, WIDTH = ("person", "place"), 16
KNOWN = torch.tensor([[True, False], [True, True]])
GOLD = Cells.of([(0, 0, 1, 2), (0, 1, 3, 3), (1, 1, 0, 1)])


def build(name: str, seed: int = 0) -> torch.nn.Module:
    torch.manual_seed(seed)
    return HEADS[name](CONFIGS[name](labels=LABELS, head_size=8), WIDTH)


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    real = torch.ones(2, 5, dtype=torch.bool)
    real[1, 4] = False
    return torch.randn(2, 5, WIDTH), real


@pytest.mark.parametrize("name", ["efficient_global_pointer", "global_pointer"])
def test_negatives_of_a_label_that_is_not_annotated_do_not_count(name: str) -> None:
    head, (H, real) = build(name), batch()
    scores = head(H, real)
    loss = head.loss(scores, replace(GOLD, known=KNOWN))
    s = head.dense(scores)  # (B, L, N, N)
    y = torch.zeros_like(s, dtype=torch.bool)
    y[GOLD.batch, GOLD.label, GOLD.start, GOLD.end] = True
    counted = s.masked_fill(~y & ~KNOWN[:, :, None, None], -torch.inf)  # what is not known is as if it did not exist
    expected = multilabel_loss(counted.flatten(2), y.flatten(2)).mean()
    torch.testing.assert_close(loss, expected)
    weight = head.qk.weight
    (own,) = torch.autograd.grad(loss, weight, retain_graph=True)
    (dense,) = torch.autograd.grad(expected, weight)
    torch.testing.assert_close(own, dense, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", ["efficient_global_pointer", "global_pointer", "crf"])
def test_where_everything_is_annotated_nothing_changes(name: str) -> None:
    torch.manual_seed(0)
    head = CRF(CRFConfig(LABELS), WIDTH) if name == "crf" else build(name)
    scores = head(*batch())
    gold = Cells.of([(0, 0, 1, 2), (1, 1, 0, 1)])
    everything = replace(gold, known=torch.ones(2, 2, dtype=torch.bool))
    torch.testing.assert_close(head.loss(scores, everything), head.loss(scores, gold), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
def test_a_crf_counts_every_path_that_agrees_with_the_annotation(scheme: str) -> None:
    torch.manual_seed(0)
    head = CRF(CRFConfig(LABELS, scheme), WIDTH)
    torch.nn.init.normal_(head.transitions)
    H, real = batch()
    gold = Cells.of([(0, 0, 1, 2)])
    loss = head.loss(head(H, real), replace(gold, known=KNOWN))
    loss.backward()
    assert head.emit.weight.grad is not None and bool(head.emit.weight.grad.isfinite().all())
    with torch.no_grad():
        emissions, rules = head(H, real).emissions, head._rules()
        tags = encode_tags(head.tags, CellIndices(gold.batch, gold.label, gold.start, gold.end), 2, 5)
        block = len(head.tags.letters)
        expected = 0.0
        for b, n in ((0, 5), (1, 4)):
            every, agreeing = [], []
            for path in product(range(len(head.tags)), repeat=n):
                steps = list(path)
                s = emissions[b, range(n), steps].sum() + rules.transitions[steps[:-1], steps[1:]].sum()
                every.append(s + rules.start[steps[0]] + rules.end[steps[-1]])
                if all(t == g or (g == 0 and b == 0 and t > block) for t, g in zip(steps, tags[b, :n], strict=True)):
                    agreeing.append(every[-1])
            expected += float(torch.stack(every).logsumexp(0) - torch.stack(agreeing).logsumexp(0)) / 2
    assert float(loss.detach()) == pytest.approx(expected, abs=1e-4)


def test_texts_that_annotate_everything_stand_beside_others() -> None:
    import numpy as np

    assert known_rows([None, None]) is None
    table = known_rows([None, np.array([True, False])])
    assert table is not None and table.tolist() == [[True, True], [True, False]]
