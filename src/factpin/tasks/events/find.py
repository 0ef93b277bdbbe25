"""Find events: scores -> spans that play a role in an event, and links between the spans of one event.

a and b are linked where spans, spans, heads and tails at their tokens are all above the cut; the score of the link
is the least of the four. A link has no direction: it is the cell of the smaller and the larger token.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from factpin.arrays import Bools, Floats32, Ints
from factpin.tasks.cuts import cuts
from factpin.tasks.links import LinkCells
from factpin.tasks.spans.blocks import factored_blocks
from factpin.tasks.spans.cells import SpanCells, best_indices, best_of
from factpin.tasks.spans.scores import FactoredScores

SPANS = 256  # joined in one text: more come from a model that is not trained
LINKS = 4096  # kept of one text


@dataclass(frozen=True)
class EventScores:
    """Scores of C classes of spans, and of links between first and between last tokens."""

    spans: FactoredScores
    heads: FactoredScores  # one label
    tails: FactoredScores  # one label
    type_of: Ints  # (C,) the event type of a class
    is_trigger: Bools  # (C,)

    @property
    def types(self) -> int:
        """Event types."""
        return int(self.type_of.max(initial=-1)) + 1


def find_events(
    scores: EventScores, cut: ArrayLike, *, max_spans: int | None = SPANS, max_links: int | None = LINKS
) -> LinkCells:
    """Spans and links above the cut, one number or one for each event type, by text and span.

    A link has relation 0, and its subject is the span of the lower index. Of each text the `max_spans` best spans and
    the `max_links` best links; of equals the earlier.
    """
    table = cuts(cut, scores.types)
    B, C, _ = scores.spans.u.shape
    text = np.broadcast_to(np.arange(B)[:, None], (B, C))
    best = best_of(factored_blocks(scores.spans, table[scores.type_of]), text, max_spans)
    cells = best.cells
    a, b = _pairs(cells, scores)
    s = np.minimum(cells.score[a], cells.score[b])  # (M,)
    for link, token in ((scores.heads, cells.start), (scores.tails, cells.end)):
        s = np.minimum(s, _at(link, cells.batch[a], np.minimum(token[a], token[b]), np.maximum(token[a], token[b])))
    linked = np.flatnonzero(s > table[scores.type_of[cells.label[a]]])
    kept, more = best_indices(s[linked], cells.batch[a[linked]], B, max_links)
    linked = linked[kept]
    return LinkCells(cells, np.zeros_like(linked), a[linked], b[linked], s[linked], best.more | more)


def _at(link: FactoredScores, batch: Ints, i: Ints, j: Ints) -> Floats32:
    """The scores of links (M,) at cells."""
    s: Floats32 = np.einsum("md,md->m", link.q[batch, i], link.k[batch, j])
    s += link.v[batch, 0, j]
    s += link.u[batch, 0, i]
    return s


def _pairs(cells: SpanCells, scores: EventScores) -> tuple[Ints, Ints]:
    """All pairs (M,) of spans that one event can hold, the lower index first."""
    group = cells.batch * scores.types + scores.type_of[cells.label]  # (P,)
    order = group.argsort(kind="stable")
    place = np.arange(len(cells))
    after = np.bincount(group).cumsum()[group[order]] - 1 - place  # (P,) spans of the group after each
    begin = (after.cumsum() - after).repeat(after)  # (M,)
    first = place.repeat(after)
    a, b = order[first], order[first + 1 + np.arange(len(first)) - begin]
    possible = ~(scores.is_trigger[cells.label[a]] & scores.is_trigger[cells.label[b]])
    return a[possible], b[possible]
