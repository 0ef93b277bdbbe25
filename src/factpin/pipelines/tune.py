"""What is fitted on dev after training: the scale of the scores, and thresholds by label.

temperature, shift   of sigmoid((score - shift) / temperature): least negative log-likelihood over the predictions
threshold            of a label: the score above which its F1 on dev is highest
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.pipelines.extractor import Extractor
from factpin.pipelines.find_triples import labels_of
from factpin.scoring import align, events
from factpin.scoring.triples import Key, triples
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
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(labels), np.int64)
    for read, found in zip(reads, extractor.find(reads, cut), strict=True):
        gold = {(m.start, m.end, index[m.type]) for m in read.doc.mentions if m.type in index}
        for _, _, kind in gold:
            counts[kind] += 1
        for kind, first, last, score in zip(found.label, found.first, found.last, found.score, strict=True):
            start, end = char_span(read.pieces, int(first), int(last))
            rows.append((float(score), (start, end, int(kind)) in gold, int(kind)))
    return _candidates(rows, counts)


def fact_candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """The same for facts: every link of a relation, right where gold has it at these very characters."""
    labels = labels_of(extractor.settings)
    index = {label: i for i, label in enumerate(labels.names)}
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(index), np.int64)
    reads = [extractor.reader.read(doc) for doc in documents]
    for read, found in zip(reads, extractor.find(reads, LOWEST), strict=True):
        gold: dict[int, list[Key]] = {}
        for key in {t.key() for t in triples(read.doc) if t.relation in index}:
            gold.setdefault(index[key.names[0]], []).append(key)
            counts[index[key.names[0]]] += 1
        places = [char_span(read.pieces, first, last) for _, first, last in found.spans()]
        for r, s, o, score in zip(found.relation, found.subject, found.object, found.score, strict=True):
            if r < len(labels.relations):
                right = any(places[s] in key.head and places[o] in key.tail for key in gold.get(int(r), ()))
                rows.append((float(score), right, int(r)))
    return _candidates(rows, counts)


def span_candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """The same for the arguments of facts, whatever their type: one label."""
    rows: list[tuple[float, bool, int]] = []
    reads = [extractor.reader.read(doc) for doc in documents]
    for read, found in zip(reads, extractor.find(reads), strict=True):
        gold = {(m.start, m.end) for m in read.doc.mentions}
        for i in sorted({*found.subject, *found.object}):
            place = char_span(read.pieces, int(found.first[i]), int(found.last[i]))
            rows.append((float(found.span_score[i]), place in gold, 0))
    return _candidates(rows, np.zeros(1, np.int64))


def relation_candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """The same for facts between the entities that the documents came with."""
    index = {label: i for i, label in enumerate(extractor.settings.labels)}
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(index), np.int64)
    reads = [extractor.reader.read(doc) for doc in documents]
    for read, judged in zip(reads, extractor.find(reads, LOWEST), strict=True):
        ids, found = [entity.id for entity in read.doc.entities], judged.found
        gold = {(fact.head, index[fact.relation], fact.tail) for fact in read.doc.facts if fact.relation in index}
        for _, relation, _ in gold:
            counts[relation] += 1
        for h, r, t, score in zip(found.head, found.relation, found.tail, found.score, strict=True):
            rows.append((float(score), (ids[h], int(r), ids[t]) in gold, int(r)))
    return _candidates(rows, counts)


def best_cut(found: Candidates) -> float:
    """The score above which F1 over all labels together is highest."""
    alone = Candidates(found.score, found.right, np.zeros_like(found.label), found.gold.sum(keepdims=True))
    return fit_thresholds(alone, ["all"], 0.0).get("all", 0.0)


def fit_event_scale(extractor: Extractor, documents: Sequence[Document]) -> Scale:
    """The scale of events: right where the whole event is. Scores are told as they are, without a scale."""
    plain = replace(extractor, settings=replace(extractor.settings, temperature=1.0, shift=0.0))
    outcomes = events.score(align(plain.annotate(documents), documents).pairs).outcomes
    rows = [(float(np.log(p / (1 - p))), right, 0) for p, right in outcomes if 0 < p < 1]
    return fit_scale(_candidates(rows, np.zeros(1, np.int64)), np.array([-np.inf]))


def _candidates(rows: list[tuple[float, bool, int]], gold: NDArray[np.int64]) -> Candidates:
    score, right, label = zip(*rows, strict=True) if rows else ((), (), ())
    return Candidates(np.array(score, np.float64), np.array(right, np.bool_), np.array(label, np.int64), gold)


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
