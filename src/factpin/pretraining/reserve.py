"""A reserve of texts from all over a corpus: what a text of a long document is set against.

    portions -> at most EXCERPTS beginnings of them, shared out among as many documents as there are -> texts

The texts around one of a book are of the same book. So that it can be asked what belongs together, others are drawn
here: the corpus is read once, and nothing is cut into pieces but what is kept. Memory does not grow with the corpus.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from factpin.language.sentences import split_sentences
from factpin.objectives.text import Chance
from factpin.pretraining.corpus import Portion

EXCERPTS = 256
CHARACTERS = 4096  # of an excerpt


def excerpts(portions: Iterable[Portion], chance: Chance) -> list[Portion]:
    """Every document is as likely as another, and of a document every portion; sentences stay whole."""
    kept: list[list[Portion]] = []  # of each document that was drawn
    for n, (_, portions_of_one) in enumerate(groupby(portions, key=lambda portion: portion.document)):
        slot = n if n < EXCERPTS else int(chance.integers(n + 1))
        if slot >= EXCERPTS:
            continue
        share = EXCERPTS // max(len(kept), slot + 1)
        kept[slot : slot + 1] = [_drawn(portions_of_one, share, chance)]
        kept = [some[:share] for some in kept]
    return [_whole(portion) for some in kept for portion in some]


def _drawn(portions: Iterator[Portion], most: int, chance: Chance) -> list[Portion]:
    """At most so many, in an order by chance, so that a part of them is as good a draw."""
    found: list[Portion] = []
    for n, portion in enumerate(portions):
        slot = n if n < most else int(chance.integers(n + 1))
        if slot < most:
            found[slot : slot + 1] = [replace(portion, text=portion.text[:CHARACTERS])]
    return [found[i] for i in chance.permutation(len(found))]


def _whole(portion: Portion) -> Portion:
    """Without the sentence in which it was cut off, unless that is all."""
    text = portion.text
    if len(text) == CHARACTERS:
        *_, (start, _) = split_sentences(text) or [(0, 0)]
        text = text[:start].rstrip() or text
    return Portion(portion.document, text, tuple((a, b) for a, b in portion.mentions if b <= len(text)))
