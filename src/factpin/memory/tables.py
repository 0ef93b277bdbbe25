"""Tables: what a database must offer so that a Store can stand on it.

They hold rows and find them again; they decide nothing. Every table but `decisions`, `settings` and the vectors follows
from the rows of the documents (rows.py), and goes when its document goes. Whoever adds a database writes this protocol,
one line in STORES, and inherits the tests of tests/memory/conformance.py.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from factpin.documents import Passage
from factpin.memory.names import NameCount
from factpin.memory.nouns import Decision, Filter, Floats, Hit, Pattern
from factpin.memory.rows import DocumentRow, EntityRow, EvidenceRow, FactRow, MentionRow, Rows

KEPT = ("document", "passage", "entity", "mention", "fact", "evidence")  # what `counts` counts


class SourceRow(NamedTuple):
    """A document without its text and record."""

    id: str
    uri: str
    digest: str
    title: str
    published: str
    model: str
    text_key: str
    whole: int


class VectorRow(NamedTuple):
    passage: str
    encoder: str
    data: bytes  # float16, little-endian, of unit length


class Tables(Protocol):
    """Rows in a database. A filter hides documents with all that belongs to them."""

    @property
    def url(self) -> str: ...
    def reading(self) -> AbstractContextManager[None]:
        """One unchanging view for several reads."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """All or nothing, one writer at a time; inside another one it belongs to that."""
        ...

    def close(self) -> None: ...
    def settings(self) -> dict[str, str]: ...
    def set_setting(self, key: str, value: str) -> None: ...

    def insert(self, rows: Rows) -> None:
        """Keep a document that is not there yet."""
        ...

    def delete(self, document: str) -> None:
        """Forget a document with its passages, words, vectors and evidence, and what nothing else supports."""
        ...

    def document(self, id: str) -> DocumentRow | None: ...
    def documents(self, filter: Filter) -> Iterator[DocumentRow]: ...
    def sources(self, filter: Filter, ids: Sequence[str] | None = None) -> list[SourceRow]: ...
    def texts(self, ids: Sequence[str]) -> dict[str, str]: ...
    def rows(self, document: str) -> Rows:
        """What is kept of a document, read back from every table; the words of a passage come sorted."""
        ...

    def problems(self) -> list[str]:
        """What is broken beyond single documents: rows that belong to nothing, a damaged file."""
        ...

    def passages(self, ids: Sequence[str]) -> list[Passage]: ...
    def passages_of(self, documents: Sequence[str]) -> list[str]:
        """The keys of all passages of some documents, in the order of the text."""
        ...

    def words(self, terms: Sequence[str], k: int, filter: Filter) -> list[Hit]:
        """The best passages by BM25 (see bm25.py), its statistics counted inside the filter."""
        ...

    def encoders(self) -> dict[str, tuple[int, int]]:
        """How many vectors there are of each encoder, and their width."""
        ...

    def width(self, encoder: str) -> int:
        """How many numbers a vector of an encoder has; 0 where there is none."""
        ...

    def put_vectors(self, rows: Sequence[VectorRow]) -> None: ...
    def drop_vectors(self, encoder: str) -> None: ...
    def vectors_of(self, document: str) -> list[VectorRow]: ...
    def without_vectors(self, encoder: str, after: str, limit: int) -> list[str]:
        """The first passages behind a key that an encoder has not embedded, in the order of keys."""
        ...

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter) -> list[Hit]:
        """The passages whose vectors have the largest inner product with the query."""
        ...

    def entities(self, ids: Sequence[str]) -> list[EntityRow]: ...
    def names(self, entities: Sequence[str], filter: Filter) -> list[NameCount]: ...
    def named(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str, int]]:
        """(key, entity, mentions) for names by their keys; 0 mentions where only the entity itself is keyed so."""
        ...

    def titled(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str]]:
        """(key, document) for titles by their keys."""
        ...

    def mentions(self, entities: Sequence[str], filter: Filter) -> list[MentionRow]: ...
    def facts(self, pattern: Pattern, filter: Filter) -> list[tuple[FactRow, EvidenceRow]]: ...

    def decisions(self) -> list[Decision]: ...
    def put_decision(self, decision: Decision) -> None: ...
    def drop_decision(self, kind: str, a: str, b: str) -> None: ...
    def counts(self) -> dict[str, int]: ...
