"""The nouns of the store: where a document comes from, what is asked, and what is found."""

import datetime
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Span
from factpin.errors import BadDocument, BadInput

Floats = NDArray[np.floating[Any]]
Status = Literal["active", "superseded", "disputed", "denied", "unconfirmed", "rejected"]
VERDICTS = ("rejected", "confirmed")
LONGEST_URI = 1000

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document comes from: its name among the inputs, its title, its date, the models that read it."""

    uri: str
    title: str = ""
    published: str = ""  # YYYY, YYYY-MM or YYYY-MM-DD
    model: str = ""

    def __post_init__(self) -> None:
        if not self.uri.strip():
            raise BadDocument("a source has an empty uri; expected the name of a file, or any other name.", field="uri")
        if len(self.uri) > LONGEST_URI:
            raise BadDocument(f"the uri {self.uri[:40]}... has {len(self.uri)} characters; expected at most "
                              f"{LONGEST_URI}. Shorten it.", field="uri")  # fmt: skip
        for field in ("uri", "title", "model"):
            check_storable(getattr(self, field), field)
        if self.published:
            try:
                check_date(self.published)
            except BadInput as error:
                raise BadDocument(f"{self.uri}: published: {error}", field="published") from None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents are looked at: with `as_of`, those published by that date and those without a date."""

    as_of: str = ""

    def __post_init__(self) -> None:
        if self.as_of:
            check_date(self.as_of)

    def allows(self, published: str) -> bool:
        """Whether a document of that date is looked at. Dates are compared as far as both are known."""
        return not self.as_of or published[: len(self.as_of)] <= self.as_of


ALL = Filter()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found, by its key, and how well it fits."""

    passage: str
    score: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """Facts to look for: any of the heads, relations, tails, keys that are named; nothing named is anything."""

    heads: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    tails: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None


ANYTHING = Pattern()


@dataclass(frozen=True, slots=True)
class Pin:
    """Characters of a document at which something is said: text[start:end] == quote."""

    document: str
    uri: str
    start: int
    end: int
    quote: str
    published: str = ""
    text_key: str = ""  # shared by copies of one text
    score: float | None = None
    assertion: str = "asserted"
    model: str = ""
    head: Span | None = None
    tail: Span | None = None


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """An entity of the store: its key, the name most texts use, its type."""

    id: str
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Qualified:
    """A further argument of a stored fact."""

    role: str
    entity: StoredEntity


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact with all its pins, and what was decided on it by hand."""

    id: str
    head: StoredEntity
    relation: str
    tail: StoredEntity
    valid_from: str = ""
    valid_to: str = ""
    qualifiers: tuple[Qualified, ...] = ()
    pins: tuple[Pin, ...] = ()
    verdict: str = ""  # "" | rejected | confirmed
    note: str = ""


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact, how sure it is, and whether it still holds."""

    fact: StoredFact
    confidence: float
    status: Status


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that cannot all be true: other tails for one head, or one fact that is asserted and denied."""

    head: StoredEntity
    relation: str
    facts: tuple[JudgedFact, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a name may mean, with its share of the mentions under that name."""

    entity: StoredEntity
    prior: float
    mentions: int
    names: tuple[str, ...] = ()  # all its names, most frequent first


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided by hand. same: entities a and b are one; apart: in the document a the name b is another one;
    verdict: the fact a is `value`."""

    kind: Literal["same", "apart", "verdict"]
    a: str
    b: str = ""
    value: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    """What went with a document."""

    passages: int
    mentions: int
    entities: int
    facts: int
    evidence: int


def check_date(date: str) -> None:
    """Refuse what is no date of the form YYYY, YYYY-MM or YYYY-MM-DD."""
    match = _DATE.fullmatch(date)
    try:
        if match:
            datetime.date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
            return
    except ValueError:
        pass
    raise BadInput(f"{date!r} is no date; expected YYYY, YYYY-MM or YYYY-MM-DD, such as 2024-05-31.")


def check_storable(text: str, field: str) -> None:
    """Refuse what not every database can keep: the NUL character, and half of a surrogate pair."""
    if "\x00" in text:
        raise BadDocument(f"{field} has a NUL character at {text.index(chr(0))}, which no store keeps. "
                          f"Remove it from the source.", field=field)  # fmt: skip
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadDocument(f"{field} has a lone surrogate at {error.start} (half of an emoji, most often). "
                          f"Repair the source.", field=field) from None  # fmt: skip
