"""Pairs: a source and its target, such as a sentence and its translation, or an article and its title.

encoder   [CLS] source [SEP], or source [end]
decoder   start target  answers  target stop        BART also says its <s> first

Every method with a decoder frames them as it frames its own texts, so a pretrained model goes on with what it knows.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.errors import BadInput
from factpin.objectives.tape import mark, tape
from factpin.objectives.text import Chance, Text, Vocabulary
from factpin.objectives.view import View, encoder, sequence_view


@dataclass(frozen=True)
class PairView:
    """How a method reads a source and its target."""

    framed: bool = True  # the source is between [CLS] and [SEP]; else [end] follows it
    start: Literal["pad", "cls", "sep"] = "pad"  # what the decoder reads first
    first: bool = False  # the target begins with <s>
    stop: Literal["end", "sep"] = "end"

    def __call__(self, text: Text, v: Vocabulary, _: Chance) -> View:
        if text.target is None:
            raise BadInput("This objective learns from pairs, and the text has no target. Give a file of pairs.")
        source = mark(v.cls) + tape(text.ids) + mark(v.sep) if self.framed else tape(text.ids) + mark(v.end)
        said = tape(text.target, len(text)) + mark(getattr(v, self.stop))
        whole = mark(v.cls) + said if self.first else said
        start = getattr(v, self.start)
        return sequence_view(np.concatenate([text.ids, text.target]), encoder(source), start, whole)
