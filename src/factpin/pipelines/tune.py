"""What is fitted on dev after training: the temperature of the scores, and thresholds by label.

temperature   T > 0 that minimises the negative log-likelihood of sigmoid(score / T) over the candidates
threshold     of a label: the score above which its F1 on dev is highest
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.pipelines.extractor import Extractor
from factpin.tokens import char_span

LOWEST = -4.0  # candidates score more than this: far below the decision, so that thresholds may fall too
ENOUGH = 20  # gold mentions of a label before a threshold of its own is worth fitting


@dataclass(frozen=True)
class Candidates:
    """Scored spans of the dev set, right or wrong, and how much gold there is."""

    score: NDArray[np.float64]  # (P,)
    right: NDArray[np.bool_]  # (P,)
    label: NDArray[np.int64]  # (P,)
    gold: NDArray[np.int64]  # (L,) gold mentions of every label


def candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """Everything that scores above LOWEST on these documents."""
    labels = extractor.settings.labels
    index = {label: i for i, label in enumerate(labels)}
    reads = [extractor.reader.read(doc) for doc in documents]
    cut = max(LOWEST, float(extractor.model.head.default_threshold) + LOWEST)
    score, right, label = [], [], []
    counts = np.zeros(len(labels), np.int64)
    for read, found in zip(reads, extractor.find(reads, cut), strict=True):
        gold = {(m.start, m.end, index[m.type]) for m in read.doc.mentions if m.type in index}
        for _, _, kind in gold:
            counts[kind] += 1
        for kind, first, last, s in zip(found.label, found.first, found.last, found.score, strict=True):
            start, end = char_span(read.pieces, int(first), int(last))
            score.append(s)
            right.append((start, end, int(kind)) in gold)
            label.append(kind)
    return Candidates(np.array(score, np.float64), np.array(right, np.bool_), np.array(label, np.int64), counts)


def fit_temperature(found: Candidates) -> float:
    """The temperature; 1 where there is too little to fit it on."""
    if len(found.score) < ENOUGH or found.right.all() or not found.right.any():
        return 1.0
    grid = np.exp(np.linspace(np.log(0.05), np.log(20.0), 400))
    sign = np.where(found.right, -1.0, 1.0)
    loss = [np.logaddexp(0.0, sign * found.score / t).mean() for t in grid]  # -log sigmoid(±score / t)
    return round(float(grid[int(np.argmin(loss))]), 4)


def fit_thresholds(found: Candidates, labels: Sequence[str], default: float) -> dict[str, float]:
    """One threshold for each label with enough gold; the others keep the head's own."""
    thresholds = {}
    for i, label in enumerate(labels):
        mine = found.label == i
        if found.gold[i] < ENOUGH or not mine.any():
            continue
        order = np.argsort(-found.score[mine], kind="stable")
        score, right = found.score[mine][order], found.right[mine][order]
        hits = np.cumsum(right)
        f1 = 2 * hits / (np.arange(1, len(score) + 1) + found.gold[i])
        best = int(np.argmax(f1))
        below = score[best + 1] if best + 1 < len(score) else score[best] - 1.0
        thresholds[label] = round(float((score[best] + below) / 2), 4)
    return {label: t for label, t in thresholds.items() if t != default}
