"""The linker of a store: by shared words, types and facts, or a trained one."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from factpin.documents import Document
from factpin.errors import BadInput, need_torch
from factpin.memory import Filter, Store, open_store
from factpin.memory.linking import Judge, Linker
from factpin.words import count


def open_linker(store: Store, as_of: str = "", judge: Judge | None = None) -> Linker:
    """A linker of a store."""
    if not store.tables.counts()["entity"]:
        raise BadInput(f"{store.tables.url}: the store has no entities to link to. Fill it with `factpin index` "
                       f"(--no-facts reads names only from files that annotate them).")  # fmt: skip
    return Linker(store, Filter(as_of), judge=judge)


def open_judge(folder: str, store: Store) -> Judge | None:
    """The trained linker in a folder, for this store; "": none."""
    if not folder:
        return None
    need_torch("--linker needs torch")
    from factpin.knowledge.kar_linker import load_linker  # noqa: PLC0415  (torch)

    judge = load_linker(Path(folder))
    if not judge.knows(store):
        raise BadInput(f"{folder} was trained on another store: it knows no entity of {store.tables.url}. Train one: "
                       f"factpin pretrain --objective linker --db {store.tables.url} …")  # fmt: skip
    return judge


def names_unseen(judge: Judge | None) -> int:
    """How many names had a candidate that a trained linker has not seen."""
    return int(getattr(judge, "unseen", 0))


def about_unseen(names: int, db: str) -> str:
    """What to say about them."""
    return (
        f"{count(names, 'name has', 'names have')} a candidate that is new in the store since the linker was trained. "
        f"It is never chosen, and a name that has no other is linked without the linker. Train it again: factpin "
        f"pretrain --objective linker --db {db} …"
    )


@contextmanager
def store_linker(db: str, linker: str = "") -> Iterator[Linker]:
    """The linker of a store that is opened for reading and closed again."""
    with open_store(db) as store:
        yield open_linker(store, judge=open_judge(linker, store))


def linked(documents: Iterable[Document], linker: Linker | None) -> Iterator[Document]:
    """The documents, with links if there is a linker."""
    return iter(documents) if linker is None else map(linker.link, documents)
