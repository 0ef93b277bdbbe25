"""The answer pointer: against its definition, against cross entropy, and whether it learns to say nothing."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from factpin.errors import BadInput, FactpinError
from factpin.heads.answer_pointer import AnswerPointer, AnswerPointerConfig
from factpin.heads.cells import Cells
from factpin.tasks.spans.best import best_cells

WIDTH = 20


def build(labels: tuple[str, ...] = ("answer",), **options) -> AnswerPointer:
    torch.manual_seed(0)
    return AnswerPointer(AnswerPointerConfig(labels, **options), WIDTH)


def batch() -> tuple[Tensor, Tensor]:
    """Two questions with passages: the first token is special, then a question, then a passage, then padding."""
    torch.manual_seed(1)
    real = torch.zeros(2, 12, dtype=torch.bool)
    real[0, 4:11] = real[1, 3:7] = True
    return torch.randn(2, 12, WIDTH), real


def test_one_gold_span_is_the_mean_of_two_cross_entropies() -> None:
    head = build()
    H, real = batch()
    scores = head(H, real)
    loss = head.loss(scores, Cells.of([(0, 0, 5, 7)]))
    begin, end = torch.tensor([5, 0]), torch.tensor([7, 0])  # the second text has no answer: its first token
    wanted = (cross_entropy(scores.a[:, 0], begin) + cross_entropy(scores.z[:, 0], end)) / 2
    assert torch.allclose(loss, wanted)


def test_any_of_several_gold_spans_is_right() -> None:
    head = build()
    H, real = batch()
    scores = head(H[:1], real[:1])
    gold = [(0, 0, 5, 7), (0, 0, 8, 8), (0, 0, 5, 9)]
    a, z = scores.a[0, 0].softmax(0), scores.z[0, 0].softmax(0)
    wanted = -torch.stack([a[i] * z[j] for _, _, i, j in gold]).sum().log() / 2
    assert torch.allclose(head.loss(scores, Cells.of(gold)), wanted)
    assert torch.allclose(head.loss(scores, Cells.of(gold + gold[:1])), wanted)


def test_dense_scores_are_those_of_the_formula() -> None:
    head = build(("answer", "hop"), max_span=3)
    H, real = batch()
    scores = head(H, real)
    s = head.dense(scores)
    assert s.shape == (2, 2, 12, 12)
    ends = head.ends(H).detach()  # (B, N, 2L): beginnings of both labels, then ends
    for b, label, i, j in [(0, 0, 4, 4), (0, 1, 5, 7), (1, 0, 3, 5), (1, 1, 6, 6)]:
        wanted = ends[b, i, label] + ends[b, j, 2 + label] - ends[b, 0, label] - ends[b, 0, 2 + label]
        assert torch.allclose(s[b, label, i, j], wanted, atol=1e-5)
    there = torch.isfinite(s[0, 0]).nonzero().tolist()
    assert there == [[i, j] for i in range(4, 11) for j in range(i, min(i + 3, 11))]


def test_the_best_cells_are_those_of_the_dense_scores() -> None:
    head = build(("answer", "hop"))
    s = head.dense(head(*batch())).detach()
    best = best_cells(s.numpy(), 3)
    assert len(best) == 2 * 2 * 3
    for b in (0, 1):
        for label in (0, 1):
            here = best.take((best.batch == b) & (best.label == label))
            wanted = s[b, label].flatten().sort(descending=True).values[:3]
            assert here.score.tolist() == wanted.tolist() == s[b, label, here.start, here.end].tolist()


def test_the_best_cells_of_a_table_with_ties_and_holes() -> None:
    table = torch.full((2, 1, 3, 3), -torch.inf)
    table[0, 0, 0, 1] = table[0, 0, 0, 0] = table[0, 0, 1, 2] = 2.0
    table[0, 0, 2, 2] = 5.0
    best = best_cells(table.numpy(), 20)
    assert best.rows() == [(0, 0, 2, 2), (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 2)]  # nothing for the second text
    assert best_cells(table.numpy(), 1).rows() == [(0, 0, 2, 2)]


def test_answers_and_their_absence_are_learned() -> None:
    head = build()
    H, real = batch()
    gold = Cells.of([(0, 0, 5, 7)])
    optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
    for _ in range(80):
        optimiser.zero_grad()
        head.loss(head(H, real), gold).backward()
        optimiser.step()
    scores = head(H, real)
    best = best_cells(head.dense(scores).detach().numpy(), 1)
    assert best.rows()[0] == (0, 0, 5, 7) and best.batch.tolist() == [0, 1]
    assert best.score[0] > 0 > best.score[1]


def test_texts_without_answers_count_by_their_weight() -> None:
    H, real = batch()
    full, none = build(), build(none_weight=0.0)
    one = full.loss(full(H[:1], real[:1]), Cells.of([(0, 0, 5, 7)]))
    assert torch.allclose(none.loss(none(H, real), Cells.of([(0, 0, 5, 7)])), one / 2)
    with pytest.raises(BadInput, match="none_weight is -1"):
        build(none_weight=-1)


def test_half_precision_is_scored_in_float32() -> None:
    head = build()
    H, real = batch()
    exact = head.loss(head(H.bfloat16().float(), real), Cells.of([(0, 0, 5, 7)])).item()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = head(H.bfloat16().requires_grad_(), real)
        loss = head.loss(scores, Cells.of([(0, 0, 5, 7)]))
        loss.backward()
    assert scores.a.dtype == loss.dtype == torch.float32
    assert loss.item() == pytest.approx(exact, rel=0.05)


def test_padding_changes_nothing_and_is_never_read() -> None:
    head = build()
    H, real = batch()
    wide, more = torch.full((2, 30, WIDTH), torch.nan), torch.zeros(2, 30, dtype=torch.bool)
    wide[:, :12] = H.masked_fill(~real[..., None], torch.nan)
    wide[:, 0], more[:, :12] = H[:, 0], real
    gold = Cells.of([(0, 0, 5, 7)])
    one, two = head(H, real), head(wide.requires_grad_(), more)
    loss = head.loss(two, gold)
    loss.backward()
    assert torch.allclose(head.loss(one, gold), loss)
    rows, padded = (best_cells(head.dense(x).detach().numpy(), 4).rows() for x in (one, two))
    assert rows == padded
    assert torch.isfinite(wide.grad).all()


def test_two_passes_are_apart_where_they_disagree() -> None:
    head = build()
    H, real = batch()
    one, two = head(H, real), head(2 * H, real)
    assert head.apart(one, one).item() == 0.0
    wanted = 0.0
    for x, y in ((one.a, two.a), (one.z, two.z)):
        for b in (0, 1):
            there = torch.isfinite(x[b, 0])
            p, q = x[b, 0, there].log_softmax(0), y[b, 0, there].log_softmax(0)
            wanted += ((p.exp() - q.exp()) * (p - q)).sum().item() / 2
    assert head.apart(one, two).item() == pytest.approx(wanted / 4, rel=1e-5)


def test_a_text_without_a_passage_is_no_trouble() -> None:
    head = build()
    H, _ = batch()
    scores = head(H, torch.zeros(2, 12, dtype=torch.bool))
    assert head.loss(scores, Cells.of([])).item() == 0.0
    assert len(best_cells(head.dense(scores).detach().numpy(), 5)) == 0


def test_what_cannot_be_is_refused() -> None:
    head = build(max_span=2)
    H, real = batch()
    with pytest.raises(FactpinError, match="3 tokens wide"):
        head.loss(head(H, real), Cells.of([(0, 0, 5, 7)]))
    with pytest.raises(FactpinError, match="gold cell"):
        head.loss(head(H, real), Cells.of([(0, 0, 0, 0)]))
    real[:, 0] = True
    with pytest.raises(BadInput, match="efficient_global_pointer"):
        head(H, real)
