"""What of a store is exported: the documents that a filter allows, and the facts in them that are likely enough."""

from collections.abc import Sequence
from dataclasses import dataclass

from factpin.memory.nouns import ALL, Filter, JudgedFact
from factpin.memory.store import Store


@dataclass(frozen=True)
class Selection:
    """A store, and which documents and facts of it are exported."""

    store: Store
    filter: Filter
    facts: Sequence[JudgedFact]
    left_out: int  # facts
    disputed: int = 0  # of those left out: likely enough, but a text contradicts them


def select(store: Store, filter: Filter = ALL, min_score: float = 0.0) -> Selection:
    """The active facts with at least this confidence; with 0 every fact, also those that do not hold."""
    facts = store.judged(filter=filter)
    kept = [fact for fact in facts if not min_score or (fact.status == "active" and fact.confidence >= min_score)]
    disputed = sum(bool(min_score) and f.status == "disputed" and f.confidence >= min_score for f in facts)
    return Selection(store, filter, kept, len(facts) - len(kept), disputed)
