"""Vectors of passages: kept as half-precision bytes of unit length, scored by the inner product in double precision."""

from collections.abc import Sequence

import numpy as np

from factpin.errors import BadInput
from factpin.memory.nouns import Floats

KEPT = np.dtype("<f2")


def pack(vector: Floats) -> bytes:
    """A vector as it is kept: of unit length, in half precision."""
    wide = np.asarray(vector, dtype=np.float64).reshape(-1)
    length = float(np.linalg.norm(wide))
    if not wide.size or not np.isfinite(length) or length == 0.0:
        raise BadInput("A vector is empty, zero or not finite; expected numbers with a direction. Check the encoder.")
    return (wide / length).astype(KEPT).tobytes()


def unpack(data: Sequence[bytes]) -> Floats:
    """Vectors that were packed, as the rows of a matrix."""
    width = len(data[0]) // KEPT.itemsize if data else 0
    return np.frombuffer(b"".join(data), dtype=KEPT).reshape(len(data), width)


def unit(query: Floats) -> Floats:
    """A query as it is compared: of unit length, not rounded."""
    wide = np.asarray(query, dtype=np.float64).reshape(-1)
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length) or length == 0.0:
        raise BadInput("The vector of the question is zero or not finite. Check the encoder.")
    return wide / length


def score(data: Sequence[bytes], query: Floats) -> list[float]:
    """The inner product of each packed vector with a query."""
    if not data:
        return []
    return [float(x) for x in unpack(data).astype(np.float64) @ unit(query)]
