"""Links: the labels of a model that finds triples, and what it found, as flat columns in pieces.

A link joins a subject to an object under a relation, or a fact's tail to the value of a qualifier under a slot.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.arrays import Bools, Floats, Ints
from factpin.documents import Document, Schema
from factpin.tokens import Window, owner

Cell = tuple[int, int, int]  # class, first piece, last piece


@dataclass(frozen=True)
class Labels:
    """What a model tells apart. A class is a role and a type: subjects first, then objects."""

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
    """The types of the mentions that may stand for an argument."""

    def __init__(self, doc: Document) -> None:
        self.mention = {m.id: m.type for m in doc.mentions}
        self.entity = {e.id: {self.mention[id] for id in e.mentions} for e in doc.entities}

    def of(self, entity: str, mention: str | None) -> set[str]:
        return self.entity[entity] if mention is None else {self.mention[mention]}


def allowed(labels: Labels, schema: Schema) -> Bools:
    """(links, classes, classes): which link may join a subject and an object of which classes; slots may join any."""
    C = len(labels.subjects) + len(labels.objects)
    table = np.ones((len(labels.names), C, C), np.bool_)
    for r, name in enumerate(labels.relations):
        for s in range(C):
            for o in range(C):
                table[r, s, o] = fits(schema, name, labels.type_of(s), labels.type_of(o))
    return table


def fits(schema: Schema, relation: str, head: str, tail: str) -> bool:
    """A relation or a type that is not known fits."""
    known = schema.relations.get(relation)
    return known is None or not head or not tail or known.allows(head, tail)


@dataclass(frozen=True)
class Found:
    """Spans and links that a head found, in piece indices of the whole document (or, before `merge`, of a window)."""

    label: Ints  # (P,)
    first: Ints  # (P,)
    last: Ints  # (P,) inclusive
    span_score: Floats  # (P,) logits
    relation: Ints  # (T,)
    subject: Ints  # (T,) index of a span
    object: Ints  # (T,) index of a span
    score: Floats  # (T,) logits
    truncated: bool = False  # more stood there than the head's budget lets through: the best are here

    def spans(self) -> list[Cell]:
        return [(int(c), int(i), int(j)) for c, i, j in zip(self.label, self.first, self.last, strict=True)]

    @staticmethod
    def of(spans: dict[Cell, float], links: dict[tuple[int, Cell, Cell], float], *, truncated: bool = False) -> "Found":
        """From scores of spans, and scores of (link, subject, object); every argument is among the spans."""
        order = sorted(spans)
        at = {cell: i for i, cell in enumerate(order)}
        label, first, last = np.array(order, np.int64).reshape(-1, 3).T
        span_score = np.array([spans[cell] for cell in order], np.float64)
        rows = sorted((r, at[s], at[o], score) for (r, s, o), score in links.items())
        relation, subject, object_ = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3).T
        score = np.array([row[3] for row in rows], np.float64)
        return Found(label, first, last, span_score, relation, subject, object_, score, truncated)


def merge(windows: Sequence[Window], found: Sequence[Found]) -> Found:
    """What the windows of a document found, each span and link once: from the window that answers for all of it."""
    spans: dict[Cell, float] = {}
    links: dict[tuple[int, Cell, Cell], float] = {}
    used: dict[Cell, float] = {}
    for k, (window, part) in enumerate(zip(windows, found, strict=True)):
        cells = [(c, i + window.first, j + window.first) for c, i, j in part.spans()]
        for cell, score in zip(cells, part.span_score, strict=True):
            if owner(windows, cell[1], cell[2]) == k:
                spans[cell] = float(score)
        for r, s, o, score in zip(part.relation, part.subject, part.object, part.score, strict=True):
            ends = (min(cells[s][1], cells[o][1]), max(cells[s][2], cells[o][2]))
            if owner(windows, *ends) == k:
                links[int(r), cells[s], cells[o]] = float(score)
                for at in (s, o):
                    used[cells[at]] = max(used.get(cells[at], -np.inf), float(part.span_score[at]))
    return Found.of(used | spans, links, truncated=any(part.truncated for part in found))
