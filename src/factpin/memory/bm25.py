"""BM25, the one formula by which every store ranks passages for the words of a question.

idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which is positive for every term, so that small stores rank too.
Scores that agree to six decimals are equal, and then the key of the passage decides: no store's arithmetic does.
"""

import math
from collections.abc import Iterable, Sequence

from factpin.memory.nouns import Hit

K1 = 1.2
B = 0.75
DECIMALS = 6


def idf(documents: float, frequency: float) -> float:
    """How much a term tells that `frequency` of so many passages hold."""
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def part(weight: float, count: float, length: float, average: float) -> float:
    """What a term of that idf adds to the score of a passage in which it stands `count` times."""
    return weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))


def best(scores: Iterable[tuple[str, float]], k: int, decimals: int = DECIMALS) -> list[Hit]:
    """The k best passages, in the order that all stores agree on."""
    ordered = sorted(scores, key=lambda pair: (-round(pair[1], decimals), pair[0]))
    return [Hit(passage, score) for passage, score in ordered[:k]]


def unique(terms: Sequence[str]) -> list[str]:
    """Every term once: a word that a question repeats weighs no more."""
    return list(dict.fromkeys(terms))
