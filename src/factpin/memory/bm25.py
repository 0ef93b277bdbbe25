"""BM25, the formula by which every store ranks passages for a question.

idf = ln(1 + (N - df + 0.5) / (df + 0.5)) is positive for every term, so that small stores can rank too.
Scores that agree to six decimals are tied, and the key of the passage breaks the tie: rounding in a database must not.
"""

import math
from collections.abc import Iterable, Sequence

from factpin.memory.nouns import Hit

K1 = 1.2
B = 0.75
DECIMALS = 6


def idf(documents: float, frequency: float) -> float:
    """The weight of a term that is in `frequency` of the passages."""
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def part(weight: float, count: float, length: float, average: float) -> float:
    """The score that a term with this idf adds to a passage that contains it `count` times."""
    return weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))


def best(scores: Iterable[tuple[str, float]], k: int, decimals: int = DECIMALS) -> list[Hit]:
    """The k best passages, in the same order in every store."""
    ordered = sorted(scores, key=lambda pair: (-round(pair[1], decimals), pair[0]))
    return [Hit(passage, score) for passage, score in ordered[:k]]


def unique(terms: Sequence[str]) -> list[str]:
    """Each term once: repeating a word in a question does not add weight."""
    return list(dict.fromkeys(terms))
