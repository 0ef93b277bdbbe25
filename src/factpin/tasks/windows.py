"""Which window of a document answers for what was found in it."""

from collections.abc import Sequence

import numpy as np

from factpin.arrays import Bools, Ints
from factpin.tokens import Window, owner


def owned(windows: Sequence[Window], k: int, first: Ints, last: Ints) -> Bools:
    """(P,) whether window k, which holds the pieces first..last (P,) of the document, answers for them."""
    centre = (first + last) // 2
    mine = (windows[k].keep_first <= centre) & (centre < windows[k].keep_last)
    for i in np.flatnonzero(~mine).tolist():
        mine[i] = owner(windows, int(first[i]), int(last[i])) == k
    return np.asarray(mine)
