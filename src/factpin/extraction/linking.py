"""The linker of a store: by shared words, types and facts."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.memory import Filter, Store, open_store
from factpin.memory.linking import Linker


def open_linker(store: Store, as_of: str = "") -> Linker:
    """A linker of a store."""
    if not store.tables.counts()["entity"]:
        raise BadInput(f"{store.tables.url}: the store has no entities to link to. Fill it with `factpin index`.")
    return Linker(store, Filter(as_of))


@contextmanager
def store_linker(db: str) -> Iterator[Linker]:
    """The linker of a store that is opened for reading and closed again."""
    with open_store(db) as store:
        yield open_linker(store)


def linked(documents: Iterable[Document], linker: Linker | None) -> Iterator[Document]:
    """The documents, with links if there is a linker."""
    return iter(documents) if linker is None else map(linker.link, documents)
