"""Counts under a convention, and the metrics computed from them.

    tp       right predictions                       predicted = tp + partial + fp
    partial  half right, in the convention `partial` gold      = tp + partial + fn
    fp, fn   wrong predictions; gold that was not found

    precision = (tp + partial / 2) / predicted     recall = (tp + partial / 2) / gold
    f1        = 2 (tp + partial / 2) / (predicted + gold)         the harmonic mean of the two

0/0 is 0, as in nervaluate and seqeval: precision is 0 without predictions, recall is 0 without gold, and F1 is 0
without both. A *row* has the counts of one document in the order tp, partial, fp, fn; rows can be added.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.float64]  # (documents, columns)
Row: TypeAlias = tuple[float, float, float, float]  # tp, partial, fp, fn


@dataclass(frozen=True, slots=True)
class Counts:
    """tp, fp, fn and half-right predictions."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    partial: int = 0

    @property
    def predicted(self) -> int:
        return self.tp + self.partial + self.fp

    @property
    def gold(self) -> int:
        return self.tp + self.partial + self.fn

    @property
    def precision(self) -> float:
        return ratio(self.tp + self.partial / 2, self.predicted)

    @property
    def recall(self) -> float:
        return ratio(self.tp + self.partial / 2, self.gold)

    @property
    def f1(self) -> float:
        return ratio(2 * self.tp + self.partial, self.predicted + self.gold)

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.partial + other.partial)


def ratio(part: float, whole: float) -> float:
    """part / whole, or 0 if whole is 0."""
    return part / whole if whole else 0.0


def row(right: int, predicted: int, gold: int, partial: int = 0) -> Row:
    """The row of one document, from the numbers of right, predicted and gold items."""
    return right, partial, predicted - right - partial, gold - right - partial


def as_rows(rows: Sequence[Row]) -> Rows:
    """Stack one row per document: (documents, 4)."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), 4)


def total(rows: Rows) -> Counts:
    """Sum over all documents."""
    tp, partial, fp, fn = (int(value) for value in rows.sum(axis=0))
    return Counts(tp, fp, fn, partial)


def f1_of(totals: Floats) -> Floats:
    """F1 of many totals at once: (…, 4) -> (…)."""
    tp, partial, fp, fn = np.moveaxis(totals, -1, 0)
    hits = 2 * tp + partial
    return divide(hits, hits + partial + fp + fn)


def divide(part: Floats, whole: Floats) -> Floats:
    """part / whole by element, or 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole != 0)


def macro(labels: Iterable[Counts]) -> dict[str, float]:
    """The mean over all labels in gold or predictions, as in seqeval and scikit-learn."""
    counts = list(labels)
    return {
        "precision": ratio(sum(c.precision for c in counts), len(counts)),
        "recall": ratio(sum(c.recall for c in counts), len(counts)),
        "f1": ratio(sum(c.f1 for c in counts), len(counts)),
    }


def by_label(right: Mapping[str, int], predicted: Mapping[str, int], gold: Mapping[str, int]) -> dict[str, Counts]:
    """Counts of every label in gold or predictions, ordered by name."""
    counts = {}
    for label in sorted(gold.keys() | predicted.keys()):
        tp = right.get(label, 0)
        counts[label] = Counts(tp, predicted.get(label, 0) - tp, gold.get(label, 0) - tp)
    return counts
