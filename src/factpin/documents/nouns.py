"""The nouns: a document and everything that is pinned to its characters.

Offsets are half-open, in Python code points: `document.text[m.start:m.end] == m.text` always holds. All nouns are
frozen and checked when made. References are ids inside one document.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from factpin.documents import html
from factpin.documents.facts import (
    ASSERTIONS,
    Argument,
    Event,
    Evidence,
    Fact,
    Qualifier,
    given_arguments,
    given_evidence,
    given_head,
    given_tail,
)
from factpin.documents.mentions import Entity, EntityId, Mention, Source, Span, by_id, set_source, shorten, show, some
from factpin.documents.notes import CorpusNotes, notes_of
from factpin.errors import BadDocument, OffsetMismatch
from factpin.words import count

ID = operator.attrgetter("id")

__all__ = [
    "ASSERTIONS",
    "Argument",
    "Coverage",
    "Document",
    "Entity",
    "EntityId",
    "Event",
    "Evidence",
    "Fact",
    "Mention",
    "Qualifier",
    "Source",
    "Span",
    "Unread",
]


@dataclass(frozen=True, slots=True)
class Unread:
    """Characters that no window covers, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which characters a model read (one span per window), which it did not, and notes on other limits."""

    read: tuple[Span, ...] = ()
    unread: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its annotation. `meta` has everything else from the source."""

    id: str
    text: str
    language: str | None = None
    sentences: tuple[Span, ...] = ()
    mentions: tuple[Mention, ...] = ()
    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    events: tuple[Event, ...] = ()
    coverage: Coverage | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text, size = self.text, len(self.text)
        if not text.isascii():
            _check_encodable(text)
        end = 0
        for i, (start, next_end) in enumerate(self.sentences):
            if not end <= start < next_end <= size:
                raise BadDocument(
                    f"{self.id}: sentence {i} is {start}:{next_end} in a text of {count(size, 'character')}; "
                    f"expected sentences inside the text, in order and without overlap.",
                    field=f"sentences[{i}]",
                )
            end = next_end
        for mention in self.mentions:
            if mention.end > size or text[mention.start : mention.end] != mention.text:
                raise _mismatch(self, self.mentions.index(mention))
        known = _unique(self.mentions, self.id, "mention")
        if self.entities or self.facts or self.events:
            _check_references(self, known)
        if self.facts or self.events:
            _pin(self)

    def __setstate__(self, state: list[Any]) -> None:
        for name, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, name.name, value)
        if self.facts or self.events:
            _pin(self)  # they are unpickled without their source

    def __repr__(self) -> str:
        found = [some(items, noun) for items, noun in ((self.mentions, "mention"), (self.entities, "entity"),
                                                        (self.facts, "fact"), (self.events, "event"))]  # fmt: skip
        return show("Document", repr(self.id), repr(shorten(self.text)), *found)

    @property
    def notes(self) -> CorpusNotes:
        """What the corpus says about its annotation that the nouns cannot hold, read from `meta`."""
        try:
            return notes_of(self.meta)
        except BadDocument as error:
            raise BadDocument(f"{self.id}: {error}", field=error.field) from None

    def to_html(self) -> str:
        """A page with the text, its mentions, facts and events; it loads nothing else."""
        return html.page(self.id, self.language, self._repr_html_())

    def _repr_html_(self) -> str:
        return html.fragment(self.text, self.mentions, self.facts, self.events)

    def mention(self, id: str) -> Mention:
        """The mention with this id."""
        return by_id(self.mentions, id, "mention", self.id)

    def entity(self, id: str) -> Entity:
        """The entity with this id."""
        return by_id(self.entities, id, "entity", self.id)

    def sentence_of(self, start: int) -> int | None:
        """The index of the sentence with the character at `start`, or None."""
        low, high = 0, len(self.sentences)
        while low < high:
            middle = (low + high) // 2
            if self.sentences[middle][1] <= start:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.sentences) and self.sentences[low][0] <= start else None


def _pin(doc: Document) -> None:
    """Set the source of facts and events to this document; those of another document are copied."""
    source: Source = (doc.text, doc.sentences, doc.mentions, doc.entities)
    parts = (*doc.facts, *doc.events) if doc.events else doc.facts
    old = parts[0]._source
    if old is not None and all(map(operator.is_, old, source)):
        source = old  # they are from a document with the same annotation
    for part in parts:
        known = part._source
        if known is None:
            set_source(part, source)
        elif known is not source:
            object.__setattr__(doc, "facts", tuple(map(replace, doc.facts)))
            object.__setattr__(doc, "events", tuple(map(replace, doc.events)))
            return _pin(doc)


def _check_cue(cue: Span, doc: Document, field: str) -> None:
    if not 0 <= cue[0] < cue[1] <= len(doc.text):
        raise BadDocument(
            f"{doc.id}: {field} is {cue[0]}:{cue[1]} in a text of {count(len(doc.text), 'character')}; "
            f"expected a span inside it.",
            field=field,
        )


def _check_encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadDocument(
            f"the text has a lone surrogate at character {error.start} (often half of an emoji). "
            f"Repair the source, or remove the character.",
            field="text",
        ) from None


def _unique(items: tuple[Mention | Entity | Event, ...], document: str, kind: str) -> set[str | None]:
    """The ids of items, and None for optional references."""
    known: set[str | None] = set(map(ID, items))
    if len(known) != len(items):
        raise BadDocument(
            f"{document}: two of {len(items)} {kind} ids are the same; expected unique ids.", field=f"{kind}s"
        )
    known.add(None)
    return known


def _check_references(doc: Document, mentions: set[str | None]) -> None:
    entities = _unique(doc.entities, doc.id, "entity")
    events = _unique(doc.events, doc.id, "event") if doc.events else set()
    sentences = len(doc.sentences)
    for i, entity in enumerate(doc.entities):
        for id in entity.mentions:
            if id not in mentions:
                raise _unknown(doc, f"entities[{i}].mentions", "mention", id)
    for i, fact in enumerate(doc.facts):
        if (
            given_head(fact) not in entities
            or given_tail(fact) not in entities
            or fact.head_mention not in mentions
            or fact.tail_mention not in mentions
        ):
            raise _unknown_end(doc, i, mentions, entities)
        for evidence in given_evidence(fact):
            if not 0 <= evidence.sentence < sentences:
                field = f"facts[{i}].evidence"
                raise BadDocument(
                    f"{doc.id}: {field} refers to sentence {evidence.sentence}, but there are {sentences}.", field=field
                )
        for qualifier in fact.qualifiers:
            if qualifier.entity not in entities:
                raise _unknown(doc, f"facts[{i}].qualifiers", "entity", qualifier.entity)
            if qualifier.mention not in mentions:
                raise _unknown(doc, f"facts[{i}].qualifiers", "mention", qualifier.mention)
        if fact.cue is not None:
            _check_cue(fact.cue, doc, f"facts[{i}].cue")
    for i, event in enumerate(doc.events):
        if event.cue is not None:
            _check_cue(event.cue, doc, f"events[{i}].cue")
        if event.trigger not in mentions:
            raise _unknown(doc, f"events[{i}].trigger", "mention", event.trigger)
        for argument in given_arguments(event):
            if argument.mention not in mentions:
                raise _unknown(doc, f"events[{i}].arguments", "mention", argument.mention)
            if argument.event not in events:
                raise _unknown(doc, f"events[{i}].arguments", "event", argument.event)


def _unknown_end(doc: Document, index: int, mentions: set[str | None], entities: set[str | None]) -> BadDocument:
    """The first id of a fact that is not in the document."""
    fact = doc.facts[index]
    ends = [("head", "entity", fact.head), ("tail", "entity", fact.tail),
            ("head_mention", "mention", fact.head_mention), ("tail_mention", "mention", fact.tail_mention)]  # fmt: skip
    known = {"entity": entities, "mention": mentions}
    name, kind, id = next(end for end in ends if end[2] not in known[end[1]])
    return _unknown(doc, f"facts[{index}].{name}", kind, id)


def _unknown(doc: Document, field: str, kind: str, id: str | None) -> BadDocument:
    return BadDocument(f"{doc.id}: {field} refers to the {kind} {id!r}, which is not in the document.", field=field)


def _mismatch(doc: Document, index: int) -> OffsetMismatch:
    m = doc.mentions[index]
    there = doc.text[m.start : m.end]
    inclusive = doc.text[m.start : m.end + 1] == m.text
    if inclusive:
        hint = f"text[{m.start}:{m.end + 1}] is, so the file seems to have inclusive ends. Add 1 to every end."
    else:
        found = doc.text.find(m.text) if m.text else -1
        hint = f"It is at {found}:{found + len(m.text)}." if found >= 0 else "It is not in the text."
    return OffsetMismatch(
        f"{doc.id}: mention {m.id}: text[{m.start}:{m.end}] is {shorten(there)!r}, not {shorten(m.text)!r}. {hint}",
        field=f"mentions[{index}]",
        inclusive=inclusive,
    )
