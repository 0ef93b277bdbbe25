"""Cloze: some pieces are hidden and asked for at their own cells. BERT and all that differ from it in values.

first parts sep          [CLS] A [SEP] B [SEP]; segments 0 and 1
x̃ = replace(x, groups)   groups = choose(units, budget)
loss                     -log p(x_i | x̃) at every chosen i, also where x̃_i = x_i
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.layers.masks import Ints, MaskSpec, full
from factpin.objectives.choose import Budget, Choose, ngram
from factpin.objectives.pairs import Pair, alone
from factpin.objectives.spoil import Rates, replace
from factpin.objectives.tape import Frame, frame
from factpin.objectives.text import Chance, Text, Unit, Vocabulary
from factpin.objectives.view import View, stream


def everybody(f: Frame) -> MaskSpec:
    return full(len(f.tape))


@dataclass(frozen=True)
class Cloze:
    """How pieces are chosen, hidden and asked for."""

    choose: Choose = ngram
    unit: Unit = "pieces"
    budget: Budget = Budget()
    rates: Rates = Rates()
    pair: Pair = alone
    mask: Callable[[Frame], MaskSpec] = everybody
    segments: tuple[int, ...] = (0, 1)  # of the first part, of the second; the last one serves all further parts
    spans: Literal["none", "between"] = "none"  # SpanBERT: also from the two cells around a group
    stop: bool = False  # UniLM: the last [SEP] can be chosen like a piece, so that it is learned where to stop

    def __call__(self, text: Text, vocabulary: Vocabulary, chance: Chance) -> View:
        parts, label = self.pair(text, chance)
        f = frame(parts, first=[vocabulary.cls], after=[vocabulary.sep])
        f = f.stopped() if self.stop else f
        budget = self.budget.of(len(f.text), f.specials, chance)
        groups = self.choose(f.text.units(self.unit), budget, chance)
        spoilt = replace(f.tape, f.at(groups), self.rates, vocabulary, chance)
        segments = np.array(self.segments)[np.minimum(f.parts, len(self.segments) - 1)]
        content = stream(spoilt, {"content": self.mask(f)}, answers=f.answers(groups), segments=segments)
        spans = inner(f, groups) if self.spans == "between" else np.zeros((0, 2), np.int64)
        marks = frozenset([vocabulary.sep] if self.stop else [])
        return View(f.text.ids, {"content": content}, pair=label, spans=spans, marks=marks)


def inner(f: Frame, groups: list[Ints]) -> Ints:
    """(k, 2) the cells start:end of the groups that have a piece of text on either side."""
    kept = [group for group in groups if group[0] > 0 and group[-1] < len(f.text) - 1]
    cells = [(int(f.cells[group[0]]), int(f.cells[group[-1]]) + 1) for group in kept]
    return np.array(cells, np.int64).reshape(-1, 2)
