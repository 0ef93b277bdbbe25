"""The multi-label loss against its formula, written out."""

import math

import pytest
import torch

from factpin.layers.multilabel_loss import multilabel_loss, positive_loss


def test_the_loss_is_the_formula() -> None:
    s = torch.tensor([0.5, -1.0, 2.0, -3.0])
    y = torch.tensor([True, False, True, False])
    expected = math.log(1 + math.exp(-0.5) + math.exp(-2.0)) + math.log(1 + math.exp(-1.0) + math.exp(-3.0))
    assert float(multilabel_loss(s, y)) == pytest.approx(expected, rel=1e-6)


def test_cells_that_do_not_exist_count_in_neither_sum() -> None:
    s = torch.tensor([[0.5, -torch.inf, 2.0], [-torch.inf] * 3], requires_grad=True)
    y = torch.tensor([[True, False, False], [False] * 3])
    loss = multilabel_loss(s, y)
    assert torch.allclose(loss[0], multilabel_loss(torch.tensor([0.5, 2.0]), torch.tensor([True, False])))
    assert loss[1].item() == 0.0
    loss.sum().backward()
    assert torch.isfinite(s.grad).all()
    assert float(s.grad[0, 1]) == 0.0 and float(s.grad[1].abs().sum()) == 0.0


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0, 1e4])
def test_the_positive_half_of_groups_is_that_of_the_definition(scale: float) -> None:
    torch.manual_seed(0)
    s = (torch.randn(40) * scale).requires_grad_()
    group = torch.randint(0, 6, (40,))  # the last groups stay empty
    ours = positive_loss(s, group, 9)
    table = torch.full((9, 40), -torch.inf, dtype=torch.float64)
    t = s.detach().double().requires_grad_()
    table = table.index_put((group, torch.arange(40)), t)
    dense = multilabel_loss(table, torch.isfinite(table))
    assert torch.allclose(ours.double(), dense, rtol=1e-6)
    ours.sum().backward()
    dense.sum().backward()
    assert torch.allclose(s.grad.double(), t.grad, atol=1e-5)
    assert ours[6:].tolist() == [0.0, 0.0, 0.0]
