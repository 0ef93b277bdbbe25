"""The lean negatives of factored scores against the dense definition in float64."""

import pytest
import torch
from torch import Tensor

from factpin.layers import factored
from factpin.layers.factored import factored_negatives
from factpin.layers.multilabel_loss import multilabel_loss, positive_loss
from factpin.layers.places import CellIndices

B, R, N = 2, 5, 24


def places(y: Tensor) -> CellIndices:
    return CellIndices(*y.nonzero().unbind(1))


def lean(A: Tensor, b: Tensor, c: Tensor, y: Tensor) -> Tensor:
    at = places(y)
    s = A[at.batch, at.start, at.end] + c[at.batch, at.label, at.end] + b[at.batch, at.label, at.start]
    rows, classes = y.shape[:2]
    positive = positive_loss(s, at.batch * classes + at.label, rows * classes).view(rows, classes)
    return factored_negatives(A, b, c, at) + positive


def dense(A: Tensor, b: Tensor, c: Tensor, y: Tensor) -> Tensor:
    s = A[:, None] + c[:, :, None, :] + b[:, :, :, None]
    return multilabel_loss(s.flatten(2), y.flatten(2))


def run(form, parts: list[Tensor], y: Tensor, weight: Tensor) -> tuple[Tensor, list[Tensor]]:
    parts = [part.clone().requires_grad_() for part in parts]
    loss = form(*parts, y)
    (loss * weight.to(loss.dtype)).sum().backward()
    return loss.detach().double(), [part.grad.double() for part in parts]


def check(parts: list[Tensor], y: Tensor) -> None:
    """Value within 1e-6, gradient no farther from float64 than 3 times the dense form in float32."""
    weight = torch.rand(y.shape[:2]) + 0.5
    truth, grads = run(dense, [part.double() for part in parts], y, weight)
    ours, our_grads = run(lean, parts, y, weight)
    _, their_grads = run(dense, parts, y, weight)
    assert torch.isfinite(ours).all() and (ours >= 0).all()
    assert torch.allclose(ours, truth, rtol=1e-6, atol=1e-6)
    for right, mine, theirs in zip(grads, our_grads, their_grads, strict=True):
        assert torch.isfinite(mine).all()
        assert float((mine - right).abs().max()) <= 3 * float((theirs - right).abs().max()) + 1e-6
    empty = ~torch.isfinite(parts[0])
    assert our_grads[0][empty].abs().sum() == 0
    assert our_grads[1].masked_fill(~empty.all(2)[:, None], 0).abs().sum() == 0
    assert our_grads[2].masked_fill(~empty.all(1)[:, None], 0).abs().sum() == 0


def case(scale: float, *, seed: int = 0, triangle: bool = True) -> tuple[list[Tensor], Tensor]:
    torch.manual_seed(seed)
    A, b, c = torch.randn(B, N, N) * scale, torch.randn(B, R, N) * scale, torch.randn(B, R, N) * scale
    real = torch.ones(B, N, dtype=torch.bool)
    real[0, 0] = real[0, 11] = False
    real[1, 17:] = False
    valid = real[:, :, None] & real[:, None, :]
    if triangle:
        valid = valid.triu()
    y = (torch.rand(B, R, N, N) < 0.01) & valid[:, None]
    return [A.masked_fill(~valid, -torch.inf), b, c], y


@pytest.mark.parametrize("triangle", [True, False])
@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 20.0, 50.0, 1e3, 1e4])
def test_scores_of_any_size(scale: float, triangle: bool) -> None:
    check(*case(scale, triangle=triangle))


@pytest.mark.parametrize("lift", [5.0, 10.0, 15.0, 20.0, 40.0, 60.0, 100.0, 1e3, 1e4])
def test_positives_that_dominate_cost_no_precision(lift: float) -> None:
    (A, b, c), y = case(1.0)
    A = A - 6
    A[:, 2, 5] += lift
    y[:, :, 2, 5] = True
    check([A, b, c], y)


@pytest.mark.parametrize("size", [50.0, 90.0, 200.0])
def test_maxima_that_lie_in_different_rows_and_columns(size: float) -> None:
    (A, b, c), y = case(1.0)
    A[:, 1:4, 4:8] -= size  # where b and c are large, A is small
    b[:, :, 1:4] += size
    c[:, :, 4:8] += size
    check([A, b, c], y)
    c[:, 0, 20] -= 3 * size
    check([A, b, c], y)


def test_a_class_whose_cells_are_all_positive() -> None:
    (A, b, c), y = case(1.0)
    y[0, 1] = torch.isfinite(A[0])
    check([A, b, c], y)
    assert float(factored_negatives(A, b, c, places(y))[0, 1]) == 0.0


def test_no_positives_at_all() -> None:
    parts, y = case(1.0)
    check(parts, torch.zeros_like(y))


def test_a_text_without_any_cell_has_no_loss_and_no_gradient() -> None:
    (A, b, c), y = case(1.0)
    A[1], y[1] = -torch.inf, False
    check([A, b, c], y)
    assert factored_negatives(A, b, c, places(y))[1].tolist() == [0.0] * R


@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_pieces_of_rows_and_classes_change_nothing(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, y = case(scale)
    weight = torch.ones(B, R)
    whole, grads = run(lean, parts, y, weight)
    monkeypatch.setattr(factored, "BLOCK", 3 * N)  # three rows, one class
    small, small_grads = run(lean, parts, y, weight)
    assert torch.allclose(whole, small, rtol=1e-7)
    assert all(torch.allclose(one, two, atol=1e-7) for one, two in zip(grads, small_grads, strict=True))


def test_classes_are_sent_to_dense_blocks_only_where_underflow_could_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    real_classes = factored._DirectScores.classes

    def counted(self, classes):
        sent.append(classes.numel())
        return real_classes(self, classes)

    monkeypatch.setattr(factored._DirectScores, "classes", counted)
    for scale in (5.0, 1e3):
        parts, y = case(scale)
        factored_negatives(*parts, places(y))
    assert sent[0] == 0
    assert sent[1] > B * R // 2


def test_without_the_dense_blocks_large_scores_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    (A, b, c), y = case(1.0)
    b[:, :, 3], c[:, :, 9], A[:, 3, 9] = 300.0, 300.0, -590.0  # one cell carries the class, and E * F underflows there
    b[:, :, :3], c[:, :, 10:] = -50.0, -50.0
    check([A, b, c], y)
    truth = dense(A.double(), b.double(), c.double(), y)
    monkeypatch.setattr(factored, "LOST", 1e300)
    assert not torch.allclose(lean(A, b, c, y).double(), truth, rtol=1e-3)


def test_the_gradient_passes_gradcheck_in_float64() -> None:
    parts, y = case(1.0)
    A, b, c = (part[:, :, :8] if part is not parts[0] else part[:, :8, :8] for part in parts)
    at = places(y[..., :8, :8].contiguous())
    valid = torch.isfinite(A)
    A = A.double().masked_fill(~valid, 0.0).requires_grad_()
    b, c = b.double().requires_grad_(), c.double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda A, b, c: factored_negatives(A.masked_fill(~valid, -torch.inf), b, c, at), (A, b, c)
    )


def test_many_classes_of_a_longer_text() -> None:
    torch.manual_seed(3)
    A, b, c = torch.randn(1, 60, 60), torch.randn(1, 1000, 60), torch.randn(1, 1000, 60)
    y = torch.rand(1, 1000, 60, 60) < 1e-5
    check([A, b, c], y)
