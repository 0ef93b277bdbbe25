"""A small vocabulary and texts of any length, with words, phrases, entities, documents, memory and a foreign text."""

import numpy as np

from factpin.layers.masks import Ints
from factpin.objectives import Text, Vocabulary

VOCABULARY = Vocabulary(
    size=240, pad=0, cls=1, sep=2, mask=3, gap=4, tail=5, start=6, end=7, sentinels=tuple(range(239, 207, -1))
)
FIRST, LAST = 8, 208  # ordinary ids


def text(n: int, seed: int = 0, *, ids: Ints | None = None, foreign: bool = True, before: int = 0) -> Text:
    """n different pieces in words of one to three, in sentences of about six, with phrases, entities and documents."""
    chance = np.random.default_rng([seed, n])
    pieces = chance.permutation(np.arange(FIRST, LAST))[:n] if n <= LAST - FIRST else chance.integers(FIRST, LAST, n)
    words = np.repeat(np.arange(n), chance.integers(1, 4, n))[:n]
    ends = np.unique(np.append(np.flatnonzero(chance.random(n) < 1 / 6), n))
    at = np.arange(n)
    return Text(
        pieces if ids is None else ids,
        words,
        ends[ends > 0],
        phrases=np.where(at % 9 < 4, at // 9, -1),
        entities=np.where(at % 11 < 3, at // 11, -1),
        documents=(at >= n // 3).astype(np.int64),
        before=chance.integers(FIRST, LAST, before),
        foreign=text(n, seed + 1000, foreign=False) if foreign else None,
    )


def alone(n: int) -> list[Ints]:
    """n units of one piece."""
    return [np.array([i]) for i in range(n)]
