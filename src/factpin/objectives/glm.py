"""GLM: blanks are filled one after the other behind the text, in random order, each from left to right.

A   [CLS] x with each blank as one marker
B   for each blank, in random order: [sop] s_1 … s_l answers s_1 … s_l [eop]
allowed    k < |A|, or k <= q: A never sees B
positions  first id: index in A, in B the index of the blank's marker; second id: 0 in A, 1, 2, … in B
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.layers.masks import prefix
from factpin.objectives.choose import Budget, Choose, poisson_apart
from factpin.objectives.spoil import collapse
from factpin.objectives.tape import concatenate, frame, mark
from factpin.objectives.text import Chance, Text, Unit, Vocabulary
from factpin.objectives.view import NONE, View, stream, taught


@dataclass(frozen=True)
class GLM:
    """How GLM cuts blanks out of a text."""

    choose: Choose = poisson_apart
    unit: Unit = "pieces"
    budget: Budget = Budget(rounding="down")
    marker: Literal["mask", "gap", "tail"] = "mask"

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        f = frame([text], first=[v.cls])
        groups = self.choose(text.units(self.unit), self.budget.of(len(text), f.specials, chance), chance)
        marker = {"mask": v.mask, "gap": v.gap, "tail": v.tail}[self.marker]
        a = collapse(f.tape, f.at(groups), [marker] * len(groups))
        blanks = np.flatnonzero(a.ids == marker)  # no piece of a text has the marker's id

        places, tapes, answers = text.ids, [a], [np.full(len(a), NONE)]
        positions = [np.stack([np.arange(len(a)), np.zeros(len(a), np.int64)], 1)]  # (|A|, 2)
        for k in chance.permutation(len(groups)):
            given, asked, new = taught(v.start, f.tape.take(f.cells[groups[k]]) + mark(v.end), len(places))
            places = np.concatenate([places, new])
            tapes.append(given)
            answers.append(asked)
            positions.append(np.stack([np.full(len(given), blanks[k]), 1 + np.arange(len(given))], 1))

        row = concatenate(tapes)
        content = stream(
            row,
            {"content": prefix(len(row), len(a))},
            answers=np.concatenate(answers),
            positions=np.concatenate(positions),
        )
        return View(places, {"content": content}, marks=frozenset([v.end]))
