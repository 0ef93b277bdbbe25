"""Batch: what a network reads, stream by stream; padded on the right, nobody sees padding.

ids, segments, labels, real      (B, n)         pad, 0, no loss, False in padding
positions                        (B, n, tables)
sees[other]                      (B, n, m)      True: may be seen
"""

from collections.abc import Mapping
from dataclasses import dataclass

from factpin.layers.masks import Bools, Ints


@dataclass(frozen=True, eq=False)
class Block:
    """One stream of a batch."""

    ids: Ints  # (B, n)
    positions: Ints  # (B, n, tables)
    segments: Ints  # (B, n)
    labels: Ints  # (B, n)
    real: Bools  # (B, n)
    sees: Mapping[str, Bools]  # stream -> (B, n, m)


@dataclass(frozen=True, eq=False)
class Batch:
    """What a network reads: a padded batch of every stream."""

    streams: Mapping[str, Block]
    pair: Ints  # (B,)
    spans: Ints  # (k, 3) text, start, end
    task: int = 0  # which of several tasks it is for (ERNIE 2.0)
