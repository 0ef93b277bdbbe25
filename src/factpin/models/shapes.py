"""Modules for the shapes of their weights alone: no memory, and no first weights.

    with shapes_only():
        expected = build().state_dict()

Filling tensors without memory imports large parts of torch that nothing else here needs, so fills are left out.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

FILLS = {"bernoulli_", "constant_", "fill_", "kaiming_uniform_", "normal_", "ones_", "trunc_normal_", "uniform_",
         "xavier_uniform_", "zero_", "zeros_"}  # fmt: skip


class _NoFills(TorchFunctionMode):
    """Leaves tensors as they are where they would be filled."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in FILLS:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


@contextmanager
def shapes_only() -> Iterator[None]:
    """Tensors that are made in this block have a shape and no values."""
    with torch.device("meta"), _NoFills():
        yield
