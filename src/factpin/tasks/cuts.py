"""Cuts: the scores that cells must exceed."""

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Floats32
from factpin.errors import BadInput


def cuts(cut: ArrayLike, labels: int) -> Floats32:
    """One cut for all labels, or one for each (L,) -> (L,)."""
    table = np.asarray(cut, np.float32)
    if table.shape not in ((), (labels,)):
        raise BadInput(
            f"A threshold is a number or one number for each of the {labels} labels, "
            f"got the shape {table.shape}. Give a float or an array of {labels}."
        )
    return np.broadcast_to(table, (labels,))
