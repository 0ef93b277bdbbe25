"""Stores of texts and facts: passages, search by words and vectors, names. No torch."""

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
    Removal,
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
}  # by the scheme of the URL: open(url, create, settings of a new store)


def open_store(url: str, *, create: bool = False, passages: PassageSettings | None = None) -> Store:
    """Open a store by its URL: `kb.db` or `sqlite:///kb.db`, `postgresql://user@host/database`, `memory:`.

    With `create`, the store is made if it does not exist; `passages` sets how a new store cuts texts.
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
        raise BadInput(
            f"{url}: unknown kind of store {scheme!r}. Expected a path, or one of {', '.join(sorted(STORES))}."
        )
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
    "Removal",
    "Source",
    "Store",
    "StoredEntity",
    "StoredFact",
    "TypedFact",
    "open_store",
]
