"""The linker of a store: by shared words, types and facts, or a trained one."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from factpin.documents import Document
from factpin.errors import BadInput, need_torch
from factpin.memory import Filter, Store, open_store
from factpin.memory.linking import Judge, Linker


def open_linker(store: Store, as_of: str = "", judge: Judge | None = None) -> Linker:
    """A linker of a store."""
    if not store.tables.counts()["entity"]:
        raise BadInput(f"{store.tables.url}: the store has no entities to link to. Fill it with `factpin index`.")
    return Linker(store, Filter(as_of), judge=judge)


def open_judge(folder: str) -> Judge | None:
    """The trained linker in a folder; "": none."""
    if not folder:
        return None
    need_torch("--linker needs torch")
    from factpin.knowledge.kar_linker import load_linker  # noqa: PLC0415  (torch)

    return load_linker(Path(folder))


@contextmanager
def store_linker(db: str, linker: str = "") -> Iterator[Linker]:
    """The linker of a store that is opened for reading and closed again."""
    with open_store(db) as store:
        yield open_linker(store, judge=open_judge(linker))


def linked(documents: Iterable[Document], linker: Linker | None) -> Iterator[Document]:
    """The documents, with links if there is a linker."""
    return iter(documents) if linker is None else map(linker.link, documents)
