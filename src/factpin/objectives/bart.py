"""BART: the whole text is restored from a spoilt one.

    encoder   <s> noise(x) </s>          what is left of x is shown on purpose
    decoder   </s> <s> x  answers  <s> x </s>

First the order is spoilt, then the pieces:

    order   as_it_stands, shuffled (sentences), turned (the text begins anywhere and goes round)
    noise   untouched, masked, deleted, infilled (each blank one mask, some blanks empty)

The published model uses shuffled and infilled.
"""

from collections.abc import Callable
from dataclasses import dataclass

from factpin.objectives.choose import Budget, infill, ngram
from factpin.objectives.spoil import Rates, collapse, delete, insert, reorder, replace
from factpin.objectives.tape import Tape, mark, tape
from factpin.objectives.text import Chance, Text, Vocabulary, join
from factpin.objectives.view import View, encoder, sequence_view

Ranges = list[tuple[int, int]]
MASKS = Rates(mask=1.0, chance=0.0)


def as_it_stands(text: Text, _: Chance) -> Ranges:
    return [(0, len(text))]


def shuffled(text: Text, chance: Chance) -> Ranges:
    sentences = text.units("sentences")
    return [(int(sentences[i][0]), int(sentences[i][-1]) + 1) for i in chance.permutation(len(sentences))]


def turned(text: Text, chance: Chance) -> Ranges:
    cut = int(chance.integers(1, len(text)))
    return [(cut, len(text)), (0, cut)]


def untouched(row: Tape, _: Text, __: Budget, ___: Vocabulary, ____: Chance) -> Tape:
    return row


def masked(row: Tape, text: Text, budget: Budget, vocabulary: Vocabulary, chance: Chance) -> Tape:
    chosen = ngram(text.units("pieces"), budget.of(len(text), 0, chance), chance)
    return replace(row, chosen, MASKS, vocabulary, chance)


def deleted(row: Tape, text: Text, budget: Budget, _: Vocabulary, chance: Chance) -> Tape:
    return delete(row, ngram(text.units("pieces"), budget.of(len(text), 0, chance), chance))


def infilled(row: Tape, text: Text, budget: Budget, vocabulary: Vocabulary, chance: Chance) -> Tape:
    """Here the budget is a share of the words."""
    words = text.units("words")
    groups = infill(words, budget.of(len(words), 0, chance), chance)
    holes = [group for group in groups if len(group)]
    holed = collapse(row, holes, [vocabulary.mask] * len(holes))
    gaps = chance.integers(len(holed) + 1, size=len(groups) - len(holes))
    return insert(holed, gaps.tolist(), vocabulary.mask)


@dataclass(frozen=True)
class BART:
    """How BART damages a text."""

    order: Callable[[Text, Chance], Ranges] = as_it_stands
    noise: Callable[[Tape, Text, Budget, Vocabulary, Chance], Tape] = untouched
    budget: Budget = Budget(share=0.3, rounding="up", framed=False)

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        row, ranges = tape(text.ids), self.order(text, chance)
        moved = join([text.part(start, end) for start, end in ranges])
        spoilt = self.noise(reorder(row, ranges), moved, self.budget, v, chance)
        source = mark(v.cls) + spoilt.freed() + mark(v.sep)
        return sequence_view(text.ids, encoder(source), v.sep, mark(v.cls) + row + mark(v.sep))
