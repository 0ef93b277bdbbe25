"""What is fitted on dev after training: the scale of the scores, and thresholds by label.

temperature, shift   of sigmoid((score - shift) / temperature): least negative log-likelihood over the predictions
threshold            of every label: the scores above which F1 on dev, over all labels, is highest
evidence share       of document relations: the share above which a sentence proves, with the best F1 on dev
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.models import find_events
from factpin.models.extractor import Extractor
from factpin.models.find_relations import scored
from factpin.models.find_triples import TripleSettings, labels_of
from factpin.models.reading import Read
from factpin.scoring.events import EventKey, event_keys
from factpin.scoring.triples import Key, match, triples
from factpin.tasks.links import Found
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
        known = read.doc.notes.annotated_types
        judged = {i for label, i in index.items() if known is None or label in known}
        gold = {(m.start, m.end, index[m.type]) for m in read.doc.mentions if index.get(m.type) in judged}
        for _, _, kind in gold:
            counts[kind] += 1
        for kind, first, last, score in zip(found.label, found.first, found.last, found.score, strict=True):
            if int(kind) not in judged:
                continue
            start, end = char_span(read.pieces, int(first), int(last))
            rows.append((float(score), (start, end, int(kind)) in gold, int(kind)))
    return _candidates(rows, counts)


def fact_candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """The same for facts: every relation between two places once, right where scoring counts it under `strict`.

    Of several that fit one gold fact the surest is right, so above any cut as many are right as scoring would count.
    """
    labels = labels_of(extractor.settings)
    index = {label: i for i, label in enumerate(labels.names)}
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(index), np.int64)
    reads = [extractor.reader.read(doc) for doc in documents]
    for read, found in zip(reads, extractor.find(reads, LOWEST), strict=True):
        known = read.doc.notes.annotated_relations
        judged = {name for name in index if known is None or name in known}
        gold = {t.key() for t in triples(read.doc) if t.relation in judged}
        for key in gold:
            counts[index[key.names[0]]] += 1
        places = [char_span(read.pieces, first, last) for _, first, last in found.spans()]
        best: dict[Key, float] = {}
        for r, s, o, score in zip(found.relation, found.subject, found.object, found.score, strict=True):
            if (
                r < len(labels.relations)
                and labels.relations[r] in judged
                and all(start < end for start, end in (places[s], places[o]))
            ):
                key = Key((labels.relations[r],), frozenset((places[s],)), frozenset((places[o],)))
                best[key] = max(best.get(key, -np.inf), float(score))
        right = match(gold, sorted(best, key=lambda key: -best[key]))
        rows += [(score, key in right, index[key.names[0]]) for key, score in best.items()]
    return _candidates(rows, counts)


def span_candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """The same for the mentions that are told, right whatever their type: one label."""
    rows: list[tuple[float, bool, int]] = []
    labels, every = labels_of(extractor.settings), TripleSettings.of(extractor.settings).mentions == "all"
    reads = [extractor.reader.read(doc) for doc in documents]
    for read, found in zip(reads, extractor.find(reads), strict=True):
        gold = {(m.start, m.end) for m in read.doc.mentions}
        best: dict[tuple[int, int, str], float] = {}
        for i in range(len(found.label)) if every else {*found.subject.tolist(), *found.object.tolist()}:
            start, end = char_span(read.pieces, int(found.first[i]), int(found.last[i]))
            spot = (start, end, labels.type_of(int(found.label[i])))
            best[spot] = max(best.get(spot, -np.inf), float(found.span_score[i]))
        rows += [(score, spot[:2] in gold, 0) for spot, score in sorted(best.items()) if spot[0] < spot[1]]
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


def fit_evidence_share(extractor: Extractor, documents: Sequence[Document]) -> float | None:
    """The share above which a sentence proves; None: too few facts to tell.

    Looked at are facts that are right and have annotated evidence; others do not tell which sentences prove.
    """
    shares, proofs = _shares(extractor, documents)
    return best_share(shares, proofs) if len(shares) >= ENOUGH else None


def best_share(shares: Sequence[NDArray[np.float64]], proofs: Sequence[set[int]]) -> float:
    """The share with the best F1 of sentences, from shares (S,) of each fact and the sentences that prove it.

    The greatest share of a fact counts whatever the threshold is.
    """
    best = [int(np.argmax(share)) for share in shares]
    hits = sum(s in proving for s, proving in zip(best, proofs, strict=True))
    rows = sorted(((float(x), s in proving) for share, proving, top in zip(shares, proofs, best, strict=True)
                   for s, x in enumerate(share) if s != top and x > 0), reverse=True)  # fmt: skip
    right = hits + np.concatenate([[0], np.cumsum([proves for _, proves in rows])])  # (k + 1,)
    found = len(shares) + np.arange(len(rows) + 1)
    k = int(np.argmax(2 * right / (found + sum(map(len, proofs)))))
    borders = [1.0, *(x for x, _ in rows), 0.0]
    return round((borders[k] + borders[k + 1]) / 2, 4)


def _shares(extractor: Extractor, documents: Sequence[Document]) -> tuple[list[NDArray[np.float64]], list[set[int]]]:
    """Of every fact that is found, right and proved: the share (S,) of each sentence, and those that prove it."""
    index = {label: i for i, label in enumerate(extractor.settings.labels)}
    reads = [extractor.reader.read(doc) for doc in documents]
    shares, proofs = [], []
    model: Any = extractor.model.eval()
    for read, (_, scores) in zip(reads, scored(model, extractor.tokenizer, extractor.settings, reads), strict=True):
        if scores is None or scores.share is None or scores.context is None:
            continue
        place = {entity.id: i for i, entity in enumerate(read.doc.entities)}
        gold = {(place[f.head], index.get(f.relation), place[f.tail]): {e.sentence for e in f.evidence}
                for f in read.doc.facts if f.evidence}  # fmt: skip
        pairs = zip(scores.head.tolist(), scores.tail.tolist(), strict=True)
        row = dict(zip(pairs, scores.context.tolist(), strict=True))
        cells = model.head.predict(scores, extractor.threshold())
        for h, r, t in zip(cells.head.tolist(), cells.relation.tolist(), cells.tail.tolist(), strict=True):
            if (h, r, t) in gold:
                shares.append(scores.share[row[h, t]].double().cpu().numpy())
                proofs.append(gold[h, r, t])
    return shares, proofs


def best_cut(found: Candidates) -> float:
    """The score above which F1 over all labels together is highest."""
    alone = Candidates(found.score, found.right, np.zeros_like(found.label), found.gold.sum(keepdims=True))
    return fit_thresholds(alone, ["all"], 0.0).get("all", 0.0)


def fit_event_scale(extractor: Extractor, documents: Sequence[Document]) -> Scale:
    """The scale of events: right where the whole event is."""
    return fit_scale(event_candidates(extractor, documents), np.array([-np.inf]))


def event_candidates(extractor: Extractor, documents: Sequence[Document]) -> Candidates:
    """Every event that is told, once, with the score that its probability comes from: one label."""
    rows: list[tuple[float, bool, int]] = []
    gold = 0
    reads = [extractor.reader.read(doc) for doc in documents]
    for read, found in zip(reads, extractor.find(reads), strict=True):
        bare = replace(read, doc=replace(read.doc, mentions=(), entities=(), facts=(), events=()))
        said = {*event_keys(extractor.finder.annotated(bare, found, extractor.settings))}
        right = {*event_keys(read.doc)}
        gold += len(right)
        rows += [(score, event in right, 0) for event, score in _event_scores(extractor, read, found, said).items()]
    return _candidates(rows, np.array([gold]))


def _event_scores(extractor: Extractor, read: Read, found: Found, events: Iterable[EventKey]) -> dict[EventKey, float]:
    """The least of the scores of an event's spans and links, before any scale."""
    classes = find_events.labels_of(extractor.settings).classes
    nodes = [(classes[label], char_span(read.pieces, first, last)) for label, first, last in found.spans()]
    rows = [(frozenset((node,)), score) for node, score in zip(nodes, found.span_score, strict=True)]
    for s, o, score in zip(found.subject, found.object, found.score, strict=True):
        if nodes[s] != nodes[o]:
            rows.append((frozenset((nodes[s], nodes[o])), score))
    best: dict[frozenset[Any], float] = {}  # of a span, and of two that are linked
    for parts, score in rows:
        best[parts] = max(best.get(parts, -np.inf), float(score))
    scores = {}
    for event in events:
        own = [((event.type, part.role), part.place) for part in event.parts]
        scores[event] = min(best[frozenset(parts)] for n in (1, 2) for parts in combinations(own, n))
    return scores


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
    """The thresholds with the best F1 over all labels; labels with too little gold keep the head's own.

    F = 2 hits / (told + gold) is greatest where, at F itself, every label's cut makes hits - F / 2 * told greatest
    (Dinkelbach 1967). The cut with the best F1 of each label alone would tell too much of the labels that are hard.
    """
    enough = [i for i in range(len(labels)) if found.gold[i] >= ENOUGH and (found.label == i).any()]
    tables = {i: _by_cut(found, i) for i in enough}
    kept = (found.score > default) & ~np.isin(found.label, enough)
    fixed = np.array([found.right[kept].sum(), kept.sum()])  # hits, told
    gold, f1, best = found.gold.sum(), -1.0, dict.fromkeys(enough, 0)
    while True:
        hits, told = fixed + sum((tables[i][1][:, best[i]] for i in enough), np.zeros(2))
        better = 2 * hits / max(1, told + gold)
        if better <= f1:
            break
        f1 = better
        best = {i: int(np.argmax(tables[i][1][0] - f1 / 2 * tables[i][1][1])) for i in enough}
    cuts = {labels[i]: round(float(tables[i][0][best[i]]), 4) for i in enough}
    return {label: cut for label, cut in cuts.items() if cut != default}


def _by_cut(found: Candidates, label: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every cut between two scores of a label, and how many are hits and are told above it (2, cuts)."""
    mine = found.label == label
    order = np.argsort(-found.score[mine], kind="stable")
    score, right = found.score[mine][order], found.right[mine][order]
    below = np.append(score[1:], score[-1] - 1.0)
    apart = score > below  # no cut between equals
    cuts = np.append(score[0] + 1.0, ((score + below) / 2)[apart])
    counts = np.stack((np.cumsum(right), np.arange(1, len(score) + 1)))[:, apart]
    return cuts, np.concatenate((np.zeros((2, 1)), counts), axis=1)
