"""MASS: half of the text, in one run, is hidden from the encoder; the decoder reads that run alone, in its place.

encoder   x with x_u..x_v replaced piece by piece        all of it seen by the decoder
decoder   x_{u-1} … x_{v-1} at positions u-1 … v-1       answers x_u … x_v
"""

from dataclasses import dataclass

from factpin.layers.masks import causal, full
from factpin.objectives.choose import Budget, Choose, fragment
from factpin.objectives.spoil import Rates, replace
from factpin.objectives.tape import frame
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import View, encoder, stream


@dataclass(frozen=True)
class MASS:
    """How MASS hides a run of pieces."""

    choose: Choose = fragment
    budget: Budget = Budget(share=0.5, framed=False)
    rates: Rates = Rates()

    def __call__(self, text: Text, vocabulary: Vocabulary, chance: Chance) -> View:
        f = frame([text], first=[vocabulary.cls], after=[vocabulary.sep])
        (run,) = self.choose(text.units("pieces"), self.budget.of(len(text), 0, chance), chance)
        source = encoder(replace(f.tape, f.at([run]), self.rates, vocabulary, chance))
        before, b = f.cells[run] - 1, len(run)
        sees = {"decoder": causal(b), "encoder": full(b, len(source))}
        decoder = stream(f.tape.take(before), sees, answers=run, positions=before)
        return View(text.ids, {"encoder": source, "decoder": decoder})
