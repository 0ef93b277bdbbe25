"""Links: the labels of a model that finds triples, and what it found, as flat columns in pieces.

A link joins a subject to an object under a relation, or a fact's tail to the value of a qualifier under a slot.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.arrays import Bools, Floats, Floats32, Ints
from factpin.documents import Document, Schema
from factpin.tasks.spans.cells import SpanCells
from factpin.tasks.windows import owned
from factpin.tokens import Window

Cell = tuple[int, int, int]  # class, first piece, last piece


@dataclass(frozen=True)
class Labels:
    """The classes that a model predicts. A class is a role and a type: subjects first, then objects."""

    relations: tuple[str, ...]
    slots: tuple[tuple[str, str], ...] = ()  # (relation, role) of qualifiers
    subjects: tuple[str, ...] = ("",)  # types; one empty type: spans have no types
    objects: tuple[str, ...] = ("",)

    @property
    def names(self) -> tuple[str, ...]:
        """One name a link: the relations, then the slots."""
        return (*self.relations, *(f"{relation}.{role}" for relation, role in self.slots))

    @property
    def link_relations(self) -> tuple[str, ...]:
        """The relation of every link: of a slot, that of the fact it qualifies."""
        return (*self.relations, *(relation for relation, _ in self.slots))

    @property
    def typed(self) -> bool:
        """Whether mentions have types."""
        return (self.subjects, self.objects) != (("",), ("",))

    def type_of(self, label: int) -> str:
        """The entity type of a class."""
        return (*self.subjects, *self.objects)[label]

    def subject(self, type: str) -> int | None:
        """The class of a subject of that type."""
        return _index(self.subjects, type if self.typed else "")

    def object(self, type: str) -> int | None:
        """The class of an object of that type."""
        at = _index(self.objects, type if self.typed else "")
        return None if at is None else at + len(self.subjects)


def _index(names: tuple[str, ...], name: str) -> int | None:
    return names.index(name) if name in names else None


def labels_of(documents: Iterable[Document], *, typed: bool, mentions: Literal["linked", "all"] = "linked") -> Labels:
    """The labels that these documents need, in alphabetical order.

    With all mentions, a type that no argument has is one of objects.
    """
    relations, slots, subjects, objects = set[str](), set[tuple[str, str]](), set[str](), set[str]()
    others = set[str]()
    for doc in documents:
        types = _Types(doc)
        others |= {m.type for m in doc.mentions} if mentions == "all" else set()
        for fact in doc.facts:
            relations.add(fact.relation)
            subjects |= types.of(fact.head, fact.head_mention)
            tail = types.of(fact.tail, fact.tail_mention)
            objects |= tail
            for q in fact.qualifiers:
                slots.add((fact.relation, q.role))
                subjects |= tail
                objects |= types.of(q.entity, q.mention)
    objects |= others - subjects
    names, roles = tuple(sorted(relations)), tuple(sorted(slots))
    return Labels(names, roles, tuple(sorted(subjects)), tuple(sorted(objects))) if typed else Labels(names, roles)


class _Types:
    """The types of the mentions of an argument."""

    def __init__(self, doc: Document) -> None:
        self.mention = {m.id: m.type for m in doc.mentions}
        self.entity = {e.id: {self.mention[id] for id in e.mentions} for e in doc.entities}

    def of(self, entity: str, mention: str | None) -> set[str]:
        return self.entity[entity] if mention is None else {self.mention[mention]}


def allowed(labels: Labels, schema: Schema) -> Bools:
    """(links, classes, classes): which link may join a subject and an object of which classes; slots may join any."""
    types = [labels.type_of(c) for c in range(len(labels.subjects) + len(labels.objects))]
    kinds = sorted(set(types))
    kind = np.array([kinds.index(type) for type in types], np.int64)  # (classes,)
    table = np.ones((len(labels.names), len(types), len(types)), np.bool_)
    for r, name in enumerate(labels.relations):
        joins = np.array([[fits(schema, name, head, tail) for tail in kinds] for head in kinds], np.bool_)
        table[r] = joins[kind[:, None], kind]
    return table


def fits(schema: Schema, relation: str, head: str, tail: str) -> bool:
    """A relation or a type that is not known fits."""
    known = schema.relations.get(relation)
    return known is None or not head or not tail or known.allows(head, tail)


@dataclass(frozen=True)
class LinkCells:
    """Spans and links that were found in a batch of texts; a link names its two spans by their indices."""

    spans: SpanCells  # the label is the class
    relation: Ints  # (T,)
    subject: Ints  # (T,) index of a span
    object: Ints  # (T,) index of a span
    score: Floats32  # (T,)
    truncated: Bools  # (B,) the text had more above the cut than the budget allows

    def __len__(self) -> int:
        return len(self.relation)

    def rows(self) -> list[tuple[int, int, Cell, Cell]]:
        """The links as (batch, relation, subject, object), both spans as (class, first, last), in their order."""
        spans = self.spans.rows()
        columns = (self.relation.tolist(), self.subject.tolist(), self.object.tolist())
        return [(spans[s][0], r, spans[s][1:], spans[o][1:]) for r, s, o in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Links:
    """Spans and links of one document, in its pieces (or, before they are merged, in those of a window)."""

    label: Ints  # (P,)
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    span_score: Floats  # (P,)
    relation: Ints  # (T,)
    subject: Ints  # (T,) index of a span
    object: Ints  # (T,) index of a span
    score: Floats  # (T,)
    truncated: bool = False  # there was more above the cut than the budget allows: the best are here

    def spans(self) -> list[Cell]:
        """The spans as (class, first, last)."""
        return list(zip(self.label.tolist(), self.first.tolist(), self.last.tolist(), strict=True))

    @staticmethod
    def of(spans: dict[Cell, float], links: dict[tuple[int, Cell, Cell], float], *, truncated: bool = False) -> "Links":
        """From scores of spans, and scores of (link, subject, object); every argument is among the spans."""
        order = sorted(spans)
        at = {cell: i for i, cell in enumerate(order)}
        label, first, last = np.array(order, np.int64).reshape(-1, 3).T
        span_score = np.array([spans[cell] for cell in order], np.float64)
        rows = sorted((r, at[s], at[o], score) for (r, s, o), score in links.items())
        relation, subject, object_ = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3).T
        score = np.array([row[3] for row in rows], np.float64)
        return Links(label, first, last, span_score, relation, subject, object_, score, truncated)


def split_links(cells: LinkCells, texts: int, shift: int) -> list[Links]:
    """What was found in each text of a batch, in pieces; `shift` special tokens precede the pieces of each."""
    spans, at = cells.spans, np.arange(texts + 1)
    span_score, score = spans.score.astype(np.float64), cells.score.astype(np.float64)
    text = spans.batch[cells.subject]  # (T,) texts come in order, among the links too
    span_at, link_at = np.searchsorted(spans.batch, at).tolist(), np.searchsorted(text, at).tolist()
    found = []
    for row in range(texts):
        own, links = slice(span_at[row], span_at[row + 1]), slice(link_at[row], link_at[row + 1])
        found.append(
            Links(
                spans.label[own],
                spans.start[own] - shift,
                spans.end[own] - shift,
                span_score[own],
                cells.relation[links],
                cells.subject[links] - own.start,
                cells.object[links] - own.start,
                score[links],
                bool(cells.truncated[row]),
            )
        )
    return found


def merge(windows: Sequence[Window], found: Sequence[Links]) -> Links:
    """What the windows of a document found, each span and link once: from the window that answers for all of it."""
    spans: dict[Cell, float] = {}
    links: dict[tuple[int, Cell, Cell], float] = {}
    used: dict[Cell, float] = {}  # arguments of links: the window of a link need not be that of its span
    for k, (window, part) in enumerate(zip(windows, found, strict=True)):
        if not len(part.label):
            continue
        first, last = part.first + window.first, part.last + window.first
        cells = list(zip(part.label.tolist(), first.tolist(), last.tolist(), strict=True))
        scores = part.span_score.tolist()
        for i in np.flatnonzero(owned(windows, k, first, last)).tolist():
            spans[cells[i]] = scores[i]
        low, high = (pick(at[part.subject], at[part.object]) for pick, at in ((np.minimum, first), (np.maximum, last)))
        here = owned(windows, k, low, high)
        columns = (part.relation[here], part.subject[here], part.object[here], part.score[here])
        for r, s, o, score in zip(*(column.tolist() for column in columns), strict=True):
            links[r, cells[s], cells[o]] = score
            for i in (s, o):
                used[cells[i]] = max(used.get(cells[i], -np.inf), scores[i])
    return Links.of(used | spans, links, truncated=any(part.truncated for part in found))
