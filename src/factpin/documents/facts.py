"""Facts and events: what a document says about its entities and mentions.

They refer to other parts by id. Once in a document, they also resolve these ids: `fact.head.name`, `evidence.quote`,
`event.text`, `argument.text`.
"""

from dataclasses import dataclass, replace
from typing import Any

from factpin.documents.mentions import (
    DocumentPart,
    EntityId,
    Source,
    Span,
    by_id,
    check_score,
    set_source,
    shorten,
    show,
    show_score,
)
from factpin.errors import BadDocument

ASSERTIONS = ("asserted", "negated", "hedged", "reported", "conditional")


@dataclass(frozen=True, slots=True)
class Evidence(DocumentPart):
    """A sentence that supports a fact: its index, and optionally the characters inside it."""

    sentence: int
    start: int | None = None
    end: int | None = None

    @property
    def quote(self) -> str:
        """The text that supports the fact."""
        text, sentences, _, _ = self.source
        first, last = sentences[self.sentence]
        return text[first if self.start is None else self.start : last if self.end is None else self.end]


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A further argument of a fact, such as the place of a release: its role, its entity, and where it is mentioned."""

    role: str
    entity: str
    mention: str | None = None


@dataclass(frozen=True, slots=True)
class FactFields(DocumentPart):
    """The fields of a fact as given; `Fact` resolves some of them on access."""

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
            check_score(self.score, f"fact {self.relation}")
        if self.assertion is not None and self.assertion not in ASSERTIONS:
            raise _unknown_assertion(self.assertion)
        set_source(self, None)


class Fact(FactFields):
    """head --relation--> tail between two entities, given by id. The mentions say where exactly it is stated."""

    __slots__ = ()

    @property
    def head(self) -> EntityId:
        """The id of the head, with `name`, `type`, `link`, `mentions` and `entity`."""
        id = EntityId(given_head(self))
        id._source = self._source
        return id

    @property
    def tail(self) -> EntityId:
        """The id of the tail, with the same attributes as the head."""
        id = EntityId(given_tail(self))
        id._source = self._source
        return id

    def __repr__(self) -> str:
        head, tail = (id if id._source is None else shorten(id.name) for id in (self.head, self.tail))
        said = "" if self.assertion in (None, "asserted") else str(self.assertion)
        return show("Fact", f"{head} —{self.relation}→ {tail}", show_score(self.score), said)


@dataclass(frozen=True, slots=True)
class Argument(DocumentPart):
    """A mention or another event in a role of an event."""

    role: str
    mention: str | None = None
    event: str | None = None

    def __post_init__(self) -> None:
        if (self.mention is None) == (self.event is None):
            raise BadDocument(f"argument {self.role} needs either a mention or an event.", field="role")

    @property
    def text(self) -> str:
        """The text of the mention, or the id of the event."""
        return self.event or _mention_text(self.mention, self)


@dataclass(frozen=True, slots=True)
class Event(DocumentPart):
    """Something that happened, or is said not to have happened: its type, its trigger and its arguments."""

    id: str
    type: str
    trigger: str | None = None
    arguments: tuple[Argument, ...] = ()
    score: float | None = None
    assertion: str | None = None
    cue: Span | None = None  # the characters that make it other than asserted

    def __post_init__(self) -> None:
        if self.score is not None:
            check_score(self.score, f"event {self.id}")
        if self.assertion is not None and self.assertion not in ASSERTIONS:
            raise _unknown_assertion(self.assertion)
        set_source(self, None)

    @property
    def text(self) -> str:
        """The text of the trigger; "" if there is none."""
        return _mention_text(self.trigger, self)

    def __repr__(self) -> str:
        pinned = self._source is not None
        trigger = shorten(self.text) if pinned else self.trigger or ""
        arguments = [f"{a.role}: {shorten(a.text) if pinned else a.mention or a.event}" for a in self.arguments]
        said = "" if self.assertion in (None, "asserted") else str(self.assertion)
        what = f"{self.type} {trigger!r}" if trigger else self.type
        return show("Event", what, *arguments, show_score(self.score), said)


def _resolve_when_read(kind: type[DocumentPart], name: str) -> Any:
    """Pass the source of the owner to the parts in a field on access; returns the plain getter."""
    slot = vars(kind)[name]
    plain = slot.__get__

    def read(self: DocumentPart) -> tuple[DocumentPart, ...]:
        parts: tuple[DocumentPart, ...] = plain(self)
        source = self._source
        return parts if source is None or not parts else tuple([_known(part, source) for part in parts])

    setattr(kind, name, property(read, slot.__set__))
    return plain


def _known(part: DocumentPart, source: Source) -> DocumentPart:
    copy = replace(part)  # type: ignore[type-var]  # every part is a dataclass
    set_source(copy, source)
    return copy


# Plain getters of the fields, for loops over many facts.
given_head, given_tail = vars(FactFields)["head"].__get__, vars(FactFields)["tail"].__get__
given_evidence = _resolve_when_read(FactFields, "evidence")
given_arguments = _resolve_when_read(Event, "arguments")
# A property that hides a field of the base is set like that field, by the __init__ of the base.
Fact.head = Fact.head.setter(vars(FactFields)["head"].__set__)  # type: ignore[attr-defined, method-assign]
Fact.tail = Fact.tail.setter(vars(FactFields)["tail"].__set__)  # type: ignore[attr-defined, method-assign]


def _mention_text(id: str | None, owner: DocumentPart) -> str:
    return "" if id is None else by_id(owner.source[2], id, "mention").text


def _unknown_assertion(assertion: str) -> BadDocument:
    return BadDocument(
        f"assertion {assertion!r} is unknown; expected one of {', '.join(ASSERTIONS)}.", field="assertion"
    )
