"""What is fitted on dev after training: the scale of the scores, and thresholds by label.

temperature   T > 0 that minimises the negative log-likelihood of sigmoid(score / T) over the candidates
threshold     of a label: the score above which its F1 on dev is highest
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.pipelines.extractor import Extractor
from factpin.tasks.spans import Scale
from factpin.tokens import char_span

LOWEST = -4.0  # candidates score more than this: far below the decision, so that thresholds may fall too
PULL = 1.0  # weight of the prior of the scale, in predictions
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


def fit_scale(found: Candidates, thresholds: NDArray[np.float64]) -> Scale:
    """Temperature and shift by logistic regression of right on score, over what is predicted (score > threshold).

    Only predictions are looked at, because only they carry a score for anybody to trust. Newton's method on the
    negative log-likelihood, with a little pull towards (1, 0) so that separable scores stay finite.
    """
    predicted = found.score > thresholds[found.label]
    score, right = found.score[predicted], found.right[predicted].astype(np.float64)
    if len(score) < ENOUGH:
        return Scale()
    X = np.stack([score, np.ones_like(score)], axis=1)  # (P, 2): p = sigmoid(w0 * score + w1)
    sign = 1.0 - 2.0 * right
    start = np.array([1.0, 0.0])

    def loss(w: NDArray[np.float64]) -> float:
        return float(np.logaddexp(0.0, sign * (X @ w)).sum() + PULL / 2 * ((w - start) ** 2).sum())

    w = start
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(X @ w, -60, 60)))  # (P,)
        gradient = X.T @ (p - right) + PULL * (w - start)
        hessian = (X * (p * (1 - p))[:, None]).T @ X + PULL * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        while loss(w - step) > loss(w) and np.abs(step).max() > 1e-9:  # too far: Newton's step is for the near
            step = step / 2
        w = w - step
        if np.abs(step).max() < 1e-9:
            break
    if w[0] < 1e-3:  # higher scores are not better here: nothing to scale
        return Scale()
    return Scale(round(float(1 / w[0]), 4), round(float(-w[1] / w[0]), 4))


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
