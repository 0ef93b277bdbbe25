"""Texts and facts kept and found again: stores, passages, words and vectors, names. No torch."""

from collections.abc import Callable, Mapping

from factpin.errors import BadInput
from factpin.memory.by_hand import TypedFact
from factpin.memory.in_memory import open_memory
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
from factpin.memory.store import Store, settings_of
from factpin.memory.tables import Tables

STORES: dict[str, Callable[[str, bool, Mapping[str, str]], Tables]] = {
    "memory": open_memory,
    "sqlite": open_sqlite,
    "postgresql": open_postgres,
}  # by the scheme of a URL: open (url, create, settings of a new one)


def open_store(url: str, *, create: bool = False, passages: PassageSettings | None = None) -> Store:
    """A store by its URL: `kb.db` or `sqlite:///kb.db`, `postgresql://user@host/database`, `memory:`.

    With `create`, one that is not there yet is made; `passages` says how it cuts texts.
    """
    scheme = _scheme(url)
    tables = STORES[scheme](url, create, settings_of(passages or PassageSettings()))
    try:
        return Store(tables, passages)
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
