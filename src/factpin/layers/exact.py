"""Computations that must not run in half precision, and projections that skip padding.

H      token vectors   (B, N, D)
real   True at text    (B, N)
"""

import torch
from torch import Tensor, nn

from factpin.errors import BadInput


def exact(x: Tensor) -> torch.autocast:
    """A context in which autocast is off: sums over N * N scores are not accurate in bfloat16."""
    return torch.autocast(x.device.type, enabled=False)


def first_derivative_only() -> None:
    """Called by a backward that is not differentiable: with create_graph its result would be silently wrong."""
    if torch.is_grad_enabled():
        raise BadInput(
            "This loss has only a first derivative, and create_graph=True asks for a second. Use its dense form."
        )


def is_recorded() -> bool:
    """Whether operations are being recorded for other inputs, by torch.compile, torch.export or for ONNX."""
    return torch.compiler.is_compiling() or bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def project_real(linear: nn.Linear, H: Tensor, real: Tensor) -> Tensor:
    """linear(H) in float32 where real, 0 elsewhere: (B, N, D) -> (B, N, width of linear).

    Only the real rows are multiplied. A graph that is recorded (torch.compile, ONNX) multiplies all rows.
    """
    H = H.to(linear.weight.dtype)
    if is_recorded():
        return linear(H).float().masked_fill(~real[..., None], 0.0)
    rows = real.flatten().nonzero().squeeze(1)  # (M,)
    y = linear(H.flatten(0, 1).index_select(0, rows)).float()  # (M, width)
    return y.new_zeros(real.numel(), y.shape[1]).index_copy_(0, rows, y).unflatten(0, real.shape)
