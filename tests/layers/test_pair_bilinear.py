"""The grouped bilinear against loops over pairs, classes and groups, in blocks of any size."""

import pytest
import torch
from torch import Tensor

from factpin.errors import BadInput
from factpin.layers.pair_bilinear import PairIndices, pair_bilinear

E, U, P, Z, G = 5, 9, 23, 12, 4


def inputs(C: int, *, context: bool = True) -> tuple[list[Tensor], PairIndices]:
    torch.manual_seed(0)
    shapes = [(E, Z), (E, Z), *([(U, 2 * Z)] if context else []), (C, Z * G), (C,)]
    pairs = PairIndices(torch.randint(0, E, (P,)), torch.randint(0, E, (P,)), torch.randint(0, U, (P,)))
    return [torch.randn(shape, dtype=torch.float64) for shape in shapes], pairs


def slow(parts: list[Tensor], pairs: PairIndices) -> Tensor:
    head, tail, *context, W, b = parts
    rows = []
    for h, t, u in zip(pairs.head.tolist(), pairs.tail.tolist(), pairs.context.tolist(), strict=True):
        x, y = head[h], tail[t]
        if context:
            x, y = x + context[0][u, :Z], y + context[0][u, Z:]
        x, y = torch.tanh(x), torch.tanh(y)
        row = []
        for c in range(len(b)):
            s = b[c]
            for k in range(Z // G):
                own = slice(k * G, (k + 1) * G)
                s = s + x[own] @ W[c, k * G * G : (k + 1) * G * G].view(G, G) @ y[own]
            row.append(s)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def fast(parts: list[Tensor], pairs: PairIndices, block: int | None = None) -> Tensor:
    head, tail, *context, W, b = parts
    return pair_bilinear(head, tail, context[0] if context else None, pairs, W, b, block)


def value_and_gradients(form, parts: list[Tensor], pairs: PairIndices) -> list[Tensor]:
    parts = [x.clone().requires_grad_() for x in parts]
    s = form(parts, pairs)
    torch.manual_seed(1)
    (s * torch.randn_like(s)).sum().backward()
    return [s.detach(), *(x.grad for x in parts)]


@pytest.mark.parametrize("block", [1, 7, None])
@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("C", [1, 2, 3, 9])  # few classes are contracted, many are not
def test_scores_and_gradients_are_those_of_the_formula(C: int, context: bool, block: int | None) -> None:
    parts, pairs = inputs(C, context=context)
    ours = value_and_gradients(lambda *x: fast(*x, block), parts, pairs)
    for x, expected in zip(ours, value_and_gradients(slow, parts, pairs), strict=True):
        torch.testing.assert_close(x, expected, atol=1e-12, rtol=1e-11)


def test_nothing_as_large_as_all_outer_products_is_kept_for_the_gradient() -> None:
    parts, pairs = inputs(9)
    kept: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
        fast([x.requires_grad_() for x in parts], pairs)
    assert kept and max(kept) <= max(x.numel() for x in parts) < P * Z * G


def test_no_pairs_give_no_scores() -> None:
    for C in (1, 9):
        parts, _ = inputs(C)
        parts = [x.requires_grad_() for x in parts]
        none = torch.zeros(0, dtype=torch.int64)
        s = fast(parts, PairIndices(none, none, none))
        s.sum().backward()
        assert s.shape == (0, C) and all(torch.equal(x.grad, torch.zeros_like(x)) for x in parts)


def test_a_second_derivative_is_refused() -> None:
    parts, pairs = inputs(2)
    parts[0].requires_grad_()
    with pytest.raises(BadInput, match="only a first derivative"):
        torch.autograd.grad(fast(parts, pairs).sum(), parts[0], create_graph=True)
