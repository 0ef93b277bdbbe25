"""Spans: thresholds and the scale of the scores, fitted on dev.

Of spans that overlap, a model may keep the surest only. A span that does not reach the threshold of its own label is
not shown, so it takes the place of no other: the scale is fitted on what is left of the spans above the thresholds.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.tasks.fit import LOWEST, ScoredCandidates, fit_scale, fit_thresholds, make_candidates
from factpin.tasks.settings import Settings
from factpin.tasks.spans.find import Spans, surest
from factpin.tasks.task import Tunable
from factpin.tokens import char_span
from factpin.tokens.reading import WindowedDocument

Found = Sequence[tuple[WindowedDocument, Spans]]


def tune(model: Tunable, dev: Sequence[Document], options: Any) -> Settings:
    """The settings with thresholds, by choice, and the scale that dev gives."""
    found = every_span(model, dev)
    settings = model.settings
    keep: Callable[[Spans], Spans] = (lambda spans: spans) if model.finder.overlaps else surest
    if options.tune_thresholds:
        candidates = span_candidates([(read, keep(spans)) for read, spans in found], settings.labels)
        settings = replace(settings, thresholds=fit_thresholds(candidates, settings.labels, model.default_threshold))
    cut = settings.cut(model.default_threshold)
    shown = [(read, keep(spans.take(spans.score > cut[spans.label]))) for read, spans in found]
    scale = fit_scale(span_candidates(shown, settings.labels), cut)
    return replace(settings, temperature=scale.temperature, shift=scale.shift)


def every_span(model: Tunable, documents: Sequence[Document]) -> Found:
    """Every span of these documents that scores above LOWEST, with those that overlap a surer one."""
    read = [model.read(doc) for doc in documents]
    cut = max(LOWEST, model.default_threshold + LOWEST)
    found = replace(model.finder, overlaps=True).find(read, model.predict, cut)
    return list(zip(read, found, strict=True))


def span_candidates(found: Found, labels: Sequence[str]) -> ScoredCandidates:
    """Spans of documents, right or wrong, as far as the annotators marked their label."""
    index = {label: i for i, label in enumerate(labels)}
    rows: list[tuple[float, bool, int]] = []
    counts = np.zeros(len(labels), np.int64)
    for document, spans in found:
        known = document.doc.notes.annotated_types
        judged = {i for label, i in index.items() if known is None or label in known}
        gold = {(m.start, m.end, index[m.type]) for m in document.doc.mentions if index.get(m.type) in judged}
        for _, _, kind in gold:
            counts[kind] += 1
        for kind, first, last, score in zip(spans.label, spans.first, spans.last, spans.score, strict=True):
            if int(kind) not in judged:
                continue
            start, end = char_span(document.pieces, int(first), int(last))
            rows.append((float(score), (start, end, int(kind)) in gold, int(kind)))
    return make_candidates(rows, counts)
