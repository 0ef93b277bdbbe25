"""The nouns of the store: sources, filters and patterns to query by, and what queries return."""

import datetime
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Span
from factpin.errors import BadDocument, BadInput
from factpin.words import count

Floats = NDArray[np.floating[Any]]
Status = Literal["active", "superseded", "disputed", "denied", "unconfirmed", "rejected"]
VERDICTS = ("rejected", "confirmed")
LONGEST_URI = 1000

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from: its uri, title and date, and the models that read it."""

    uri: str
    title: str = ""
    published: str = ""  # YYYY, YYYY-MM or YYYY-MM-DD
    model: str = ""

    def __post_init__(self) -> None:
        if not self.uri.strip():
            raise BadDocument(
                "the uri of a source is empty; expected the name of a file, or any other name.", field="uri"
            )
        if len(self.uri) > LONGEST_URI:
            raise BadDocument(
                f"the uri {self.uri[:40]}... has {count(len(self.uri), 'character')}; expected at most "
                f"{LONGEST_URI}. Shorten it.",
                field="uri",
            )
        for field in ("uri", "title", "model"):
            check_storable(getattr(self, field), field)
        if self.published:
            try:
                check_date(self.published)
            except BadInput as error:
                raise BadDocument(f"{self.uri}: published: {error}", field="published") from None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents to consider: with `as_of`, those published by that date and those without a date."""

    as_of: str = ""

    def __post_init__(self) -> None:
        if self.as_of:
            check_date(self.as_of)

    def allows(self, published: str) -> bool:
        """Whether a document of that date is considered. Dates are compared to the precision of the coarser one."""
        return not self.as_of or published[: len(self.as_of)] <= self.as_of


ALL = Filter()


@dataclass(frozen=True, slots=True)
class Hit:
    """The key of a passage and its score."""

    passage: str
    score: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which facts to find: any of the given heads, relations, tails and keys. An empty tuple matches everything."""

    heads: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    tails: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None


ANYTHING = Pattern()


@dataclass(frozen=True, slots=True)
class Pin:
    """The place in a document that says something: text[start:end] == quote."""

    document: str
    uri: str
    start: int
    end: int
    quote: str
    published: str = ""
    text_key: str = ""  # equal for copies of a text
    score: float | None = None
    assertion: str = "asserted"
    model: str = ""
    head: Span | None = None
    tail: Span | None = None


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity in the store: its key, its most frequent name, its type."""

    id: str
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class StoredQualifier:
    """A further argument of a stored fact."""

    role: str
    entity: StoredEntity


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact with all its pins and the verdict given by hand."""

    id: str
    head: StoredEntity
    relation: str
    tail: StoredEntity
    valid_from: str = ""
    valid_to: str = ""
    qualifiers: tuple[StoredQualifier, ...] = ()
    pins: tuple[Pin, ...] = ()
    verdict: str = ""  # "" | rejected | confirmed
    note: str = ""


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact with its confidence, and whether it still holds."""

    fact: StoredFact
    confidence: float
    status: Status


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that cannot all be true: different tails for one head, or a fact both asserted and denied."""

    head: StoredEntity
    relation: str
    facts: tuple[JudgedFact, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a name can refer to, with its share of the mentions of that name."""

    entity: StoredEntity
    prior: float
    mentions: int
    names: tuple[str, ...] = ()  # all its names, most frequent first


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision made by hand.

    same: entities a and b are one.
    apart: in document a, the name b refers to another entity.
    verdict: fact a is `value`.
    """

    kind: Literal["same", "apart", "verdict"]
    a: str
    b: str = ""
    value: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """How much was removed with a document."""

    passages: int
    mentions: int
    entities: int
    facts: int
    evidence: int


def check_date(date: str) -> None:
    """Raise BadInput unless the date is YYYY, YYYY-MM or YYYY-MM-DD."""
    match = _DATE.fullmatch(date)
    try:
        if match:
            datetime.date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
            return
    except ValueError:
        pass
    raise BadInput(f"{date!r} is not a date; expected YYYY, YYYY-MM or YYYY-MM-DD, such as 2024-05-31.")


def check_storable(text: str, field: str) -> None:
    """Raise BadDocument for characters that some databases cannot store: NUL and lone surrogates."""
    if "\x00" in text:
        raise BadDocument(
            f"{field} has a NUL character at {text.index(chr(0))}, which a store cannot hold. "
            f"Remove it from the source.",
            field=field,
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadDocument(
            f"{field} has a lone surrogate at {error.start} (often half of an emoji). Repair the source.", field=field
        ) from None
