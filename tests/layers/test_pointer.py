"""Tiles of pointer scores against the dense definition in float64."""

import pytest
import torch
from torch import Tensor

from factpin.layers import pointer
from factpin.layers.multilabel_loss import multilabel_loss
from factpin.layers.places import CellIndices
from factpin.layers.pointer import cells_that_exist, tiled_loss, tiles

B, N, L, D = 3, 30, 4, 6


def masks() -> Tensor:
    real = torch.ones(B, N, dtype=torch.bool)
    real[0, [0, 7, 8, 29]] = False  # special tokens in odd places
    real[1, 13:] = False
    real[1, 0] = False
    real[2] = False  # a text without any token
    return real


def case(scale: float) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    q, k = torch.randn(2, B, N, L, D).unbind()
    return q * scale, k, masks()


def positives(real: Tensor, max_span: int | None) -> Tensor:
    torch.manual_seed(1)
    return (torch.rand(B, L, N, N) < 0.02) & cells_that_exist(real, max_span)[:, None]


def dense(q: Tensor, k: Tensor, real: Tensor, max_span: int | None, y: Tensor) -> Tensor:
    s = torch.einsum("bild,bjld->blij", q, k).masked_fill(~cells_that_exist(real, max_span)[:, None], -torch.inf)
    return multilabel_loss(s.flatten(2), y.flatten(2))


def lean(q: Tensor, k: Tensor, real: Tensor, max_span: int | None, y: Tensor) -> Tensor:
    return tiled_loss(torch.stack((q, k), dim=3), real, max_span, CellIndices(*y.nonzero().unbind(1)))


def run(form, q: Tensor, k: Tensor, *rest) -> tuple[Tensor, Tensor, Tensor]:
    q, k = q.clone().requires_grad_(), k.clone().requires_grad_()
    loss = form(q, k, *rest)
    torch.manual_seed(2)
    (loss * torch.rand(loss.shape).to(loss.dtype)).sum().backward()
    return loss.detach().double(), q.grad.double(), k.grad.double()


def test_a_cell_exists_where_both_tokens_are_real_and_in_order_and_near() -> None:
    real = masks()
    for max_span in (None, 1, 5):
        exist = cells_that_exist(real, max_span)
        for b in range(B):
            for i in range(N):
                for j in range(N):
                    right = bool(real[b, i] and real[b, j]) and i <= j and (max_span is None or j - i < max_span)
                    assert bool(exist[b, i, j]) == right


@pytest.mark.parametrize("rows", [1, 4, 7, 64])
@pytest.mark.parametrize("max_span", [None, 1, 5, 100])
def test_every_cell_lies_in_exactly_one_tile(rows: int, max_span: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointer, "ROWS", rows)
    real = masks()
    count = torch.zeros(B, N, N, dtype=torch.int64)
    for tile in tiles(real, max_span):
        count[tile.text, tile.top : tile.bottom, tile.top : tile.right] += 1
    assert (count[cells_that_exist(real, max_span)] == 1).all()
    assert count.max() == 1
    assert count[2].sum() == 0


@pytest.mark.parametrize("rows", [4, 7, 64])
@pytest.mark.parametrize("max_span", [None, 1, 5, 100])
def test_tiles_give_the_loss_and_gradient_of_the_masked_dense_form(
    rows: int, max_span: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointer, "ROWS", rows)
    q, k, real = case(1.0)
    rest = (real, max_span, positives(real, max_span))
    for ours, right in zip(
        run(lean, q.double(), k.double(), *rest), run(dense, q.double(), k.double(), *rest), strict=True
    ):
        assert torch.allclose(ours, right, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 20.0, 50.0, 1e3, 1e4])
@pytest.mark.parametrize("rows", [5, 64])
def test_scores_of_any_size_stay_as_near_to_float64_as_the_dense_form(
    scale: float, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointer, "ROWS", rows)
    q, k, real = case(scale)
    rest = (real, None, positives(real, None))
    truth, ours, theirs = run(dense, q.double(), k.double(), *rest), run(lean, q, k, *rest), run(dense, q, k, *rest)
    assert torch.allclose(ours[0], truth[0], rtol=1e-6, atol=1e-6)
    assert (ours[0] >= 0).all()
    for right, mine, other in zip(truth[1:], ours[1:], theirs[1:], strict=True):
        assert torch.isfinite(mine).all()
        assert mine[~real].abs().sum() == 0
        assert (mine - right).abs().max() <= 3 * (other - right).abs().max() + 1e-6 * right.abs().max()


def test_without_a_gradient_the_value_is_the_same() -> None:
    q, k, real = case(1.0)
    y = positives(real, None)
    with torch.no_grad():
        value = lean(q, k, real, None, y)
    assert torch.equal(value, lean(q.requires_grad_(), k, real, None, y).detach())
