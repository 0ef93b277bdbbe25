"""Vectors of passages: stored with unit length in half precision, scored by inner product in double precision."""

from collections.abc import Sequence

import numpy as np

from factpin.errors import BadInput
from factpin.memory.nouns import Floats

KEPT = np.dtype("<f2")


def pack(vector: Floats) -> bytes:
    """Pack a vector for storage: unit length, half precision."""
    wide = np.asarray(vector, dtype=np.float64).reshape(-1)
    length = float(np.linalg.norm(wide))
    if not wide.size or not np.isfinite(length) or length == 0.0:
        raise BadInput(
            "A vector is empty, zero or not finite; expected finite numbers, not all zero. Check the encoder."
        )
    return (wide / length).astype(KEPT).tobytes()


def unpack(data: Sequence[bytes]) -> Floats:
    """Unpack vectors into the rows of a matrix."""
    width = len(data[0]) // KEPT.itemsize if data else 0
    return np.frombuffer(b"".join(data), dtype=KEPT).reshape(len(data), width)


def unit(query: Floats) -> Floats:
    """Scale a query to unit length, without rounding."""
    wide = np.asarray(query, dtype=np.float64).reshape(-1)
    length = float(np.linalg.norm(wide))
    if not np.isfinite(length) or length == 0.0:
        raise BadInput("The vector of the question is zero or not finite; expected finite numbers. Check the encoder.")
    return wide / length


def score(data: Sequence[bytes], query: Floats) -> list[float]:
    """The inner product of each packed vector with a query."""
    if not data:
        return []
    return [float(x) for x in unpack(data).astype(np.float64) @ unit(query)]
