"""Approximate search among very many vectors with faiss (extra `ann`): a cache in memory, rebuilt from the vectors.

The vectors in the database stay the truth, and what the index proposes is scored exactly. Building it costs more than
many searches, so a process builds it only when it asks often: see `worthwhile`.
"""

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.memory.nouns import Floats

FROM = 300_000  # vectors; below, exact search is fast enough
ASKED = 20  # searches of one process before an index is built
PROBES = 32  # cells of the index that are looked into
PER_CELL = 256  # vectors in a cell, about


def worthwhile(vectors: int, asked: int) -> bool:
    """Whether an index pays: many vectors, many searches, and faiss is installed."""
    return vectors >= FROM and asked >= ASKED and importlib.util.find_spec("faiss") is not None


class Neighbours:
    """An inverted-file index over the rows of a matrix of unit vectors."""

    def __init__(self, rows: Floats) -> None:
        import faiss  # noqa: PLC0415  (optional)

        cells = max(1, len(rows) // PER_CELL)
        quantizer: Any = faiss.IndexFlatIP(rows.shape[1])
        self._index: Any = faiss.IndexIVFFlat(quantizer, rows.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
        sample = np.random.default_rng(0).permutation(len(rows))[: 64 * cells]
        self._index.train(rows[np.sort(sample)])
        self._index.add(rows)
        self._index.nprobe = PROBES

    def near(self, query: Floats, count: int) -> NDArray[np.int64]:
        """The rows that are probably nearest to a query."""
        _, found = self._index.search(np.asarray(query, dtype=np.float32).reshape(1, -1), count)
        return np.asarray(found[0][found[0] >= 0], dtype=np.int64)
