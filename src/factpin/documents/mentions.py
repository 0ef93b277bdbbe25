"""Mentions and entities, and the id by which a fact refers to an entity.

The id is a string. On a fact in a document, it also gives access to the entity:

    fact.head == "e1"        the id, as in the file
    fact.head.name           the name of the entity

A new document sets itself as the `Source` of its facts and events. Names are looked up there on access.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from factpin.errors import BadDocument
from factpin.words import count

T = TypeVar("T", "Mention", "Entity")
SHORT = 40  # characters of a text in a repr or a message


class Span(NamedTuple):
    """Characters start:end, half-open."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the text that refers to something."""

    id: str
    start: int
    end: int
    text: str
    type: str = ""
    score: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise BadDocument(
                f"mention {self.id}: the offsets are {self.start}:{self.end}; expected 0 <= start < end. "
                f"Correct them, or remove the mention.",
                field="start",
            )
        if self.score is not None:
            check_score(self.score, f"mention {self.id}")

    def __repr__(self) -> str:
        return show("Mention", repr(shorten(self.text)), self.type, f"{self.start}:{self.end}", show_score(self.score))


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing in the world, with the ids of all its mentions in order."""

    id: str
    mentions: tuple[str, ...]
    type: str = ""
    name: str = ""
    link: str = ""

    def __post_init__(self) -> None:
        if not self.mentions:
            raise BadDocument(f"entity {self.id} has no mentions; expected at least one.", field="mentions")

    def __repr__(self) -> str:
        name = repr(shorten(self.name or self.id))
        return show("Entity", name, self.type, self.link, some(self.mentions, "mention"))


# What the ids and offsets in a document refer to: its text, sentences, mentions and entities.
Source = tuple[str, tuple[Span, ...], tuple[Mention, ...], tuple[Entity, ...]]


class DocumentPart:
    """Part of a document. Its source is set by the document that contains it, not by its constructor."""

    __slots__ = ("_source",)
    _source: Source | None

    def __reduce__(self) -> tuple[Any, ...]:
        names = self.__dataclass_fields__  # type: ignore[attr-defined]  # a pickle or copy has no document
        return type(self), tuple(getattr(self, name) for name in names)

    @property
    def source(self) -> Source:
        """What its ids and offsets refer to."""
        return known_source(getattr(self, "_source", None), type(self).__name__.lower())


set_source = vars(DocumentPart)["_source"].__set__  # works on frozen objects too


class EntityId(str):
    """The id of an entity that gives access to the entity: `fact.head.name`."""

    __slots__ = ("_source",)
    _source: Source | None

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # a pickle or deep copy is the plain id

    @property
    def entity(self) -> Entity:
        """The entity."""
        return by_id(known_source(self._source, "fact")[3], self, "entity")

    @property
    def name(self) -> str:
        """The name of the entity, or its longest mention if it has no name."""
        return name_of(self, known_source(self._source, "fact"))

    @property
    def type(self) -> str:
        """The type of the entity, or the first type of its mentions if it has none."""
        return self.entity.type or next((m.type for m in self.mentions if m.type), "")

    @property
    def link(self) -> str:
        """The id of the entity in a knowledge base; "" if there is none."""
        return self.entity.link

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """All mentions of the entity, in order."""
        return _mentions_of(self.entity, known_source(self._source, "fact"))


def name_of(entity: str, source: Source) -> str:
    """The name of an entity given by id, or its longest mention if it has no name."""
    found = by_id(source[3], entity, "entity")
    return found.name or max((m.text for m in _mentions_of(found, source)), key=len)


def _mentions_of(entity: Entity, source: Source) -> tuple[Mention, ...]:
    known = {m.id: m for m in source[2]}
    return tuple(known[id] for id in entity.mentions)


def known_source(source: Source | None, kind: str) -> Source:
    """The source; BadDocument if there is none yet."""
    if source is None:
        raise BadDocument(
            f"This {kind} is not in a document, so its ids cannot be resolved. Create a Document with it, and take it "
            f"from there."
        )
    return source


def by_id(items: tuple[T, ...], id: str, kind: str, document: str = "") -> T:
    """The mention or entity with this id."""
    for item in items:
        if item.id == id:
            return item
    raise BadDocument(f"{document}{': ' if document else ''}there is no {kind} {id!r}.")


def check_score(score: float, owner: str) -> None:
    """Raise BadDocument unless the score is a probability."""
    if not 0.0 <= score <= 1.0:  # false for NaN too
        raise BadDocument(f"{owner}: score is {score}; expected a probability from 0 to 1.", field="score")


def show(kind: str, *parts: str) -> str:
    """A repr of the kind and its non-empty parts."""
    return f"{kind}({', '.join(filter(None, parts))})"


def show_score(score: float | None) -> str:
    """Two decimals, or "" without a score."""
    return "" if score is None else f"{score:.2f}"


def some(items: tuple[object, ...], noun: str) -> str:
    """`2 facts`, `1 fact`, or "" for none."""
    return count(len(items), noun) if items else ""


def shorten(text: str) -> str:
    """The first SHORT characters of a text."""
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
