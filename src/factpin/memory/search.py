"""Search: find passages for a question by words, by vectors, or by both.

Words need only the store. Vectors need a function that embeds the question with the encoder of the passages. Results
of both are merged by ranks (reciprocal rank fusion), or by scores if a weight was fitted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.documents import Passage
from factpin.errors import BadInput
from factpin.memory import bm25
from factpin.memory.nouns import ALL, Filter, Floats, Hit
from factpin.memory.store import Store
from factpin.memory.terms import characters, query_terms

RANK = 60  # constant of reciprocal rank fusion: the larger, the less the first ranks stand out
FINE = 12  # decimals of merged scores to compare
DEEPER = 5  # each side finds this many times k before merging
WEIGHTS = tuple(i / 20 for i in range(21))  # to try

Embed = Callable[[Sequence[str]], Floats]
By = Literal["words", "vectors", "both"]


@dataclass(frozen=True)
class Search:
    """Finds passages in a store. `weight` is that of vectors against words, from 0 to 1; None merges by ranks."""

    store: Store
    embed: Embed | None = None
    encoder: str = ""
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.weight is not None and not 0.0 <= self.weight <= 1.0:
            raise BadInput(f"The weight is {self.weight}; expected a number from 0 (words only) to 1 (vectors only).")

    def __call__(
        self, text: str, k: int, *, by: By = "both", exclude: frozenset[str] = frozenset(), filter: Filter = ALL
    ) -> list[Hit]:
        """The k best passages, except excluded ones. Without an encoder, `both` searches by words."""
        if by == "vectors" and self.embed is None:
            raise BadInput("Search by vectors needs an encoder. Give one, or search by words.")
        deep = (k if by != "both" or self.embed is None else DEEPER * k) + len(exclude)
        lists = []
        if by != "vectors":
            lists.append(self._words(text, deep, filter))
        if by != "words" and self.embed is not None:
            lists.append(self.store.nearest(self.encoder, self.embed([text])[0], deep, filter))
        kept = [[hit for hit in hits if hit.passage not in exclude] for hits in lists]
        if len(kept) == 1:
            return kept[0][:k]
        return by_ranks(*kept)[:k] if self.weight is None else by_scores(kept[0], kept[1], self.weight)[:k]

    def _words(self, text: str, k: int, filter: Filter) -> list[Hit]:
        """By words and pairs of characters, or by single characters if nothing is found."""
        return self.store.words(query_terms(text), k, filter) or self.store.words(characters(text), k, filter)


def by_ranks(*lists: Sequence[Hit]) -> list[Hit]:
    """Merge lists by reciprocal ranks: a passage scores 1 / (60 + rank) in each list that contains it."""
    scores: dict[str, float] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            scores[hit.passage] = scores.get(hit.passage, 0.0) + 1.0 / (RANK + rank)
    return bm25.best(scores.items(), len(scores), FINE)


def by_scores(words: Sequence[Hit], vectors: Sequence[Hit], weight: float) -> list[Hit]:
    """Merge two lists by scores, each scaled to 0..1. A passage missing from a list gets the lowest score there."""
    scores: dict[str, float] = dict.fromkeys((hit.passage for hit in (*words, *vectors)), 0.0)
    for hits, share in ((words, 1.0 - weight), (vectors, weight)):
        if hits:
            low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
            for hit in hits:
                scores[hit.passage] += share * ((hit.score - low) / (high - low) if high > low else 1.0)
    return bm25.best(scores.items(), len(scores), FINE)


@dataclass(frozen=True, slots=True)
class Trial:
    """A question with its right passages, and the hits for it by words and by vectors."""

    words: tuple[Hit, ...]
    vectors: tuple[Hit, ...]
    gold: frozenset[str]


def fit_weight(trials: Sequence[Trial]) -> float:
    """The weight with the best mean reciprocal rank of the first right passage; of ties, the nearest to 0.5."""
    if not trials:
        raise BadInput("There are no questions; expected at least one to fit the weight on.")
    quality = {weight: float(np.mean([_reciprocal(t, weight) for t in trials])) for weight in WEIGHTS}
    return max(WEIGHTS, key=lambda weight: (round(quality[weight], 9), -abs(weight - 0.5)))


def _reciprocal(trial: Trial, weight: float) -> float:
    for rank, hit in enumerate(by_scores(trial.words, trial.vectors, weight), start=1):
        if hit.passage in trial.gold:
            return 1.0 / rank
    return 0.0


def embed_passages(store: Store, encoder: str, embed: Embed, at_once: int = 64) -> int:
    """Embed every passage that has no vector of this encoder yet, title first, and return how many there were.

    Each batch is saved on its own: after a crash, the next run continues.
    """
    done = 0
    waiting: list[Passage] = []
    for passage in store.without_vectors(encoder):
        waiting.append(passage)
        if len(waiting) == at_once:
            done += _embed(store, encoder, embed, waiting)
            waiting = []
    return done + _embed(store, encoder, embed, waiting)


def _embed(store: Store, encoder: str, embed: Embed, passages: Sequence[Passage]) -> int:
    if passages:
        vectors = embed([f"{p.title}\n{p.text}" if p.title else p.text for p in passages])
        store.put_vectors(encoder, {p.id: vector for p, vector in zip(passages, vectors, strict=True)})
    return len(passages)
