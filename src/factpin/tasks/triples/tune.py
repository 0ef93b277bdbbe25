"""Triples: thresholds of relations, and the scales of facts and of mentions, fitted on dev."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.scoring.triples import Key, match, triples
from factpin.tasks.fit import LOWEST, ScoredCandidates, fit_scale, fit_shifts, fit_thresholds, make_candidates
from factpin.tasks.settings import Settings
from factpin.tasks.task import Tunable
from factpin.tasks.triples.decode import fact_links, spots_of
from factpin.tasks.triples.rules import sound
from factpin.tokens import char_span


def tune(model: Tunable, dev: Sequence[Document], options: Any) -> Settings:
    """The settings with thresholds, by choice, and the scales that dev gives."""
    found = fact_candidates(model, dev)
    settings = model.settings
    if options.tune_thresholds:
        settings = replace(settings, thresholds=fit_thresholds(found, settings.labels, model.default_threshold))
    cut = settings.cut(model.default_threshold)
    scale, shifts = fit_shifts(found, cut, settings.labels)
    spans = fit_scale(mention_candidates(model, dev, cut), np.array([-np.inf]))  # mentions are shown whatever the cut
    scales = {"shifts": shifts, "span_temperature": spans.temperature, "span_shift": spans.shift}
    task_config = settings.task_config | scales
    return replace(settings, temperature=scale.temperature, shift=scale.shift, task_config=task_config)


def fact_candidates(model: Tunable, documents: Sequence[Document]) -> ScoredCandidates:
    """Every relation between two places once, right where scoring counts it under `strict`.

    Of several that fit one gold fact the surest is right, so above any cut as many are right as scoring would count.
    Facts with an argument that cannot be a name are left out, as they are in decoding.
    """
    labels = model.finder.labels
    index = {label: i for i, label in enumerate(labels.names)}
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(index), np.int64)
    read = [model.read(doc) for doc in documents]
    for document, found in zip(read, model.find(read, LOWEST), strict=True):
        known = document.doc.notes.annotated_relations
        judged = {name for name in index if known is None or name in known}
        gold = {t.key() for t in triples(document.doc) if t.relation in judged}
        for key in gold:
            counts[index[key.names[0]]] += 1
        facts, _ = fact_links(found, spots_of(found, document.pieces, labels), labels)
        facts = {draft: score for draft, score in facts.items() if draft.relation in judged}
        best: dict[Key, float] = {}
        for draft, score in sound(facts, document.doc, Counter()).items():
            key = Key((draft.relation,), frozenset((draft.head[:2],)), frozenset((draft.tail[:2],)))
            best[key] = max(best.get(key, -np.inf), score)
        right = match(gold, sorted(best, key=lambda key: -best[key]))
        rows += [(score, key in right, index[key.names[0]]) for key, score in best.items()]
    return make_candidates(rows, counts)


def mention_candidates(model: Tunable, documents: Sequence[Document], cut: Any) -> ScoredCandidates:
    """The mentions that are shown, right whatever their type: one label."""
    rows: list[tuple[float, bool, int]] = []
    labels, every = model.finder.labels, model.finder.rules.mentions == "all"
    read = [model.read(doc) for doc in documents]
    for document, found in zip(read, model.find(read, cut), strict=True):
        gold = {(m.start, m.end) for m in document.doc.mentions}
        best: dict[tuple[int, int, str], float] = {}
        for i in range(len(found.label)) if every else {*found.subject.tolist(), *found.object.tolist()}:
            start, end = char_span(document.pieces, int(found.first[i]), int(found.last[i]))
            spot = (start, end, labels.type_of(int(found.label[i])))
            best[spot] = max(best.get(spot, -np.inf), float(found.span_score[i]))
        rows += [(score, spot[:2] in gold, 0) for spot, score in sorted(best.items()) if spot[0] < spot[1]]
    return make_candidates(rows, np.zeros(1, np.int64))
