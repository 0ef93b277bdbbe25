"""What a store says about its entities: their names, their facts, and where each document names them.

A store of 100,000 entities is read in one pass over the rows of its documents, and names are looked up many at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from factpin.knowledge.mentions import FIRST
from factpin.knowledge.tables import held_facts
from factpin.memory import ALL, Store
from factpin.memory.assemble import Assembler

MOST_CANDIDATES = 30
MOST_STATED = 8  # facts in the description of an entity
AT_ONCE = 500  # names


class NamePlace(NamedTuple):
    """A name in a document: its characters, its key, and the row of the entity that it refers to."""

    start: int
    end: int
    key: str
    entity: int


@dataclass(frozen=True)
class DocumentNames:
    """The names in a document of a store."""

    id: str
    uri: str
    places: tuple[NamePlace, ...]


@dataclass(frozen=True)
class StoreEntities:
    """The entities of a store, from row FIRST on, with their names and facts."""

    keys: tuple[str, ...]
    described: tuple[str, ...]  # name, type and facts of each
    names: dict[str, list[tuple[int, float]]]  # candidates by surface
    facts: tuple[tuple[int, str, int], ...] = ()  # (head, relation, tail) between these, numbers from 0
    documents: tuple[DocumentNames, ...] = ()  # in the order of their uris


def read_entities(store: Store) -> StoreEntities:
    """All entities that a document names."""
    assembler = Assembler(store.tables, ALL)
    surfaces: dict[str, str] = {}
    said: list[tuple[str, str, list[tuple[int, int, str, str]]]] = []
    for source in sorted(store.tables.sources(ALL), key=lambda one: one.uri):
        named = [m for m in store.tables.rows(source.id).mentions if m.surface_key]
        places = [(m.start, m.end, m.surface_key, assembler.groups.first(m.entity)) for m in named]
        said.append((source.id, source.uri, places))
        for mention in named:
            surfaces.setdefault(mention.surface_key, mention.surface)
    offered: dict[str, list[tuple[str, float]]] = {}
    shown: dict[str, str] = {}
    texts = list(surfaces.values())
    for at in range(0, len(texts), AT_ONCE):
        for text, found in store.candidates_of(texts[at : at + AT_ONCE]).items():
            if found:
                offered[text] = [(one.entity.id, one.prior) for one in found[:MOST_CANDIDATES]]
                shown |= {one.entity.id: f"{one.entity.name} ({one.entity.type})" for one in found[:MOST_CANDIDATES]}
    keys = tuple(sorted(shown))
    row = {key: FIRST + i for i, key in enumerate(keys)}
    facts, stated = _facts(store, keys)
    described = tuple(f"{shown[key]}. {'; '.join(stated.get(key, ()))}" for key in keys)
    names = {text: [(row[id], prior) for id, prior in found] for text, found in offered.items()}
    documents = tuple(DocumentNames(id, uri, _placed(places, row)) for id, uri, places in said)
    return StoreEntities(keys, described, names, facts, documents)


def _facts(store: Store, keys: Sequence[str]) -> tuple[tuple[tuple[int, str, int], ...], dict[str, list[str]]]:
    """The facts that hold between these entities, and in words the first of those that say something about each.

    A fact that holds in several periods, or with other qualifiers, is one here.
    """
    number = {key: i for i, key in enumerate(keys)}
    held = [one.fact for one in sorted(held_facts(store), key=lambda one: one.fact.id)]
    stated: dict[str, list[str]] = {}
    for fact in held:
        of = f"{fact.relation} of {fact.head.name}"
        for id, words in ((fact.head.id, f"{fact.relation} {fact.tail.name}"), (fact.tail.id, of)):
            if id in number and words not in stated.setdefault(id, []) and len(stated[id]) < MOST_STATED:
                stated[id].append(words)
    known = (one for one in held if one.head.id in number and one.tail.id in number)
    return tuple(dict.fromkeys((number[one.head.id], one.relation, number[one.tail.id]) for one in known)), stated


def _placed(places: Sequence[tuple[int, int, str, str]], row: Mapping[str, int]) -> tuple[NamePlace, ...]:
    return tuple(NamePlace(start, end, key, row[entity]) for start, end, key, entity in places if entity in row)
