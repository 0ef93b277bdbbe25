"""Targets of events: the events of a document as sets of spans."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Ints
from factpin.documents import Document, Event
from factpin.tasks.events.cliques import cliques, neighbours
from factpin.tasks.events.labels import Classes, Labels, may_link
from factpin.tasks.links import Cell
from factpin.tokens import Pieces, Window, piece_spans


@dataclass(frozen=True)
class Targets:
    """The events of a document as sets of spans, in piece indices of the whole document, and what could not be."""

    label: Ints  # (P,) class of a span
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    event: Ints  # (M,) index in doc.events
    argument: Ints  # (M,) index of a span that is in that event
    unalignable: tuple[Event, ...] = ()  # no argument, or none that starts and ends at borders of pieces
    unknown: tuple[Event, ...] = ()  # of a type that the labels do not have
    merged: tuple[Event, ...] = ()  # lie inside a clique that is larger, or are annotated twice
    lost_arguments: int = 0  # unalignable, of an unknown role, or events themselves, of an event that is learned
    invented: int = 0  # cliques that are not an event

    def columns(self) -> list[NDArray[Any]]:
        """All that is learned from it."""
        return [self.label, self.first, self.last, self.event, self.argument]

    def members(self) -> dict[int, frozenset[int]]:
        """The spans of every event."""
        found: dict[int, set[int]] = {}
        for k, at in zip(self.event.tolist(), self.argument.tolist(), strict=True):
            found.setdefault(k, set()).add(at)
        return {k: frozenset(spans) for k, spans in found.items()}

    def links(self) -> list[tuple[int, int]]:
        """All pairs of spans of one event, the lower index first, each once."""
        return sorted({pair for spans in self.members().values() for pair in combinations(sorted(spans), 2)})

    def inside(self, window: Window) -> "Targets":
        """What a window holds of the events, counted from its first piece."""
        here = self._inside(window)
        size, held = np.bincount(self.event), np.bincount(self.event[here], minlength=self.event.max(initial=-1) + 1)
        kept = here & ((held[self.event] > 1) | (size[self.event] == 1))
        spans, place = np.unique(self.argument[kept], return_inverse=True)
        first, last = self.first[spans] - window.first, self.last[spans] - window.first
        return Targets(self.label[spans], first, last, self.event[kept], place.astype(np.int64))

    def no_wider(self, width: int) -> "Targets":
        """Without arguments of more than so many pieces."""
        kept = (self.last - self.first < width)[self.argument]
        return replace(self, event=self.event[kept], argument=self.argument[kept])

    def outside(self, windows: Sequence[Window]) -> list[int]:
        """The events, as indices in doc.events, that no window holds whole."""
        size = Counter(self.event.tolist())
        whole = {
            k for w in windows for k, held in Counter(self.event[self._inside(w)].tolist()).items() if held == size[k]
        }
        return sorted(size.keys() - whole)

    def _inside(self, window: Window) -> np.ndarray:
        """(M,) which arguments lie wholly in a window."""
        good = (self.first >= window.first) & (self.last < window.last)
        return np.asarray(good[self.argument])


def targets(doc: Document, pieces: Pieces, labels: Labels) -> Targets:
    """Every event as the set of its spans, the trigger among them."""
    events = _EventCells(doc, pieces, labels)
    spans = sorted({cell for cells in events.cells.values() for cell in cells})
    at = {cell: i for i, cell in enumerate(spans)}
    members = {k: frozenset(at[cell] for cell in cells) for k, cells in events.cells.items()}
    merged, invented = _confused(spans, members, labels.classes)
    label, first, last = np.array(spans, np.int64).reshape(-1, 3).T
    rows = [(k, i) for k, own in members.items() for i in sorted(own)]
    event_of, argument = np.array(rows, np.int64).reshape(-1, 2).T
    return Targets(
        label,
        first,
        last,
        event_of,
        argument,
        unalignable=tuple(events.unalignable),
        unknown=tuple(events.unknown),
        merged=tuple(doc.events[k] for k in merged),
        lost_arguments=events.lost_arguments,
        invented=invented,
    )


class _EventCells:
    """The cells of every event that can be learned, by its index, and the events that cannot."""

    def __init__(self, doc: Document, pieces: Pieces, labels: Labels) -> None:
        first, last, ok = piece_spans(pieces, [m.start for m in doc.mentions], [m.end for m in doc.mentions])
        span: dict[str | None, tuple[int, int]] = {
            m.id: (int(first[i]), int(last[i])) for i, m in enumerate(doc.mentions) if ok[i]
        }
        index, types = {name: c for c, name in enumerate(labels.classes)}, set(labels.types)
        self.cells: dict[int, set[Cell]] = {}
        self.unalignable: list[Event] = []
        self.unknown: list[Event] = []
        self.lost_arguments = 0
        for k, event in enumerate(doc.events):
            parts = [(index.get(key), span.get(mention)) for key, mention in _parts(event, labels)]
            cells = {(label, *place) for label, place in parts if label is not None and place is not None}
            if event.type not in types:
                self.unknown.append(event)
            elif not cells:
                self.unalignable.append(event)
            else:
                self.cells[k] = cells
                self.lost_arguments += sum(label is None or place is None for label, place in parts)


def _parts(event: Event, labels: Labels) -> Iterator[tuple[tuple[str, str | None], str | None]]:
    """((event type, role), mention) of the trigger and of every argument; the mention of an event is None."""
    if event.trigger is not None and labels.triggers:
        yield (event.type, None), event.trigger
    for a in event.arguments:
        yield (event.type, a.role), a.mention


def _confused(spans: list[Cell], members: dict[int, frozenset[int]], classes: Classes) -> tuple[list[int], int]:
    """The events that are lost even if every cell is found, and how many cliques are not an event."""
    heads, tails = set[tuple[int, int]](), set[tuple[int, int]]()
    for own in members.values():
        for (_, i, j), (_, x, y) in combinations([spans[at] for at in own], 2):
            heads.add((min(i, x), max(i, x)))
            tails.add((min(j, y), max(j, y)))
    links = [
        (a, b)
        for (a, (c, i, j)), (b, (d, x, y)) in combinations(enumerate(spans), 2)
        if (min(i, x), max(i, x)) in heads and (min(j, y), max(j, y)) in tails and may_link(classes[c], classes[d])
    ]
    near = neighbours(len(spans), links)
    seen, merged = set[frozenset[int]](), []
    for k, own in members.items():
        common = -1
        for at in own:
            common &= near[at]
        if common or own in seen:  # a node that all of them are linked to: the clique is larger
            merged.append(k)
        seen.add(own)
    found, _ = cliques(len(spans), links)
    return merged, len({frozenset(clique) for clique in found} - seen)
