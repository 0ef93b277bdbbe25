"""Find triples: scores -> spans that are subjects or objects, and links between them.

(s, r, o) is found where spans, spans, heads and tails at its tokens are all above the cut; its score is the least of
the four
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Bools, Ints
from factpin.tasks.cuts import cuts
from factpin.tasks.links import LinkCells
from factpin.tasks.spans.blocks import pair_blocks
from factpin.tasks.spans.cells import BestCells, best_of
from factpin.tasks.spans.scores import FactoredScores, PointerScores
from factpin.tasks.triples.join import SpanCandidates, join

SPANS = 256  # subjects, and objects, that are joined in one text: more come from a model that is not trained
TRIPLES = 4096  # kept of one text


@dataclass(frozen=True)
class TripleScores:
    """Scores of C classes of spans, and of R relations between first and between last tokens."""

    spans: PointerScores
    heads: FactoredScores
    tails: FactoredScores
    subjects: int  # so many classes are of subjects, the others of objects


def find_triples(
    scores: TripleScores,
    cut: ArrayLike,
    *,
    span_cut: float = 0.0,
    allowed: Bools | None = None,
    max_spans: int | None = SPANS,
    max_triples: int | None = TRIPLES,
) -> LinkCells:
    """What is above the cut, one number or one for each relation (R,), by text, subject, object and relation.

    Of each text the `max_spans` best subjects, as many objects, and the `max_triples` best triples; of equals the
    earlier. allowed (R, C, C): which relation may join a subject and an object of which classes (`links.allowed`).
    Spans without a triple are there where they score more than `span_cut`.
    """
    table = cuts(cut, scores.heads.labels)
    best = _best_spans(scores, min(float(table.min()), span_cut), max_spans)
    cells = best.cells
    subject = cells.label < scores.subjects
    candidates = SpanCandidates(cells, np.flatnonzero(subject), np.flatnonzero(~subject))
    triples, more = join(candidates, scores.heads, scores.tails, table, allowed=allowed, most=max_triples)
    more |= best.more.reshape(-1, 2).any(axis=1)
    found = LinkCells(cells, triples.relation, triples.subject, triples.object, triples.score, more)
    return _without(found, cells.score <= np.float32(span_cut))


def _best_spans(scores: TripleScores, cut: float, most: int | None) -> BestCells:
    """The best subjects (group 2 b) and the best objects (group 2 b + 1) of each text b."""
    B, C = len(scores.spans.real), scores.spans.labels
    role: Ints = 2 * np.arange(B)[:, None] + (np.arange(C) >= scores.subjects)  # (B, C)
    return best_of(pair_blocks(scores.spans, cuts(cut, C)), role, most)


def _without(found: LinkCells, low: Bools) -> LinkCells:
    """Without the spans that are low (P,), but for those of a triple."""
    if not low.any():
        return found
    kept = ~low
    kept[found.subject] = kept[found.object] = True
    place = kept.cumsum() - 1
    subject, object_ = place[found.subject], place[found.object]
    return LinkCells(found.spans.take(kept), found.relation, subject, object_, found.score, found.truncated)
