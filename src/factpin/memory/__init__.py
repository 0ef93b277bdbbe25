"""Texts and facts kept and found again: stores, passages, words and vectors, names. No torch."""

from collections.abc import Callable

from factpin.errors import BadInput
from factpin.memory.by_hand import TypedFact
from factpin.memory.in_memory import InMemoryTables
from factpin.memory.nouns import (
    ALL,
    ANYTHING,
    Candidate,
    Conflict,
    Decision,
    Filter,
    Hit,
    JudgedFact,
    Pattern,
    Pin,
    Removed,
    Source,
    StoredEntity,
    StoredFact,
)
from factpin.memory.passages import PassageSettings
from factpin.memory.postgres import open_postgres
from factpin.memory.sqlite import open_sqlite
from factpin.memory.store import Store
from factpin.memory.tables import Tables


def _open_memory(url: str, create: bool) -> tuple[Tables, bool]:  # noqa: ARG001  (every store is opened alike)
    return InMemoryTables(), True


STORES: dict[str, Callable[[str, bool], tuple[Tables, bool]]] = {
    "memory": _open_memory,
    "sqlite": open_sqlite,
    "postgresql": open_postgres,
}  # by the scheme of a URL: open (url, create) -> tables, and whether they are new


def open_store(url: str, *, create: bool = False, passages: PassageSettings | None = None) -> Store:
    """A store by its URL: `kb.db` or `sqlite:///kb.db`, `postgresql://user@host/database`, `memory:`.

    With `create`, one that is not there yet is made; `passages` says how it cuts texts.
    """
    scheme = _scheme(url)
    tables, new = STORES[scheme](url, create)
    try:
        return Store(tables, new=new, passages=passages)
    except BaseException:
        tables.close()
        raise


def _scheme(url: str) -> str:
    scheme, colon, _ = url.partition(":")
    if not colon or len(scheme) < 2 or "/" in scheme or "\\" in scheme or "." in scheme:
        return "sqlite"  # a path, also C:\kb.db
    scheme = {"postgres": "postgresql"}.get(scheme, scheme)
    if scheme not in STORES:
        raise BadInput(f"{url}: there is no store of the kind {scheme!r}. Known: a path, {', '.join(sorted(STORES))}.")
    return scheme


__all__ = [
    "ALL",
    "ANYTHING",
    "STORES",
    "Candidate",
    "Conflict",
    "Decision",
    "Filter",
    "Hit",
    "JudgedFact",
    "PassageSettings",
    "Pattern",
    "Pin",
    "Removed",
    "Source",
    "Store",
    "StoredEntity",
    "StoredFact",
    "TypedFact",
    "open_store",
]
