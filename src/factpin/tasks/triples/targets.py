"""Targets of triples: the facts of a document as spans that are subjects or objects, and links between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools, Ints
from factpin.documents import Document, Fact, Mention
from factpin.errors import BadInput
from factpin.tasks.links import Cell, Labels
from factpin.tasks.spans.targets import known_labels
from factpin.tokens import Pieces, Window, piece_spans

Occurrences = Literal["first", "nearest", "all"]
Taught = Literal["linked", "all"]  # which mentions: those of facts, or every one


@dataclass(frozen=True)
class Targets:
    """The facts of a document as spans and links, in piece indices of the whole document, and what could not be."""

    label: Ints  # (P,) class of a span
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    relation: Ints  # (T,) link
    subject: Ints  # (T,) index of a span
    object: Ints  # (T,) index of a span
    fact: Ints  # (T,) index in doc.facts: the first with this link; -1 for a qualifier
    unalignable: tuple[Fact, ...] = ()  # no mention of an argument starts and ends at borders of pieces
    unknown: tuple[Fact, ...] = ()  # of a relation or a type that the labels do not have
    ambiguous: tuple[Fact, ...] = ()  # not pinned, and more than one pair of mentions could be meant
    merged: tuple[Fact, ...] = ()  # their qualifiers cannot be distinguished from those of another fact
    lost_qualifiers: int = 0  # unalignable or unknown, while the fact itself is taught
    free: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # (F,) spans that are taught without a link too
    lost_mentions: int = 0  # where all are taught: unalignable or unknown
    known: Bools | None = None  # (R,) the relations and slots that the document marks wherever they occur; None: all

    def columns(self) -> list[NDArray[Any]]:
        """All that is learned from it."""
        links = (self.relation, self.subject, self.object, self.known)
        return [column for column in (self.label, self.first, self.last, *links) if column is not None]

    def inside(self, window: Window) -> "Targets":
        """The links that lie wholly in a window with their spans, counted from its first piece."""
        good = self._inside(window)
        here = good[self.subject] & good[self.object]
        columns = [self.subject[here], self.object[here], self.free[good[self.free]]]
        spans, place = np.unique(np.concatenate(columns), return_inverse=True)
        subject, object_, free = np.split(place.astype(np.int64), np.cumsum([len(column) for column in columns[:2]]))
        first, last = self.first[spans] - window.first, self.last[spans] - window.first
        links = self.relation[here], subject, object_, self.fact[here]
        return Targets(self.label[spans], first, last, *links, free=free, known=self.known)

    def no_wider(self, width: int) -> "Targets":
        """Without spans of more than so many pieces, and without their links."""
        good = self.last - self.first < width
        here = good[self.subject] & good[self.object]
        return replace(
            self,
            relation=self.relation[here],
            subject=self.subject[here],
            object=self.object[here],
            fact=self.fact[here],
            free=self.free[good[self.free]],
        )

    def outside(self, windows: Sequence[Window]) -> list[int]:
        """The facts, as indices in doc.facts, of which no window holds both arguments."""
        return sorted({*self.fact.tolist()} - {*self.fact[self.held(windows)].tolist()} - {-1})

    def held(self, windows: Sequence[Window]) -> Bools:
        """(T,) which links some window holds with both spans."""
        here = np.zeros(len(self.relation), np.bool_)
        for window in windows:
            good = self._inside(window)
            here |= good[self.subject] & good[self.object]
        return here

    def alone(self, windows: Sequence[Window] | None = None) -> int:
        """At how many places spans are taught without a link: in all, or inside some window."""
        inside = [self._inside(window) for window in windows or ()]
        good = np.any(inside, axis=0) if inside else np.full(len(self.label), windows is None)
        return len({(int(self.first[k]), int(self.last[k])) for k in self.free if good[k]})

    def _inside(self, window: Window) -> Bools:
        """(P,) which spans lie wholly in a window."""
        return np.asarray((self.first >= window.first) & (self.last < window.last))


class _Link(NamedTuple):
    relation: int
    subject: Cell
    object: Cell


def targets(
    doc: Document, pieces: Pieces, labels: Labels, occurrences: Occurrences = "nearest", taught: Taught = "linked"
) -> Targets:
    """Every fact as links between the spans of its mentions; by choice the other mentions as spans without a link."""
    if occurrences not in ("first", "nearest", "all"):
        raise BadInput(f"The occurrences {occurrences!r} are unknown. Known: first, nearest, all.")
    work = _LinkBuilder(doc, pieces, labels, occurrences)
    for k, fact in enumerate(doc.facts):
        work.add(k, fact)
    free = work.all_mentions() if taught == "all" else set()
    spans = sorted(free | {cell for link in work.links for cell in (link.subject, link.object)})
    at = {cell: i for i, cell in enumerate(spans)}
    rows = sorted((link.relation, at[link.subject], at[link.object], k) for link, k in work.links.items())
    label, first, last = np.array(spans, np.int64).reshape(-1, 3).T
    relation, subject, object_, fact_of = np.array(rows, np.int64).reshape(-1, 4).T
    return Targets(
        label,
        first,
        last,
        relation,
        subject,
        object_,
        fact_of,
        unalignable=tuple(work.unalignable),
        unknown=tuple(work.unknown),
        ambiguous=tuple(work.ambiguous),
        merged=tuple(doc.facts[k] for k in work.merged()),
        lost_qualifiers=work.lost_qualifiers,
        free=np.array(sorted(at[cell] for cell in free), np.int64),
        lost_mentions=work.lost_mentions,
        known=known_labels(labels.link_relations, doc.notes.annotated_relations),
    )


class _LinkBuilder:
    """The links of one document, fact by fact."""

    def __init__(self, doc: Document, pieces: Pieces, labels: Labels, occurrences: Occurrences) -> None:
        self.labels = labels
        self.occurrences = occurrences
        first, last, ok = piece_spans(pieces, [m.start for m in doc.mentions], [m.end for m in doc.mentions])
        self.span = {m.id: (int(first[i]), int(last[i])) for i, m in enumerate(doc.mentions) if ok[i]}
        self.mention = {m.id: m for m in doc.mentions}
        self.entity = {e.id: e for e in doc.entities}
        self.link = {name: r for r, name in enumerate(labels.relations)}
        self.slot = {slot: r + len(labels.relations) for r, slot in enumerate(labels.slots)}
        self.links: dict[_Link, int] = {}
        self.qualified: dict[tuple[int, Cell], dict[int, set[tuple[int, Cell]]]] = {}  # by fact, at (relation, tail)
        self.unalignable: list[Fact] = []
        self.unknown: list[Fact] = []
        self.ambiguous: list[Fact] = []
        self.lost_qualifiers = 0
        self.lost_mentions = 0

    def add(self, k: int, fact: Fact) -> None:
        heads, tails = self._mentions(fact.head, fact.head_mention), self._mentions(fact.tail, fact.tail_mention)
        if not heads or not tails:
            self.unalignable.append(fact)
            return
        pairs = _choose(heads, tails, self.occurrences)
        cells = [(self._cell(h, "subject"), self._cell(t, "object"), t) for h, t in pairs]
        if fact.relation not in self.link or any(s is None or o is None for s, o, _ in cells):
            self.unknown.append(fact)
            return
        if len(heads) * len(tails) > 1:
            self.ambiguous.append(fact)
        relation = self.link[fact.relation]
        for subject, object_, tail in cells:
            if subject is not None and object_ is not None:
                self.links.setdefault(_Link(relation, subject, object_), k)
                slots = self.qualified.setdefault((relation, object_), {}).setdefault(k, set())
                slots.update(self._qualify(fact, tail))

    def _qualify(self, fact: Fact, tail: Mention) -> Iterator[tuple[int, Cell]]:
        for q in fact.qualifiers:
            slot, values = self.slot.get((fact.relation, q.role)), self._mentions(q.entity, q.mention)
            subject = self._cell(tail, "subject")
            chosen = [self._cell(v, "object") for _, v in _choose([tail], values, self.occurrences)] if values else []
            if slot is None or subject is None or not chosen or None in chosen:
                self.lost_qualifiers += 1
                continue
            for cell in chosen:
                if cell is not None:
                    self.links.setdefault(_Link(slot, subject, cell), -1)
                    yield slot, cell

    def merged(self) -> list[int]:
        """Facts of one relation at one tail whose qualifiers differ."""
        return sorted(
            {k for slots in self.qualified.values() if len({*map(frozenset, slots.values())}) > 1 for k in slots}
        )

    def all_mentions(self) -> set[Cell]:
        """Every mention in every role that its type can play."""
        found = set[Cell]()
        for m in self.mention.values():
            cells = {self._cell(m, "subject"), self._cell(m, "object")} - {None} if m.id in self.span else set()
            self.lost_mentions += not cells
            found |= {cell for cell in cells if cell is not None}
        return found

    def _mentions(self, entity: str, pinned: str | None) -> list[Mention]:
        """The mentions of an argument that start and end at borders of pieces, in the order of the text."""
        ids = self.entity[entity].mentions if pinned is None else (pinned,)
        found = [self.mention[id] for id in ids if id in self.span]
        return sorted(found, key=lambda m: (m.start, m.end))

    def _cell(self, m: Mention, role: Literal["subject", "object"]) -> Cell | None:
        label = self.labels.subject(m.type) if role == "subject" else self.labels.object(m.type)
        return None if label is None else (label, *self.span[m.id])


def _choose(heads: list[Mention], tails: list[Mention], occurrences: Occurrences) -> list[tuple[Mention, Mention]]:
    """Which pairs are meant; two mentions with the same span are a pair only if there is no other."""
    pairs = [(h, t) for h in heads for t in tails]
    pairs = [(h, t) for h, t in pairs if (h.start, h.end) != (t.start, t.end)] or pairs
    if occurrences == "first":
        return pairs[:1]
    if occurrences == "nearest":
        return [min(pairs, key=lambda pair: _distance(*pair))]
    return pairs


def _distance(a: Mention, b: Mention) -> tuple[bool, int, int, int]:
    """Characters between; those that overlap come last, and of equals the earlier comes first."""
    gap = max(a.start, b.start) - min(a.end, b.end)
    return gap < 0, max(gap, 0), a.start, b.start
