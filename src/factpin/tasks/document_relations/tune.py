"""Document relations: thresholds, the scale of the scores and the share that makes evidence, fitted on dev."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factpin.arrays import Floats
from factpin.documents import Document
from factpin.tasks.document_relations.find import find_relations
from factpin.tasks.fit import (
    ENOUGH,
    LOWEST,
    ScoredCandidates,
    best_cut,
    best_share,
    fit_scale,
    fit_thresholds,
    make_candidates,
)
from factpin.tasks.settings import Settings
from factpin.tasks.task import Tunable


def tune(model: Tunable, dev: Sequence[Document], options: Any) -> Settings:
    """The settings with what dev gives: one threshold for all relations where it is global, or one each by choice."""
    found = relation_candidates(model, dev)
    settings = model.settings
    if options.threshold == "global":
        settings = _one_threshold(settings, found)
    elif options.tune_thresholds:
        settings = replace(settings, thresholds=fit_thresholds(found, settings.labels, 0.0))
    cut = settings.cut(model.default_threshold)
    scale = fit_scale(found, cut)
    settings = replace(settings, temperature=scale.temperature, shift=scale.shift)
    share = fit_evidence_share(model, dev, cut)
    if share is not None:
        settings = replace(settings, head_config={**settings.head_config, "evidence_share": share})
    return settings


def settle(model: Tunable, dev: Sequence[Document], options: Any) -> Settings:
    """The settings for an evaluation while a model is trained: a global threshold is fitted each time."""
    if options.threshold != "global":
        return model.settings
    return _one_threshold(model.settings, relation_candidates(model, dev))


def _one_threshold(settings: Settings, found: ScoredCandidates) -> Settings:
    return replace(settings, thresholds=dict.fromkeys(settings.labels, best_cut(found)))


def relation_candidates(model: Tunable, documents: Sequence[Document]) -> ScoredCandidates:
    """Facts between the entities of the documents that score above LOWEST, right or wrong."""
    index = {label: i for i, label in enumerate(model.settings.labels)}
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(index), np.int64)
    read = [model.read(doc) for doc in documents]
    for document, finding in zip(read, model.find(read, LOWEST), strict=True):
        doc, found = document.doc, finding.found
        ids = [entity.id for entity in doc.entities]
        gold = {(fact.head, index[fact.relation], fact.tail) for fact in doc.facts if fact.relation in index}
        for _, relation, _ in gold:
            counts[relation] += 1
        for h, r, t, score in zip(found.head, found.relation, found.tail, found.score, strict=True):
            rows.append((float(score), (ids[h], int(r), ids[t]) in gold, int(r)))
    return make_candidates(rows, counts)


def fit_evidence_share(model: Tunable, documents: Sequence[Document], cut: Floats) -> float | None:
    """The share above which a sentence is evidence; None: there are too few facts.

    Only facts that are right and have annotated evidence count; others do not tell which sentences are evidence.
    """
    shares, proofs = _shares(model, documents, cut)
    return best_share(shares, proofs) if len(shares) >= ENOUGH else None


def _shares(model: Tunable, documents: Sequence[Document], cut: Floats) -> tuple[list[Floats], list[set[int]]]:
    """Of every fact that is found, right and has evidence: the share (S,) of each sentence, and the evidence."""
    index = {label: i for i, label in enumerate(model.settings.labels)}
    read = [model.read(doc) for doc in documents]
    shares, proofs = [], []
    for document, (y, scores) in zip(read, model.finder.score(read, model.predict), strict=True):
        if scores is None or scores.share is None or scores.context is None:
            continue
        place = {entity.id: i for i, entity in enumerate(document.doc.entities)}
        gold = {
            (place[f.head], index.get(f.relation), place[f.tail]): {e.sentence for e in f.evidence}
            for f in document.doc.facts
            if f.evidence
        }
        pairs = zip(scores.head.tolist(), scores.tail.tolist(), strict=True)
        row = dict(zip(pairs, scores.context.tolist(), strict=True))
        found = find_relations(scores, cut, y.fits())
        for h, r, t in zip(found.head.tolist(), found.relation.tolist(), found.tail.tolist(), strict=True):
            if (h, r, t) in gold:
                _, sentence, share = scores.share.of(np.array([row[h, t]]))
                shares.append(np.bincount(sentence, share, y.sentences).astype(np.float64))
                proofs.append(gold[h, r, t])
    return shares, proofs
