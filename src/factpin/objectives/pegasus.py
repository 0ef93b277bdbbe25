"""PEGASUS: the sentences that say most about the others are taken out; the decoder writes them.

    encoder   x with each gap sentence as one marker, or another document's sentence, or as it was; a cloze on the rest
    decoder   the gap sentences in the order of the text, end

The pieces of the other document have places of their own behind those of the text: nobody is asked for them.
The large model takes 15 to 45 % of the sentences, leaves a tenth of them in place, and has no cloze.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from factpin.objectives.choose import near, ngram
from factpin.objectives.gaps import How, gap_sentences
from factpin.objectives.spoil import Rates, replace
from factpin.objectives.tape import Tape, concatenate, frame, mark, tape
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import NONE, View, encoder, sequence_view


@dataclass(frozen=True)
class Pegasus:
    """How PEGASUS chooses the sentences to take out."""

    how: How = "ind_orig"
    least: float = 0.3  # share of the sentences, drawn evenly between least and most
    most: float = 0.3
    rates: Rates = Rates(by="group")  # of a gap sentence; without a foreign text, what chance would take is masked
    cloze: float = 0.15  # share of the words of what is left
    noise: float = 0.0

    def __call__(self, text: Text, v: Vocabulary, chance: Chance) -> View:
        sentences = text.units("sentences")
        count = int(chance.uniform(self.least, self.most) * len(sentences))
        choose = partial(gap_sentences, ids=text.ids, how=self.how, noise=self.noise, stop=v.stop)
        gaps = choose(sentences, min(max(1, count), len(sentences) - 1), chance)
        gone = np.isin(np.arange(len(text)), np.concatenate(gaps))

        f = frame([text])
        words = [word for word in text.units("words") if not gone[word].any()]
        hidden = ngram(words, near(self.cloze * sum(len(word) for word in words)), chance)
        spoilt, asked = replace(f.tape, hidden, Rates(), v, chance), f.answers(hidden)
        parts, answers = [], []
        for sentence in sentences:
            if gone[sentence[0]]:
                parts.append(self._gap(f.tape.take(sentence), text, v, chance))
                answers.append(np.full(len(parts[-1]), NONE))
            else:
                parts.append(spoilt.take(sentence))
                answers.append(asked[sentence])
        source = encoder(concatenate([*parts, mark(v.end)]), answers=np.concatenate([*answers, [NONE]]))
        places = text.ids if text.foreign is None else np.concatenate([text.ids, text.foreign.ids])
        return sequence_view(places, source, v.pad, f.tape.take(np.flatnonzero(gone)) + mark(v.end))

    def _gap(self, sentence: Tape, text: Text, v: Vocabulary, chance: Chance) -> Tape:
        """What the encoder reads in place of a gap sentence."""
        u = chance.random()
        if u >= self.rates.mask + self.rates.chance:
            return sentence.freed()
        if u < self.rates.mask or text.foreign is None:
            return mark(v.gap)
        units = text.foreign.units("sentences")
        unit = units[int(chance.integers(len(units)))]
        return tape(text.foreign.ids[unit], len(text) + int(unit[0]))
