"""Fact memory (Facts as Experts): rows are the facts of a store, so that editing the store edits the answers.

    a_j   W_a [e_head; r]        a key for every pair of head and relation                (K, d)
    b_j   mean of e_tail         its value, the set of tails                              (K, d)
    a_0   learned                the null fact, whose value is empty
    v     W_q h                  what is asked, from the hidden state of the blank        (q, d)
    α     softmax(a v)           over all facts in training and the best `top` otherwise  (q, K + 1)
    λ     α_0                    how little the facts say
    u     λ W_c h + (1 - λ) Σ α b                                                         (q, d)
    answer scores  u E                                                                    (q, rows)

    losses   fact: -log α of the pair that is asked for, or of the null fact; answer: cross entropy of u E

Entities share one table with the entity memory. The facts are no weights: `replace_facts` takes effect at once. Facts
are hidden at random while it learns, so that it has to read them and cannot learn them by heart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.knowledge.mentions import FIRST, UNKNOWN

SURE = 5.0  # how much more the facts of an entity that is asked about score, at first
NO_FACT = 0  # the null fact among the scores of facts


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """All facts of one head and relation: the rows of its tails, and the fact that states each of them.

    Facts with other dates or qualifiers can have the same tail. It counts once in the value.
    """

    head: int
    relation: int
    tails: tuple[int, ...]
    facts: tuple[str, ...] = ()  # keys in the store, in the order of the tails


class VectorTable(Protocol):
    """A table of vectors, learned or given."""

    weight: Tensor
    embedding_dim: int

    def __call__(self, rows: Tensor) -> Tensor:
        """The vectors of some rows."""
        ...


@dataclass(frozen=True)
class FactMemoryConfig:
    """The sizes of a fact memory."""

    top: int = 100  # facts that are mixed when it does not learn
    copy: bool = True  # the entities of the question enter what is asked directly, too


@dataclass(frozen=True, eq=False, slots=True)
class FactReading:
    """What the memory answers to every question."""

    facts: Tensor  # (q, K + 1) scores, the null fact first
    answers: Tensor  # (q, rows) scores of entities
    context: Tensor  # (q, rows) scores without facts

    @property
    def null(self) -> Tensor:
        """λ (q,)."""
        return self.facts.softmax(dim=-1)[:, NO_FACT]


class FactMemory(nn.Module):
    """Facts as keys and values over a table of entities."""

    def __init__(
        self, width: int, entities: VectorTable, relations: nn.Module, config: FactMemoryConfig | None = None
    ) -> None:
        """entities, relations: give the vectors (…, d) of numbers."""
        super().__init__()
        size = entities.embedding_dim
        self.config = config or FactMemoryConfig()
        self.entities, self.relations = entities, relations
        self.key = nn.Linear(2 * size, size)
        self.null = nn.Parameter(torch.zeros(size))
        self.ask = nn.Linear(width, size)
        self.about = nn.Linear(size, size, bias=False)
        self.context = nn.Linear(width, size)
        self._start()
        self.rows: tuple[HeadFacts, ...] = ()
        self.replace_facts(())

    @torch.no_grad()
    def _start(self) -> None:
        """Keys start close to their heads, and questions close to what they are about: equal entities match."""
        size = self.about.in_features
        self.key.weight[:, :size] += torch.eye(size)
        self.about.weight.copy_(SURE * torch.eye(size))

    def replace_facts(self, rows: Sequence[HeadFacts]) -> None:
        """The facts that are looked up from now on. No weight changes."""
        self.rows = tuple(rows)
        device = self.null.device
        self._heads = torch.tensor([row.head for row in rows], dtype=torch.long, device=device)
        self._relations = torch.tensor([row.relation for row in rows], dtype=torch.long, device=device)
        tails = [tuple(dict.fromkeys(row.tails)) for row in rows]
        sizes = torch.tensor([len(one) for one in tails], dtype=torch.long, device=device)
        self._tails = torch.tensor([tail for one in tails for tail in one], dtype=torch.long, device=device)
        self._starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])[:-1]

    def keys(self) -> Tensor:
        """a (K, d)."""
        ends = torch.cat([self.entities(self._heads), self.relations(self._relations)], dim=-1)
        found: Tensor = self.key(ends)
        return found

    def values(self) -> Tensor:
        """b (K, d): the mean over each set of tails."""
        return nn.functional.embedding_bag(self._tails, self.entities.weight, self._starts, mode="mean")

    def forward(self, hidden: Tensor, about: Tensor | None = None, hide: Tensor | None = None) -> FactReading:
        """hidden (q, D) of the blanks, about (q, d) the vectors of the entities that each question mentions.

        hide (q, K): facts that a question does not see.
        """
        asked = self.ask(hidden)  # (q, d)
        if about is not None and self.config.copy:
            asked = asked + self.about(about)
        empty = asked @ self.null[:, None]  # (q, 1)
        context = self.context(hidden)  # (q, d)
        known = self.entities.weight
        if not self.rows:
            return FactReading(empty, _answers(context @ known.T), _answers(context @ known.T))
        scores = asked @ self.keys().T  # (q, K)
        if hide is not None:
            scores = scores.masked_fill(hide, float("-inf"))
        facts = torch.cat([empty, scores], dim=-1)  # (q, K + 1)
        chances = self._chances(facts)
        null = chances[:, :1]
        mixed = null * context + (1 - null) * (chances[:, 1:] @ self.values())  # (q, d)
        return FactReading(facts, _answers(mixed @ known.T), _answers(context @ known.T))

    def _chances(self, facts: Tensor) -> Tensor:
        top = min(self.config.top + 1, facts.shape[1])
        if self.training or top == facts.shape[1]:
            return facts.softmax(dim=-1)
        least = facts.topk(top, dim=-1).values[:, -1:]
        return facts.masked_fill(facts < least, float("-inf")).softmax(dim=-1)


def _answers(scores: Tensor) -> Tensor:
    """Scores of entities; NULL and MASK are no answer."""
    return torch.cat([scores.new_full((len(scores), FIRST), float("-inf")), scores[:, FIRST:]], dim=1)


def fact_loss(reading: FactReading, gold: Tensor) -> Tensor:
    """gold (q,): the number of the row that is asked for plus 1, NO_FACT, or UNKNOWN."""
    known = gold != UNKNOWN
    return cross_entropy(reading.facts[known], gold[known]) if known.any() else reading.facts[:, NO_FACT].sum() * 0.0


def answer_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """gold (q,): the row of the entity that was hidden."""
    return cross_entropy(scores, gold)
