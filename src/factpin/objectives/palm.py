"""PALM: the encoder reads the beginning of a text with a cloze on it, the decoder goes on, able to copy.

encoder   [CLS] beginning [SEP], some of it hidden and asked for
decoder   pad, the rest  answers  the rest, end

The first stage is the cloze alone (`palm_cloze`). Without the cloze and the copying it is the plain Transformer.
"""

from dataclasses import dataclass

from factpin.objectives.choose import Budget, near, ngram
from factpin.objectives.spoil import Rates, replace
from factpin.objectives.tape import frame, mark, tape
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import View, encoder, sequence_view


@dataclass(frozen=True)
class Continue:
    """How PALM splits a text into a beginning and its continuation."""

    beginning: float = 0.8  # share of the pieces
    budget: Budget | None = Budget()
    rates: Rates = Rates()

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        cut = min(max(1, near(self.beginning * len(text))), len(text) - 1)
        f = frame([text.part(0, cut)], first=[v.cls], after=[v.sep])
        budget = 0 if self.budget is None else self.budget.of(cut, f.specials, chance)
        hidden = ngram(f.text.units("pieces"), budget, chance)
        source = encoder(replace(f.tape, f.at(hidden), self.rates, v, chance), answers=f.answers(hidden))
        return sequence_view(text.ids, source, v.pad, tape(text.ids[cut:], cut) + mark(v.end))
