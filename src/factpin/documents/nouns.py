"""The nouns: a document and everything that is pinned to its characters.

Offsets are half-open, in Python code points: `document.text[m.start:m.end] == m.text`, always.
All of them are frozen and checked when made; what refers to something refers by id, inside one document.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from factpin.errors import BadDocument, OffsetMismatch

T = TypeVar("T", "Mention", "Entity")
ASSERTIONS = ("asserted", "negated", "hedged", "reported", "conditional")


class Span(NamedTuple):
    """Characters start..end, end not included."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A piece of the text that names something."""

    id: str
    start: int
    end: int
    text: str
    type: str = ""
    score: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise BadDocument(
                f"mention {self.id}: offsets {self.start}:{self.end} are no span; expected 0 <= start < end. "
                f"Correct them, or drop the mention.",
                field="start",
            )
        if self.score is not None:
            _check_score(self.score, f"mention {self.id}")


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing of the world with all its mentions (their ids, in order)."""

    id: str
    mentions: tuple[str, ...]
    type: str = ""
    name: str = ""
    link: str = ""

    def __post_init__(self) -> None:
        if not self.mentions:
            raise BadDocument(f"entity {self.id} has no mention; expected at least one.", field="mentions")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that proves a fact: its index, and the characters inside it that do, where they are known."""

    sentence: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A further argument of a fact, such as the place of a release: its role, an entity, and where it is said."""

    role: str
    entity: str
    mention: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """head --relation--> tail, both ids of entities; the mentions tell where exactly it is said."""

    head: str
    relation: str
    tail: str
    head_mention: str | None = None
    tail_mention: str | None = None
    score: float | None = None
    evidence: tuple[Evidence, ...] = ()
    assertion: str | None = None
    qualifiers: tuple[Qualifier, ...] = ()
    cue: Span | None = None  # the characters that make it other than asserted

    def __post_init__(self) -> None:
        if not self.relation:
            raise BadDocument("a fact has an empty relation; expected a name.", field="relation")
        if self.score is not None:
            _check_score(self.score, f"fact {self.relation}")
        _check_assertion(self.assertion)


@dataclass(frozen=True, slots=True)
class Argument:
    """What plays a role in an event: a mention, or another event."""

    role: str
    mention: str | None = None
    event: str | None = None

    def __post_init__(self) -> None:
        if (self.mention is None) == (self.event is None):
            raise BadDocument(f"argument {self.role} needs a mention or an event, exactly one of them.", field="role")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, or is said not to have: its type, the mention that triggers it, and its arguments."""

    id: str
    type: str
    trigger: str | None = None
    arguments: tuple[Argument, ...] = ()
    score: float | None = None
    assertion: str | None = None
    cue: Span | None = None  # the characters that make it other than asserted

    def __post_init__(self) -> None:
        if self.score is not None:
            _check_score(self.score, f"event {self.id}")
        _check_assertion(self.assertion)


@dataclass(frozen=True, slots=True)
class Unread:
    """Characters that no window read, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which characters a model read (one span a window), which it did not, and what else bounds what it can find."""

    read: tuple[Span, ...] = ()
    unread: tuple[Unread, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what is known of it. `meta` holds whatever the source had and factpin has no noun for."""

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
                    f"{self.id}: sentence {i} is {start}:{next_end} in a text of {size} characters; "
                    f"expected sentences in order, not overlapping, inside the text.",
                    field=f"sentences[{i}]",
                )
            end = next_end
        for i, mention in enumerate(self.mentions):
            if mention.end > size or text[mention.start : mention.end] != mention.text:
                raise _mismatch(self, i)
        known = _unique(self.mentions, self.id, "mention")
        if self.entities or self.facts or self.events:
            _check_references(self, known)

    def mention(self, id: str) -> Mention:
        """The mention of that id."""
        return _by_id(self.mentions, id, self.id, "mention")

    def entity(self, id: str) -> Entity:
        """The entity of that id."""
        return _by_id(self.entities, id, self.id, "entity")

    def sentence_of(self, start: int) -> int | None:
        """The index of the sentence that holds the character at `start`, or None."""
        low, high = 0, len(self.sentences)
        while low < high:
            middle = (low + high) // 2
            if self.sentences[middle][1] <= start:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.sentences) and self.sentences[low][0] <= start else None


def _by_id(items: tuple[T, ...], id: str, document: str, kind: str) -> T:
    for item in items:
        if item.id == id:
            return item
    raise BadDocument(f"{document}: there is no {kind} {id!r}.")


def _check_score(score: float, owner: str) -> None:
    if not 0.0 <= score <= 1.0:  # false for NaN too
        raise BadDocument(f"{owner}: score {score} is no probability; expected 0 to 1.", field="score")


def _check_assertion(assertion: str | None) -> None:
    if assertion is not None and assertion not in ASSERTIONS:
        raise BadDocument(
            f"assertion {assertion!r} is unknown; expected one of {', '.join(ASSERTIONS)}.", field="assertion"
        )


def _check_cue(cue: Span | None, doc: Document, field: str) -> None:
    if cue is not None and not 0 <= cue[0] < cue[1] <= len(doc.text):
        raise BadDocument(f"{doc.id}: {field} is {cue[0]}:{cue[1]} in a text of {len(doc.text)} characters; "
                          f"expected a span inside it.", field=field)  # fmt: skip


def _check_encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadDocument(
            f"the text has a lone surrogate at character {error.start} (half of an emoji, most often). "
            f"Repair the source, or remove the character.",
            field="text",
        ) from None


def _unique(items: tuple[Mention | Entity | Event, ...], document: str, kind: str) -> set[str | None]:
    """The ids of items, and None: what a field that may be absent can name."""
    known: set[str | None] = {item.id for item in items}
    if len(known) != len(items):
        raise BadDocument(
            f"{document}: two of its {len(items)} {kind} ids are equal; expected unique ids.", field=f"{kind}s"
        )
    known.add(None)
    return known


def _check_references(doc: Document, mentions: set[str | None]) -> None:
    entities = _unique(doc.entities, doc.id, "entity")
    events = _unique(doc.events, doc.id, "event") if doc.events else set()
    for i, entity in enumerate(doc.entities):
        for id in entity.mentions:
            if id not in mentions:
                raise _unknown(doc, f"entities[{i}].mentions", "mention", id)
    for i, fact in enumerate(doc.facts):
        if fact.head not in entities:
            raise _unknown(doc, f"facts[{i}].head", "entity", fact.head)
        if fact.tail not in entities:
            raise _unknown(doc, f"facts[{i}].tail", "entity", fact.tail)
        if fact.head_mention not in mentions:
            raise _unknown(doc, f"facts[{i}].head_mention", "mention", fact.head_mention)
        if fact.tail_mention not in mentions:
            raise _unknown(doc, f"facts[{i}].tail_mention", "mention", fact.tail_mention)
        for evidence in fact.evidence:
            if not 0 <= evidence.sentence < len(doc.sentences):
                raise BadDocument(
                    f"{doc.id}: facts[{i}].evidence names sentence {evidence.sentence}, "
                    f"the document has {len(doc.sentences)}.",
                    field=f"facts[{i}].evidence",
                )
        _check_cue(fact.cue, doc, f"facts[{i}].cue")
        for qualifier in fact.qualifiers:
            if qualifier.entity not in entities:
                raise _unknown(doc, f"facts[{i}].qualifiers", "entity", qualifier.entity)
            if qualifier.mention not in mentions:
                raise _unknown(doc, f"facts[{i}].qualifiers", "mention", qualifier.mention)
    for i, event in enumerate(doc.events):
        _check_cue(event.cue, doc, f"events[{i}].cue")
        if event.trigger not in mentions:
            raise _unknown(doc, f"events[{i}].trigger", "mention", event.trigger)
        for argument in event.arguments:
            if argument.mention not in mentions:
                raise _unknown(doc, f"events[{i}].arguments", "mention", argument.mention)
            if argument.event not in events:
                raise _unknown(doc, f"events[{i}].arguments", "event", argument.event)


def _unknown(doc: Document, field: str, kind: str, id: str | None) -> BadDocument:
    return BadDocument(f"{doc.id}: {field} names the {kind} {id!r}, which is not in the document.", field=field)


def _mismatch(doc: Document, index: int) -> OffsetMismatch:
    m = doc.mentions[index]
    there = doc.text[m.start : m.end]
    inclusive = doc.text[m.start : m.end + 1] == m.text
    if inclusive:
        hint = f"text[{m.start}:{m.end + 1}] is: the file seems to count its ends inclusively; add 1 to every end."
    else:
        found = doc.text.find(m.text) if m.text else -1
        hint = f"It stands at {found}:{found + len(m.text)}." if found >= 0 else "It is nowhere in the text."
    return OffsetMismatch(
        f"{doc.id}: mention {m.id}: text[{m.start}:{m.end}] is {_short(there)}, not {_short(m.text)}. {hint}",
        field=f"mentions[{index}]",
        inclusive=inclusive,
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
