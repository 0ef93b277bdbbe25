"""Spans: thresholds and the scale of the scores, fitted on dev."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.tasks.fit import LOWEST, ScoredCandidates, fit_scale, fit_thresholds, make_candidates
from factpin.tasks.settings import Settings
from factpin.tasks.task import Tunable
from factpin.tokens import char_span


def tune(model: Tunable, dev: Sequence[Document], options: Any) -> Settings:
    """The settings with thresholds, by choice, and the scale that dev gives."""
    found = span_candidates(model, dev)
    settings = model.settings
    if options.tune_thresholds:
        settings = replace(settings, thresholds=fit_thresholds(found, settings.labels, model.default_threshold))
    scale = fit_scale(found, settings.cut(model.default_threshold))
    return replace(settings, temperature=scale.temperature, shift=scale.shift)


def span_candidates(model: Tunable, documents: Sequence[Document]) -> ScoredCandidates:
    """Every span of these documents that scores above LOWEST, right or wrong."""
    labels = model.settings.labels
    index = {label: i for i, label in enumerate(labels)}
    read = [model.read(doc) for doc in documents]
    cut = max(LOWEST, model.default_threshold + LOWEST)
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(labels), np.int64)
    for document, found in zip(read, model.find(read, cut), strict=True):
        known = document.doc.notes.annotated_types
        judged = {i for label, i in index.items() if known is None or label in known}
        gold = {(m.start, m.end, index[m.type]) for m in document.doc.mentions if index.get(m.type) in judged}
        for _, _, kind in gold:
            counts[kind] += 1
        for kind, first, last, score in zip(found.label, found.first, found.last, found.score, strict=True):
            if int(kind) not in judged:
                continue
            start, end = char_span(document.pieces, int(first), int(last))
            rows.append((float(score), (start, end, int(kind)) in gold, int(kind)))
    return make_candidates(rows, counts)
