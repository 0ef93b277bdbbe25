"""MPNet: XLNet's order of prediction, and every cell sees all n positions: the pieces it knows, masks for the rest.

    content   [context | targets t_1..t_b | masks m_1..m_b]      a mask has its target's position
    query     [m_1..m_b]                                         the same masks once more
    know      context and masks 0, target i: i, query i: i - 1

    a target is seen by who knows it (rank <= know), its mask by who does not (rank > know)

Both copies of a mask carry the same draw of 80/10/10, so a tenth of the queries read the piece itself, as BERT's do.
"""

from dataclasses import dataclass

import numpy as np

from factpin.layers.masks import FAR, Ints, MaskSpec, later, order
from factpin.objectives.choose import Budget, Choose, ngram
from factpin.objectives.spoil import Rates, replace
from factpin.objectives.tape import frame
from factpin.objectives.text import Chance, Text, Unit, Vocabulary
from factpin.objectives.view import View, stream


def compensated(know: Ints, context: int, targets: int) -> MaskSpec:
    """Who knows `know` of the targets sees these, and the masks of the others: (rows, context + 2 targets)."""
    nth = np.arange(1, targets + 1)
    pieces = np.concatenate([np.zeros(context, np.int64), nth, np.full(targets, FAR)])
    masks = np.concatenate([np.full(context + targets, -FAR), nth])
    return order(know, pieces) | later(know, masks)


@dataclass(frozen=True)
class MPNet:
    """How MPNet orders and masks a text."""

    choose: Choose = ngram
    unit: Unit = "pieces"
    budget: Budget = Budget()
    rates: Rates = Rates()

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        f = frame([text], first=[v.cls], after=[v.sep])
        groups = self.choose(text.units(self.unit), self.budget.of(len(text), f.specials, chance), chance)
        targets = chance.permutation(np.concatenate(f.at(groups)))
        context = np.setdiff1d(np.arange(len(f.tape)), targets)
        a, b = len(context), len(targets)
        masks = replace(f.tape.take(targets), [np.arange(b)], self.rates, v, chance)
        content = stream(
            f.tape.take(np.concatenate([context, targets])) + masks,
            {"content": compensated(np.concatenate([np.zeros(a), 1 + np.arange(b), np.zeros(b)]), a, b)},
            positions=np.concatenate([context, targets, targets]),
        )
        sees = {"content": compensated(np.arange(b), a, b)}
        query = stream(masks, sees, answers=f.tape.shows[targets], positions=targets)
        return View(text.ids, {"content": content, "query": query})
