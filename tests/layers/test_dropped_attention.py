"""Attention with dropout in blocks against the same by whole matrices."""

import pytest
import torch
from torch import Tensor

from factpin.layers import dropped_attention as layer
from factpin.layers.dropout import dropout
from factpin.layers.dropped_attention import dropped_attention

SCALING, RATE = 0.4, 0.25


def plain(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    s = (q * SCALING) @ k.mT
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min) if mask.dtype == torch.bool else s + mask
    return dropout(torch.softmax(s, dim=-1), RATE) @ v


def tensors(dtype: torch.dtype = torch.float64) -> list[Tensor]:
    torch.manual_seed(0)
    return [torch.randn(3, 4, 7, 5, dtype=dtype, requires_grad=True) for _ in range(3)]


def masks() -> dict[str, Tensor | None]:
    allowed = torch.ones(3, 1, 7, 7, dtype=torch.bool)
    allowed[1, :, :, 5:] = False
    allowed[2, :, 0] = False  # a row that sees nothing: padding
    return {
        "none": None,
        "items": allowed,
        "one for all": torch.ones(1, 1, 7, 7, dtype=torch.bool).tril(),
        "numbers by head": torch.randn(1, 4, 7, 7, dtype=torch.float64),
    }


@pytest.mark.parametrize("block", [1, 100, 1 << 18])
@pytest.mark.parametrize("name", list(masks()))
def test_values_gradients_and_draws_are_those_of_whole_matrices(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer, "BLOCK", block)
    mask, told = masks()[name], []
    for way in (lambda *x: dropped_attention(*x, SCALING, RATE), plain):
        x = tensors()
        torch.manual_seed(1)
        out = way(*x, mask)
        (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)).sum().backward()
        told.append([out, *(t.grad for t in x), torch.rand(())])
    for ours, theirs in zip(*told, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_half_precision_comes_and_goes_and_sums_run_in_float32() -> None:
    x = tensors(torch.float32)
    torch.manual_seed(1)
    exact = dropped_attention(*x, None, SCALING, RATE)
    torch.manual_seed(1)
    with torch.autocast("cpu", torch.bfloat16):
        half = dropped_attention(*(t.to(torch.bfloat16) for t in x), None, SCALING, RATE)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), exact, atol=0.05, rtol=0.05)
    half.float().sum().backward()
    assert all(t.grad is not None and t.grad.isfinite().all() for t in x)
