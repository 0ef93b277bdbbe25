"""The facts of a store as the rows of a fact memory, and fixed vectors for its entities and relations.

codes       a vector for every entity that follows from its key alone, so that a new entity has one at once
relations   the mean of the word vectors of a relation's name, so that a new relation has one, too
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from factpin.knowledge.fact_memory import HeadFacts
from factpin.knowledge.mentions import FIRST
from factpin.memory import ALL, ANYTHING, Filter, JudgedFact, Store

HOLDS = ("active", "disputed")  # statuses of facts that are looked up


@dataclass(frozen=True)
class FactTable:
    """The facts of a store that hold, the keys of their entities (row FIRST on) and the names of their relations."""

    entities: tuple[str, ...]
    names: tuple[str, ...]
    relations: tuple[str, ...]
    rows: tuple[HeadFacts, ...]
    facts: dict[str, JudgedFact]  # by key

    def row_of(self, entity: str) -> int | None:
        """The row of an entity, by its key."""
        return self.numbers.get(entity)

    @property
    def numbers(self) -> dict[str, int]:
        """The row of every entity."""
        return {id: FIRST + i for i, id in enumerate(self.entities)}


def held_facts(store: Store, filter: Filter = ALL) -> list[JudgedFact]:
    """The facts of a store that hold: not those that are denied, rejected or over."""
    return [one for one in store.judged(ANYTHING, filter) if one.status in HOLDS]


def read_facts(store: Store, filter: Filter = ALL) -> FactTable:
    """The facts of a store as they are now, one row for each head and relation."""
    held = held_facts(store, filter)
    entities = {end.id: end.name for one in held for end in (one.fact.head, one.fact.tail)}
    ids = sorted(entities)
    number = {id: FIRST + i for i, id in enumerate(ids)}
    relations = sorted({one.fact.relation for one in held})
    groups: dict[tuple[int, int], list[JudgedFact]] = {}
    for one in held:
        key = (number[one.fact.head.id], relations.index(one.fact.relation))
        groups.setdefault(key, []).append(one)
    rows = tuple(
        HeadFacts(head, relation, tuple(number[one.fact.tail.id] for one in group), tuple(one.fact.id for one in group))
        for (head, relation), group in sorted(groups.items())
    )
    names = tuple(entities[id] for id in ids)
    return FactTable(tuple(ids), names, tuple(relations), rows, {one.fact.id: one for one in held})


def store_digest(store: Store) -> str:
    """A digest of all documents and decisions: what a model was trained on."""
    mark = hashlib.sha256()
    for source in sorted(store.tables.sources(ALL)):
        mark.update(f"{source.id}:{source.digest}\n".encode())
    for decision in sorted(map(repr, store.decisions())):
        mark.update(decision.encode())
    return mark.hexdigest()[:24]


def code_of(key: str, size: int) -> list[float]:
    """A vector of about unit length that follows from a key alone."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little")
    found: list[float] = (np.random.default_rng(seed).normal(size=size) / np.sqrt(size)).tolist()
    return found


class EntityCodes(nn.Module):
    """Fixed vectors of entities; they belong to the store, not to the model."""

    weight: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding_dim = size
        self.register_buffer("weight", torch.zeros(FIRST, size), persistent=False)

    def replace(self, keys: Sequence[str]) -> None:
        """The vectors of these entities, from row FIRST on."""
        rows = [code_of(key, self.embedding_dim) for key in keys]
        codes = torch.tensor(rows).reshape(len(rows), self.embedding_dim)
        self.weight = torch.cat([torch.zeros(FIRST, self.embedding_dim), codes]).to(self.weight.device)

    def forward(self, rows: Tensor) -> Tensor:
        """rows (…) -> (…, d)."""
        return self.weight[rows]


class RelationNames(nn.Module):
    """Vectors of relations: a learned projection of the mean word vector of each name."""

    def __init__(self, width: int, size: int, words: Callable[[], Tensor]) -> None:
        """words: gives the word vectors (V, width) as they are now, in training and afterwards."""
        super().__init__()
        self.project = nn.Linear(width, size)
        self._words = words
        self._pieces, self._starts = torch.zeros(1, dtype=torch.long), torch.zeros(1, dtype=torch.long)

    def replace(self, names: Sequence[Sequence[int]]) -> None:
        """The pieces of the name of each relation."""
        self._pieces = torch.tensor([piece for name in names for piece in name], dtype=torch.long)
        self._starts = torch.tensor([0, *(len(name) for name in names)]).cumsum(0)[:-1]

    def forward(self, numbers: Tensor) -> Tensor:
        """numbers (…) -> (…, d)."""
        words = self._words().detach()
        pieces, starts = self._pieces.to(words.device), self._starts.to(words.device)
        found: Tensor = self.project(nn.functional.embedding_bag(pieces, words, starts, mode="mean"))[numbers]
        return found
