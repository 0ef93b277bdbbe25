"""Pooling against loops over the mentions of each entity."""

import torch
from torch import Tensor

from factpin.layers.entity_pooling import log_sum_exp, mean

E = 6
entity = torch.tensor([4, 0, 0, 2, 4, 4, 5])  # 1 and 3 have no mention


def both(form, x: Tensor) -> tuple[Tensor, Tensor]:
    """Value and gradient under a fixed weight."""
    x = x.clone().requires_grad_()
    y = form(x)
    torch.manual_seed(9)
    (y * torch.randn_like(y)).sum().backward()
    return y.detach(), x.grad


def test_log_sum_exp_is_that_of_each_entitys_mentions() -> None:
    torch.manual_seed(0)
    for scale in (1.0, 500.0):  # e^500 is no number
        x = torch.randn(len(entity), 5, dtype=torch.float64) * scale

        def slow(x: Tensor) -> Tensor:
            rows = [x[entity == e].logsumexp(0) if (entity == e).any() else x.new_zeros(5) for e in range(E)]
            return torch.stack(rows)

        for ours, expected in zip(both(lambda x: log_sum_exp(x, entity, E), x), both(slow, x), strict=True):
            torch.testing.assert_close(ours, expected, atol=1e-12, rtol=1e-12)


def test_attention_is_the_mean_of_each_entitys_mentions() -> None:
    torch.manual_seed(0)
    A = torch.rand(len(entity), 3, 8, dtype=torch.float64)

    def slow(A: Tensor) -> Tensor:
        rows = [A[entity == e].mean(0) if (entity == e).any() else A.new_zeros(3, 8) for e in range(E)]
        return torch.stack(rows)

    for ours, expected in zip(both(lambda A: mean(A, entity, E), A), both(slow, A), strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-13, rtol=1e-13)


def test_an_entity_without_a_mention_is_zero_and_takes_no_gradient() -> None:
    x = torch.randn(len(entity), 4, requires_grad=True)
    y = log_sum_exp(x, entity, E)
    y[[1, 3]].sum().backward()
    assert torch.equal(y[[1, 3]].detach(), torch.zeros(2, 4)) and torch.equal(x.grad, torch.zeros_like(x))


def test_order_of_mentions_changes_nothing() -> None:
    torch.manual_seed(0)
    x, order = torch.randn(len(entity), 4, dtype=torch.float64), torch.randperm(len(entity))
    torch.testing.assert_close(log_sum_exp(x[order], entity[order], E), log_sum_exp(x, entity, E))


def test_there_may_be_no_entities() -> None:
    none = torch.zeros(0, dtype=torch.int64)
    assert log_sum_exp(torch.zeros(0, 4), none, 0).shape == (0, 4)
    assert mean(torch.zeros(0, 2, 5), none, 0).shape == (0, 2, 5)
