"""Localized context against the formula, pair by pair, under any cap."""

import pytest
import torch
from torch import Tensor

from factpin.errors import BadInput
from factpin.layers.localized_context import localized_context, unordered

E, HEADS, N, W = 7, 3, 11, 5


def inputs() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    A = torch.randn(E, HEADS, N, dtype=torch.float64).softmax(dim=2)
    A[4] = 0.0  # an entity that was not read
    return A, torch.randn(N, W, dtype=torch.float64)


def slow(A: Tensor, V: Tensor, low: Tensor, high: Tensor) -> Tensor:
    rows = []
    for i, j in zip(low.tolist(), high.tolist(), strict=True):
        q = (A[i] * A[j]).mean(0)
        rows.append((q / (q.sum() + 1e-5)) @ V)
    return torch.stack(rows)


def value_and_gradients(form, low: Tensor, high: Tensor) -> list[Tensor]:
    A, V = (x.requires_grad_() for x in inputs())
    c = form(A, V, low, high)
    torch.manual_seed(1)
    (c * torch.randn_like(c)).sum().backward()
    return [c.detach(), A.grad, V.grad]


def some_pairs(kind: str) -> tuple[Tensor, Tensor]:
    everything = torch.cartesian_prod(torch.arange(E), torch.arange(E)).unbind(1)
    chosen = {
        "all": everything[0] != everything[1],
        "few": torch.arange(E * E) % 5 == 1,
        "with itself": everything[0] % 2 == 0,
    }[kind]
    return everything[0][chosen], everything[1][chosen]


@pytest.mark.parametrize("cap", [1, 100, 200, None])
@pytest.mark.parametrize("kind", ["all", "few", "with itself"])
def test_contexts_and_gradients_are_those_of_the_formula(kind: str, cap: int | None) -> None:
    low, high, _ = unordered(*some_pairs(kind), E)
    ours = value_and_gradients(lambda *x: localized_context(*x, cap=cap), low, high)
    for x, expected in zip(ours, value_and_gradients(slow, low, high), strict=True):
        torch.testing.assert_close(x, expected, atol=1e-12, rtol=1e-11)


def test_a_pair_and_its_reverse_are_one() -> None:
    head, tail = some_pairs("all")
    low, high, which = unordered(head, tail, E)
    assert len(low) == E * (E - 1) // 2 and (low < high).all()
    assert torch.equal(torch.minimum(head, tail), low[which]) and torch.equal(torch.maximum(head, tail), high[which])


def test_weights_of_tokens_are_a_distribution_up_to_the_epsilon() -> None:
    A, _ = inputs()
    low, high, _ = unordered(*some_pairs("all"), E)
    q = localized_context(A, torch.eye(N, dtype=A.dtype), low, high)
    apart = (low == 4) | (high == 4)
    assert (q >= 0).all() and (q[~apart].sum(1) > 0.99).all() and (q[apart] == 0).all()


def test_no_pairs_give_no_contexts() -> None:
    A, V = (x.requires_grad_() for x in inputs())
    none = torch.zeros(0, dtype=torch.int64)
    c = localized_context(A, V, none, none)
    c.sum().backward()
    assert c.shape == (0, W) and torch.equal(A.grad, torch.zeros_like(A))


def test_a_second_derivative_is_refused() -> None:
    A, V = (x.requires_grad_() for x in inputs())
    low, high, _ = unordered(*some_pairs("few"), E)
    with pytest.raises(BadInput, match="only a first derivative"):
        torch.autograd.grad(localized_context(A, V, low, high).sum(), A, create_graph=True)
