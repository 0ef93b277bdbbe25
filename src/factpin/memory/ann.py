"""Approximate nearest neighbours with faiss (extra `ann`), for very many vectors. The index is a cache in memory.

The vectors in the database remain authoritative: whatever the index proposes is scored exactly. Building the index
costs as much as many searches, so a process only builds it once it has searched often enough (see `worthwhile`).
"""

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.memory.nouns import Floats

FROM = 300_000  # vectors; below this, exact search is fast enough
ASKED = 20  # searches in one process before it builds an index
PROBES = 32  # cells to search
PER_CELL = 256  # vectors per cell, approximately


def worthwhile(vectors: int, asked: int) -> bool:
    """Whether to build an index: there are many vectors, many searches, and faiss is installed."""
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
        """The rows that are probably nearest to the query."""
        _, found = self._index.search(np.asarray(query, dtype=np.float32).reshape(1, -1), count)
        return np.asarray(found[0][found[0] >= 0], dtype=np.int64)
