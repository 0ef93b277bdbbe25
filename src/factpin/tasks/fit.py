"""What is fitted on dev after training: the scale of the scores, and thresholds by label.

temperature, shift   of sigmoid((score - shift) / temperature): least negative log-likelihood over the predictions
threshold            of every label: the scores above which F1 on dev, over all labels, is highest
evidence share       of document relations: the share above which a sentence is evidence, with the best F1 on dev
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factpin.tasks.scale import Scale

LOWEST = -4.0  # candidates score more than this: far below the decision, so that thresholds may fall too
PULL = 1.0  # weight of the prior of the scale, in predictions
ENOUGH = 20  # gold mentions of a label before a separate threshold is worth fitting


@dataclass(frozen=True)
class ScoredCandidates:
    """Scored spans of the dev set, right or wrong, and how much gold there is."""

    score: NDArray[np.float64]  # (P,)
    right: NDArray[np.bool_]  # (P,)
    label: NDArray[np.int64]  # (P,)
    gold: NDArray[np.int64]  # (L,) gold mentions of every label


def make_candidates(rows: list[tuple[float, bool, int]], gold: NDArray[np.int64]) -> ScoredCandidates:
    """From rows of (score, right, label)."""
    score, right, label = zip(*rows, strict=True) if rows else ((), (), ())
    return ScoredCandidates(np.array(score, np.float64), np.array(right, np.bool_), np.array(label, np.int64), gold)


def fit_scale(found: ScoredCandidates, thresholds: NDArray[np.float64]) -> Scale:
    """Temperature and shift by logistic regression of right on score, over what is predicted (score > threshold).

    Only predictions are used, because users see the scores of no others.
    """
    return _fit(found, thresholds, np.zeros((len(found.score), 0)))[0]


def fit_shifts(
    found: ScoredCandidates, thresholds: NDArray[np.float64], labels: Sequence[str]
) -> tuple[Scale, dict[str, float]]:
    """The scale, and how much more than its shift the score of each label must be for the same probability.

    A relation that is easily mistaken for another needs a higher score. With few predictions it is held near 0.
    """
    scale, shifts = _fit(found, thresholds, np.eye(len(labels))[found.label])
    return scale, {label: shift for label, shift in zip(labels, shifts, strict=True) if shift}


def _fit(
    found: ScoredCandidates, thresholds: NDArray[np.float64], more: NDArray[np.float64]
) -> tuple[Scale, list[float]]:
    """The scale, and shifts for the columns of more (P, K): p = sigmoid((score - shift - more @ shifts) / temperature).

    Newton's method on the negative log-likelihood, with a little pull towards temperature 1 and no shift, so that
    separable scores stay finite.
    """
    predicted = found.score > thresholds[found.label]
    score, right = found.score[predicted], found.right[predicted].astype(np.float64)
    plain = Scale(), [0.0] * more.shape[1]
    if len(score) < ENOUGH:
        return plain
    X = np.concatenate([np.stack([score, np.ones_like(score)], axis=1), more[predicted]], axis=1)  # (P, 2 + K)
    sign = 1.0 - 2.0 * right
    start = np.eye(1, X.shape[1])[0]

    def loss(w: NDArray[np.float64]) -> float:
        return float(np.logaddexp(0.0, sign * (X @ w)).sum() + PULL / 2 * ((w - start) ** 2).sum())

    w = start
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(X @ w, -60, 60)))  # (P,)
        gradient = X.T @ (p - right) + PULL * (w - start)
        hessian = (X * (p * (1 - p))[:, None]).T @ X + PULL * np.eye(X.shape[1])
        step = np.linalg.solve(hessian, gradient)
        while loss(w - step) > loss(w) and np.abs(step).max() > 1e-9:  # too far: Newton's method is local
            step = step / 2
        w = w - step
        if np.abs(step).max() < 1e-9:
            break
    if w[0] < 1e-3:  # higher scores are not better here: nothing to scale
        return plain
    temperature, *shifts = (round(float(x), 4) for x in (1 / w[0], *(-w[1:] / w[0])))
    return Scale(temperature, shifts[0]), shifts[1:]


def fit_thresholds(found: ScoredCandidates, labels: Sequence[str], default: float) -> dict[str, float]:
    """The thresholds with the best F1 over all labels; labels with too little gold keep the head's default.

    F = 2 hits / (predicted + gold) is greatest where, at F itself, every label's cut makes hits - F / 2 * predicted
    greatest (Dinkelbach 1967). The best cut of each label by itself would predict too much of the hard labels.
    """
    enough = [i for i in range(len(labels)) if found.gold[i] >= ENOUGH and (found.label == i).any()]
    tables = {i: _by_cut(found, i) for i in enough}
    kept = (found.score > default) & ~np.isin(found.label, enough)
    fixed = np.array([found.right[kept].sum(), kept.sum()])  # hits, predictions
    gold, f1, best = found.gold.sum(), -1.0, dict.fromkeys(enough, 0)
    while True:
        hits, predicted = fixed + sum((tables[i][1][:, best[i]] for i in enough), np.zeros(2))
        better = 2 * hits / max(1, predicted + gold)
        if better <= f1:
            break
        f1 = better
        best = {i: int(np.argmax(tables[i][1][0] - f1 / 2 * tables[i][1][1])) for i in enough}
    cuts = {labels[i]: round(float(tables[i][0][best[i]]), 4) for i in enough}
    return {label: cut for label, cut in cuts.items() if cut != default}


def _by_cut(found: ScoredCandidates, label: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every cut between two scores of a label, and how many hits and predictions are above it (2, cuts)."""
    mine = found.label == label
    order = np.argsort(-found.score[mine], kind="stable")
    score, right = found.score[mine][order], found.right[mine][order]
    below = np.append(score[1:], score[-1] - 1.0)
    apart = score > below  # no cut between equals
    cuts = np.append(score[0] + 1.0, ((score + below) / 2)[apart])
    counts = np.stack((np.cumsum(right), np.arange(1, len(score) + 1)))[:, apart]
    return cuts, np.concatenate((np.zeros((2, 1)), counts), axis=1)


def best_cut(found: ScoredCandidates) -> float:
    """The score above which F1 over all labels together is highest."""
    alone = ScoredCandidates(found.score, found.right, np.zeros_like(found.label), found.gold.sum(keepdims=True))
    return fit_thresholds(alone, ["all"], 0.0).get("all", 0.0)


def best_share(shares: Sequence[NDArray[np.float64]], proofs: Sequence[set[int]]) -> float:
    """The share with the best F1 of sentences, from shares (S,) of each fact and the sentences that prove it.

    The greatest share of a fact counts whatever the threshold is.
    """
    best = [int(np.argmax(share)) for share in shares]
    hits = sum(s in proving for s, proving in zip(best, proofs, strict=True))
    rows = sorted(
        (
            (float(x), s in proving)
            for share, proving, top in zip(shares, proofs, best, strict=True)
            for s, x in enumerate(share)
            if s != top and x > 0
        ),
        reverse=True,
    )
    right = hits + np.concatenate([[0], np.cumsum([proves for _, proves in rows])])  # (k + 1,)
    found = len(shares) + np.arange(len(rows) + 1)
    k = int(np.argmax(2 * right / (found + sum(map(len, proofs)))))
    borders = [1.0, *(x for x, _ in rows), 0.0]
    return round((borders[k] + borders[k + 1]) / 2, 4)
