"""Events: the scale of their scores, fitted on dev."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.scoring.events import EventKey, event_keys
from factpin.tasks.fit import ScoredCandidates, fit_scale, make_candidates
from factpin.tasks.links import Links
from factpin.tasks.settings import Settings
from factpin.tasks.task import Tunable
from factpin.tokens import char_span
from factpin.tokens.reading import WindowedDocument


def tune(model: Tunable, dev: Sequence[Document], options: Any = None) -> Settings:
    """The settings with the scale that dev gives: an event is right where all of it is."""
    scale = fit_scale(event_candidates(model, dev), np.array([-np.inf]))
    return replace(model.settings, temperature=scale.temperature, shift=scale.shift)


def event_candidates(model: Tunable, documents: Sequence[Document]) -> ScoredCandidates:
    """Every event that is found, once, with the score that its probability comes from: one label."""
    rows: list[tuple[float, bool, int]] = []
    gold = 0
    read = [model.read(doc) for doc in documents]
    for document, found in zip(read, model.find(read), strict=True):
        bare = replace(document, doc=replace(document.doc, mentions=(), entities=(), facts=(), events=()))
        events = {*event_keys(model.finder.annotate(bare, found))}
        right = {*event_keys(document.doc)}
        gold += len(right)
        classes = model.finder.labels.classes
        rows += [(score, event in right, 0) for event, score in _scores(document, found, classes, events).items()]
    return make_candidates(rows, np.array([gold]))


def _scores(
    document: WindowedDocument, found: Links, classes: Any, events: Iterable[EventKey]
) -> dict[EventKey, float]:
    """The least of the scores of an event's spans and links, before any scale."""
    nodes = [(classes[label], char_span(document.pieces, first, last)) for label, first, last in found.spans()]
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
