"""Array types that the whole program shares."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]  # scores, as heads make them
Bools = NDArray[np.bool_]
