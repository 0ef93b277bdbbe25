"""Facts by what a person knows of them: names of entities, a relation, the beginning of a key."""

from collections.abc import Iterable

from factpin.errors import BadInput, UnknownName
from factpin.memory.hops import paths
from factpin.memory.nouns import ALL, Filter, JudgedFact, Pattern
from factpin.memory.store import Store
from factpin.words import count


def find_facts(
    store: Store, head: str | None, relation: str | None, tail: str | None, filter: Filter = ALL
) -> list[JudgedFact]:
    """The facts with this head, relation and tail; None fits all. Entities are given by name or key."""
    heads, tails = (_entities(store, name) if name else None for name in (head, tail))
    return store.judged(Pattern(heads=heads, relations=(relation,) if relation else None, tails=tails), filter)


def find_chains(store: Store, start: str, end: str, filter: Filter = ALL) -> list[list[JudgedFact]]:
    """The shortest chains of facts between two entities."""
    return [list(chain) for chain in paths(store, start, end, filter=filter)]


def fact_by_key(store: Store, key: str) -> JudgedFact:
    """The fact with a key, or with a key that begins like this."""
    found = store.judged(Pattern(keys=(key,))) or [f for f in store.judged() if key and f.fact.id.startswith(key)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{count(len(found), 'fact begins', 'facts begin')} with {key!r}. Give more of the key.")
    raise UnknownName(f"There is no fact {key!r}. `factpin store facts` lists them.")


def in_order(facts: Iterable[JudgedFact]) -> list[JudgedFact]:
    """Each fact once, by head, relation, date and tail."""

    def place(judged: JudgedFact) -> tuple[str, ...]:
        fact = judged.fact
        return fact.head.name, fact.relation, fact.valid_from, fact.tail.name, fact.id

    return sorted({judged.fact.id: judged for judged in facts}.values(), key=place)


def _entities(store: Store, name: str) -> tuple[str, ...]:
    """The keys of all entities with a name, or the one with a key."""
    found = tuple(candidate.entity.id for candidate in store.candidates(name))
    return found or (store.entity(name).id,)
