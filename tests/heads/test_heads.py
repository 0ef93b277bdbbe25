"""What every head owes its user: one test body over the whole table."""

import gc
import weakref

import numpy as np
import pytest
import torch
from torch import Tensor

from factpin.errors import FactpinError
from factpin.heads import CONFIGS, HEADS, SPAN_HEADS, Cells
from factpin.layers.multilabel_loss import multilabel_loss
from factpin.tasks.spans.cells import SpanCells
from tests.heads import finding

LABELS = ("person", "place", "date")
WIDTH = 20
POINTERS = ["efficient_global_pointer", "global_pointer"]
FLAT = [(0, 0, 1, 1), (0, 2, 3, 6), (1, 1, 2, 4), (1, 1, 5, 5)]
NESTED = [(0, 0, 1, 9), (0, 0, 1, 3), (0, 1, 1, 3), (0, 2, 2, 2), (1, 1, 2, 5), (1, 0, 4, 6)]


def build(name: str, **options) -> torch.nn.Module:
    torch.manual_seed(0)
    if name in POINTERS:
        options.setdefault("head_size", 16)
    return HEADS[name](CONFIGS[name](labels=LABELS, **options), WIDTH)


def batch() -> tuple[Tensor, Tensor]:
    """Two texts; special tokens are at the ends, and one in the middle."""
    torch.manual_seed(1)
    real = torch.zeros(2, 12, dtype=torch.bool)
    real[0, 1:11] = real[1, 1:7] = True
    real[0, 8] = False
    return torch.randn(2, 12, WIDTH), real


def gradients(head: torch.nn.Module) -> list[Tensor]:
    return [p.grad for p in head.parameters()]


def same(one: SpanCells, two: SpanCells) -> bool:
    return one.rows() == two.rows() and np.allclose(one.score, two.score, atol=1e-4)


def test_every_head_has_a_config_of_the_same_name() -> None:
    assert list(HEADS) == sorted(HEADS) == list(CONFIGS)


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_loss_is_a_finite_float32_number_and_every_gradient_is_finite(name: str) -> None:
    head = build(name)
    H, real = batch()
    H.requires_grad_()
    loss = head.loss(head(H, real), Cells.of(FLAT))
    assert loss.shape == () and loss.dtype == torch.float32 and loss.item() > 0
    loss.backward()
    assert all(torch.isfinite(g).all() for g in gradients(head)) and torch.isfinite(H.grad).all()
    assert H.grad[~real].abs().sum() == 0
    assert (H.grad[real].abs().sum(1) > 0).all()


@pytest.mark.parametrize("name", SPAN_HEADS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_half_precision_vectors_are_scored_in_float32(name: str, dtype: torch.dtype, scale: float) -> None:
    head = build(name)
    H, real = batch()
    H = (H * scale).to(dtype).requires_grad_()
    exact = head.loss(head(H.detach().float(), real), Cells.of(FLAT)).item()
    plain = head.loss(head(H, real), Cells.of(FLAT))
    assert plain.item() == pytest.approx(exact, rel=1e-6)
    with torch.autocast("cpu", dtype=dtype):
        scores = head(H, real)
        loss = head.loss(scores, Cells.of(FLAT))
        found = finding.spans(head, scores)
        loss.backward()
    assert all(x.dtype == torch.float32 for x in vars(scores).values() if x.is_floating_point())
    assert loss.dtype == torch.float32 and found.score.dtype == np.float32
    assert loss.item() == pytest.approx(exact, rel=0.05) and loss.item() >= 0
    assert torch.isfinite(H.grad).all() and H.grad[~real].abs().sum() == 0
    assert all(torch.isfinite(g).all() for g in gradients(head))
    with torch.no_grad():
        again = head.loss(scores, Cells.of(FLAT))  # autocast off: the loss itself must not have used it
    assert loss.item() == pytest.approx(again.item(), rel=1e-6)


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_padding_and_what_stands_in_it_change_nothing(name: str) -> None:
    head = build(name)
    H, real = batch()
    wide = torch.full((2, 30, WIDTH), torch.nan)  # nothing may even be read
    wide[:, :12] = H.masked_fill(~real[..., None], torch.nan)
    more = torch.zeros(2, 30, dtype=torch.bool)
    more[:, :12] = real
    one, two = head(H, real), head(wide, more)
    assert torch.allclose(head.loss(one, Cells.of(FLAT)), head.loss(two, Cells.of(FLAT)), rtol=1e-5)
    assert same(finding.spans(head, one, -1.0), finding.spans(head, two, -1.0))


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_the_order_and_the_size_of_a_batch_change_nothing(name: str) -> None:
    head = build(name)
    H, real = batch()
    together = head.loss(head(H, real), Cells.of(FLAT))
    turned = head.loss(head(H.flip(0), real.flip(0)), Cells.of([(1 - b, *rest) for b, *rest in FLAT]))
    alone = [
        head.loss(head(H[b : b + 1], real[b : b + 1]), Cells.of([(0, *r) for t, *r in FLAT if t == b])) for b in (0, 1)
    ]
    assert torch.allclose(together, turned, rtol=1e-5)
    assert torch.allclose(together, sum(alone) / 2, rtol=1e-5)
    hits = finding.spans(head, head(H, real), -0.5)
    for b in (0, 1):
        single = finding.spans(head, head(H[b : b + 1], real[b : b + 1]), -0.5)
        assert same(
            hits.take(hits.batch == b),
            SpanCells(single.batch + b, single.label, single.start, single.end, single.score),
        )


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_spans_are_learned_from_one_batch(name: str) -> None:
    head = build(name)
    H, real = batch()
    gold = Cells.of(sorted(FLAT if name == "crf" else NESTED))
    optimiser = torch.optim.Adam(head.parameters(), lr=0.05)
    losses = []
    for _ in range(80):
        optimiser.zero_grad()
        loss = head.loss(head(H, real), gold)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    found = finding.spans(head, head(H, real))
    assert losses[-1] < losses[0] / 10
    assert found.rows() == gold.rows()
    assert (found.score > 0).all()


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_hits_are_sorted_and_above_their_threshold(name: str) -> None:
    head = build(name)
    H, real = batch()
    scores = head(H * 3, real)
    everything = finding.spans(head, scores, -torch.inf)
    assert everything.rows() == sorted(everything.rows()) and len(everything) > 3
    assert np.isfinite(everything.score).all()
    table = np.array([-0.2, 0.1, 0.3], np.float32)
    some = finding.spans(head, scores, table)
    assert same(some, everything.take(everything.score > table[everything.label]))
    assert len(finding.spans(head, scores, torch.inf)) == 0


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_texts_without_tokens_or_without_spans_are_no_trouble(name: str) -> None:
    head = build(name)
    H, real = batch()
    real[1] = False
    H.requires_grad_()
    loss = head.loss(head(H, real), Cells.of([]))
    loss.backward()
    assert torch.isfinite(loss) and H.grad[1].abs().sum() == 0
    assert (finding.spans(head, head(H, real), -torch.inf).batch == 0).all()
    nothing = torch.zeros_like(real)
    loss = head.loss(head(H, nothing), Cells.of([]))
    loss.backward()
    assert loss.item() == 0.0 and len(finding.spans(head, head(H, nothing), -torch.inf)) == 0


@pytest.mark.parametrize("name", SPAN_HEADS)
@pytest.mark.parametrize("cell", [(0, 0, 0, 2), (1, 0, 5, 7), (0, 0, 4, 3), (0, 3, 1, 1), (2, 0, 1, 1)])
def test_gold_on_a_place_that_cannot_be_a_span_is_refused(name: str, cell: tuple[int, int, int, int]) -> None:
    head = build(name)
    with pytest.raises(FactpinError, match="gold cell"):
        head.loss(head(*batch()), Cells.of([cell]))


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_gold_given_twice_counts_once(name: str) -> None:
    head = build(name)
    scores = head(*batch())
    assert torch.equal(head.loss(scores, Cells.of(FLAT)), head.loss(scores, Cells.of(FLAT + FLAT[:2])))


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_weights_survive_saving_and_loading(name: str) -> None:
    head, other = build(name), build(name)
    for p in other.parameters():
        torch.nn.init.normal_(p)
    other.load_state_dict(head.state_dict())
    assert same(finding.spans(head, head(*batch()), -1.0), finding.spans(other, other(*batch()), -1.0))


@pytest.mark.parametrize("name", POINTERS)
@pytest.mark.parametrize("max_span", [None, 1, 4])
@pytest.mark.parametrize("rope", [True, False])
def test_lean_loss_and_hits_are_those_of_the_dense_scores(name: str, max_span: int | None, rope: bool) -> None:
    head = build(name, max_span=max_span, rope=rope)
    H, real = batch()
    gold = [row for row in NESTED if max_span is None or row[3] - row[2] < max_span]
    scores = head(H, real)
    s = head.dense(scores)
    exist = torch.isfinite(s)
    for b in range(2):
        for i in range(12):
            for j in range(12):
                right = bool(real[b, i] and real[b, j]) and i <= j and (max_span is None or j - i < max_span)
                assert bool(exist[b, :, i, j].all()) == bool(exist[b, :, i, j].any()) == right
    y = torch.zeros_like(exist)
    y[tuple(torch.tensor(gold).T)] = True
    dense = multilabel_loss(s.flatten(2).double(), y.flatten(2)).mean()
    lean = head.loss(scores, Cells.of(gold))
    assert lean.item() == pytest.approx(dense.item(), rel=1e-6)
    right = torch.autograd.grad(dense, head.qk.weight, retain_graph=True)[0]
    assert torch.allclose(torch.autograd.grad(lean, head.qk.weight)[0], right, atol=1e-6)
    for threshold in (-torch.inf, -0.3, 0.0, 0.4):
        found = finding.spans(head, scores, threshold)
        assert [list(row) for row in found.rows()] == (s > threshold).nonzero().tolist()
        right = s.detach().numpy()[found.batch, found.label, found.start, found.end]
        assert np.allclose(found.score, right, atol=1e-5)


@pytest.mark.parametrize("name", POINTERS)
def test_a_gold_span_wider_than_max_span_is_refused(name: str) -> None:
    head = build(name, max_span=3)
    with pytest.raises(FactpinError, match="4 tokens wide, max_span is 3"):
        head.loss(head(*batch()), Cells.of([(0, 0, 1, 4)]))


@pytest.mark.parametrize("name", POINTERS)
def test_with_rope_scores_depend_on_distance_and_without_it_they_do_not(name: str) -> None:
    H = torch.randn(1, 1, WIDTH).expand(1, 40, WIDTH)  # the same vector everywhere
    real = torch.ones(1, 40, dtype=torch.bool)
    s = build(name).dense(build(name)(H, real))
    for distance in (0, 3, 17):
        diagonal = s[0].diagonal(distance, dim1=1, dim2=2)
        assert torch.allclose(diagonal, diagonal[:, :1].expand_as(diagonal), atol=1e-5)
    assert not torch.allclose(s[0, :, 0, 0], s[0, :, 0, 3], atol=1e-3)
    flat = build(name, rope=False)
    s = flat.dense(flat(H, real))
    assert torch.allclose(s[0, :, 0, 0], s[0, :, 0, 30], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "count"),
    [
        ("global_pointer", {}, 984_320),
        ("efficient_global_pointer", {"bias": "qk"}, 101_012),
        ("efficient_global_pointer", {"bias": "hidden"}, 113_812),
    ],
)
def test_heads_have_the_published_number_of_parameters(name: str, options: dict[str, str], count: int) -> None:
    labels = tuple(f"label{n}" for n in range(10))
    head = HEADS[name](CONFIGS[name](labels=labels, **options), 768)
    assert sum(p.numel() for p in head.parameters()) == count


@pytest.mark.parametrize("bias", ["qk", "hidden"])
def test_the_terms_of_a_label_belong_to_the_first_and_the_last_token(bias: str) -> None:
    head = build("efficient_global_pointer", bias=bias)
    H, real = batch()
    scores = head(H, real)
    s = head.dense(scores)
    A = scores.q @ scores.k.mT
    assert torch.allclose(s[0, 1, 2, 5], A[0, 2, 5] + scores.u[0, 1, 2] + scores.v[0, 1, 5], atol=1e-6)
    source = torch.cat(head.qk(H).chunk(2, -1), -1) if bias == "qk" else H
    terms = head.bias(source)
    assert torch.allclose(scores.u[0, :, 2], terms[0, 2, :3], atol=1e-5)
    assert torch.allclose(scores.v[0, :, 5], terms[0, 5, 3:], atol=1e-5)


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_a_loss_that_is_dropped_frees_what_it_held(name: str) -> None:
    head = build(name)
    H, real = batch()
    held = weakref.ref(H)
    loss = head.loss(head(H.requires_grad_(), real), Cells.of(FLAT))
    steps = [loss.grad_fn]
    kept = []
    while steps:  # every step of the graph that keeps tensors of its own
        step = steps.pop()
        steps += [before for before, _ in step.next_functions if before is not None]
        if hasattr(step, "saved_tensors") or hasattr(step, "chains"):
            kept.append(weakref.ref(step))
    assert kept
    del loss, steps, step, H
    gc.collect()
    assert held() is None and all(ref() is None for ref in kept)


@pytest.mark.parametrize("name", SPAN_HEADS)
def test_a_second_derivative_is_refused_and_not_wrong(name: str) -> None:
    head = build(name)
    H, real = batch()
    H.requires_grad_()
    with pytest.raises(FactpinError, match="only a first derivative"):
        torch.autograd.grad(head.loss(head(H, real), Cells.of(FLAT)), H, create_graph=True)
