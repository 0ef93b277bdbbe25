"""Tables: the protocol that a database implements for Store.

Tables hold rows and find them; they decide nothing. All tables but `decisions`, `settings` and the vectors are derived
from documents (rows.py), and their rows are deleted with the document. To add a database, implement this protocol, add
a line to STORES, and inherit the tests of tests/memory/conformance.py.
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
    """The vector of a passage."""

    passage: str
    encoder: str
    data: bytes  # float16, little-endian, unit length


class Tables(Protocol):
    """The rows of a database. A filter hides documents and everything that belongs to them."""

    @property
    def url(self) -> str: ...
    def reading(self) -> AbstractContextManager[None]:
        """A consistent snapshot for several reads."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """A transaction, one writer at a time; a nested one joins the outer one."""
        ...

    def close(self) -> None: ...
    def settings(self) -> dict[str, str]: ...
    def set_setting(self, key: str, value: str) -> None: ...

    def insert(self, rows: Rows) -> None:
        """Insert a new document."""
        ...

    def delete(self, document: str) -> None:
        """Delete a document with its passages, words, vectors and evidence, and whatever nothing else supports."""
        ...

    def document(self, id: str) -> DocumentRow | None: ...
    def documents(self, filter: Filter) -> Iterator[DocumentRow]: ...
    def sources(self, filter: Filter, ids: Sequence[str] | None = None) -> list[SourceRow]: ...
    def partly_read(self, filter: Filter) -> list[str]:
        """The uris of documents that no model read whole, ordered."""
        ...

    def how_many(self, filter: Filter) -> int:
        """The number of documents."""
        ...

    def texts(self, ids: Sequence[str]) -> dict[str, str]: ...
    def rows(self, document: str) -> Rows:
        """All rows of a document, read back from every table; the words of a passage are sorted."""
        ...

    def compact(self) -> None:
        """Erase the bytes of what was removed, as far as the database keeps them in its files."""
        ...

    def problems(self) -> list[str]:
        """Problems that do not belong to a single document: orphaned rows, a damaged file."""
        ...

    def passages(self, ids: Sequence[str]) -> list[Passage]: ...
    def passages_of(self, documents: Sequence[str]) -> list[str]:
        """The keys of all passages of the documents, in the order of the text."""
        ...

    def words(self, terms: Sequence[str], k: int, filter: Filter) -> list[Hit]:
        """The best passages by BM25 (see bm25.py), with statistics over the documents that the filter allows."""
        ...

    def encoders(self) -> dict[str, tuple[int, int]]:
        """The number of vectors of each encoder, and their width."""
        ...

    def width(self, encoder: str) -> int:
        """The width of the vectors of an encoder; 0 if there are none."""
        ...

    def put_vectors(self, rows: Sequence[VectorRow]) -> None: ...
    def drop_vectors(self, encoder: str) -> None: ...
    def vectors_of(self, document: str) -> list[VectorRow]: ...
    def without_vectors(self, encoder: str, after: str, limit: int) -> list[str]:
        """The first passages after a key that an encoder has not embedded, ordered by key."""
        ...

    def nearest(self, encoder: str, query: Floats, k: int, filter: Filter) -> list[Hit]:
        """The passages whose vectors have the largest inner product with the query."""
        ...

    def entities(self, ids: Sequence[str]) -> list[EntityRow]: ...
    def names(self, entities: Sequence[str], filter: Filter) -> list[NameCount]: ...
    def named(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str, int]]:
        """(key, entity, mentions) for the keys of names; 0 mentions if only the entity itself has the key."""
        ...

    def names_with(self, word: str, filter: Filter) -> list[str]:
        """The keys of names of several words of which this is one, given as it is in a key; ordered."""
        ...

    def titled(self, keys: Sequence[str], filter: Filter) -> list[tuple[str, str]]:
        """(key, document) for the keys of titles."""
        ...

    def mentions(self, entities: Sequence[str], filter: Filter) -> list[MentionRow]: ...
    def facts(self, pattern: Pattern, filter: Filter) -> list[tuple[FactRow, EvidenceRow]]: ...

    def decisions(self) -> list[Decision]: ...
    def put_decision(self, decision: Decision) -> None: ...
    def drop_decision(self, kind: str, a: str, b: str) -> None: ...
    def counts(self) -> dict[str, int]: ...
