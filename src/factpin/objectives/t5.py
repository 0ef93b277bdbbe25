"""T5: each blank becomes a sentinel of its own; the decoder says sentinel, blank, sentinel, blank, …, end.

encoder   x_1 <0> x_4 x_5 <1> [end]
decoder   <0> x_2 x_3 <1> x_6 [end]        one more sentinel closes the target where the text ends with no blank

A hundred sentinels are enough for texts of about 2,000 pieces. Longer texts have no more blanks, but longer ones: the
share that is asked for stays.
"""

from dataclasses import dataclass
from functools import partial

from factpin.objectives.choose import Budget, Choose, scattered
from factpin.objectives.spoil import collapse
from factpin.objectives.tape import concatenate, mark, tape
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import View, encoder, sequence_view


@dataclass(frozen=True)
class T5:
    """How T5 cuts blanks out of a text."""

    choose: Choose | None = None  # None: scattered, in no more groups than there are sentinels
    budget: Budget = Budget(framed=False)

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        row, end = tape(text.ids), mark(v.end)
        choose = self.choose or partial(scattered, most=len(v.sentinels) - 1)  # one is left to close the target
        groups = choose(text.units("pieces"), self.budget.of(len(text), 0, chance), chance)
        source = collapse(row, groups, v.sentinels[:-1]) + end
        blanks = [mark(sentinel) + row.take(group) for sentinel, group in zip(v.sentinels, groups, strict=False)]
        last = [] if groups[-1][-1] == len(text) - 1 else [mark(v.sentinels[len(groups)])]
        return sequence_view(text.ids, encoder(source), v.pad, concatenate([*blanks, *last, end]))
