"""Tensors as arrays: how scores leave a head. On a CPU the memory is shared."""

from torch import Tensor

from factpin.arrays import Bools, Floats32, Ints


def floats(x: Tensor) -> Floats32:
    """Scores, as float32."""
    return x.detach().float().cpu().numpy()


def flags(x: Tensor) -> Bools:
    """True or False."""
    return x.detach().cpu().numpy()


def indices(x: Tensor) -> Ints:
    """Places."""
    return x.detach().cpu().numpy()
