"""Tensors as arrays: how scores leave a head. On a CPU the memory is shared."""

from torch import Tensor

from factpin.arrays import Bools, Floats32, Ints


def floats(x: Tensor) -> Floats32:
    """Scores, as float32."""
    return x.detach().float().cpu().numpy()


def flags(x: Tensor) -> Bools:
    """True or False, as bool."""
    return x.detach().cpu().numpy()


def indices(x: Tensor) -> Ints:
    """Indices, as int64."""
    return x.detach().cpu().numpy()
