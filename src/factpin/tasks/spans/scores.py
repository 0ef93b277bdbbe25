"""Scores of spans as they leave a head: arrays, and what a head knows that finding needs.

s[b, l, i, j]   the score of "tokens i..j of text b are an l"; a span exists where i and j are real, i <= j, and
                j - i < max_span if that is given

PairScores       q[b, i, l] . k[b, j, l]                             GlobalPointer
FactoredScores   (q[b, i] . k[b, j] + v[b, l, j]) + u[b, l, i]       Efficient GlobalPointer
TagScores        the log-odds of a span of the best path             CRF
"""

from dataclasses import dataclass

import numpy as np

from factpin.arrays import Bools, Floats32
from factpin.tasks.spans.tags import Tags


@dataclass(frozen=True)
class PointerScores:
    """Scores with separate views of the first and the last token for every label."""

    q: Floats32  # (B, N, L, d), rotated, divided by sqrt(d)
    k: Floats32  # (B, N, L, d), rotated
    real: Bools  # (B, N)
    max_span: int | None = None

    @property
    def labels(self) -> int:
        """L."""
        return self.q.shape[2]


@dataclass(frozen=True)
class FactoredScores:
    """One score for all labels, and for each label a term at the first and one at the last token."""

    q: Floats32  # (B, N, d), rotated, divided by sqrt(d)
    k: Floats32  # (B, N, d), rotated
    u: Floats32  # (B, L, N), at the first token
    v: Floats32  # (B, L, N), at the last token
    real: Bools  # (B, N)
    max_span: int | None = None

    @property
    def labels(self) -> int:
        """L."""
        return self.u.shape[1]

    def pairs(self) -> Floats32:
        """A (B, N, N): q . k of all pairs of tokens, whether a span can be there or not."""
        return self.q @ self.k.transpose(0, 2, 1)


@dataclass(frozen=True)
class TagScores:
    """Emissions and transitions of a chain of tags."""

    emissions: Floats32  # (B, N, T)
    transitions: Floats32  # (T, T), from row to column; -inf where a step is illegal, as below
    start: Floats32  # (T,)
    end: Floats32  # (T,)
    real: Bools  # (B, N)
    tags: Tags

    @property
    def labels(self) -> int:
        """L."""
        return self.tags.labels


SpanScores = PointerScores | FactoredScores | TagScores


def band(N: int, max_span: int | None) -> Bools:
    """(N, N): where i <= j, and j - i < max_span if that is given."""
    step = np.arange(N)
    apart = step - step[:, None]
    return np.asarray(apart >= 0 if max_span is None else (apart >= 0) & (apart < max_span))
