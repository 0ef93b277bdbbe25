"""Objective: a row of the table: how a text becomes a view, what the losses are, and which positions it counts on.

declare    (text, vocabulary, chance) -> View
losses     head, the stream it reads, its weight, and what its sum is divided by
positions  what kind of positions the network needs; the view gives the numbers
network    which architecture the paper trains it on; rows that learn together on others share a BERT
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from factpin.errors import BadInput
from factpin.objectives.collate import pack
from factpin.objectives.text import Chance, Text, Vocabulary, chance_of
from factpin.objectives.view import View
from factpin.words import count

Declare = Callable[[Text, Vocabulary, Chance], View]


@dataclass(frozen=True)
class Loss:
    """What is predicted from which stream, and with what weight."""

    head: Literal["words", "pair", "boundary", "replaced", "copy"]
    stream: str
    weight: float = 1.0
    over: Literal["targets", "targets_and_one", "tokens", "texts"] = "targets"  # counted in the whole batch


@dataclass(frozen=True)
class Objective:
    """A pretraining method: a row of the table."""

    declare: Declare
    losses: tuple[Loss, ...]
    positions: Literal[
        "learned", "two_learned", "sinusoid", "buckets", "learned_and_buckets", "relative", "functional"
    ] = "learned"
    classes: int = 2  # of the pair label
    network: str = "bert"  # the paper's architecture, a name of NETWORKS (pretraining/networks.py)
    task: int = 0  # which task vector is added to the input, where a network has several (ERNIE 2.0)
    smoothing: float = 0.0  # of the labels of words, while it learns
    again: bool = False  # the second half of a text is the first half of the next, and is not remembered (XLNet)
    sentences: int = 1  # the least that it can use
    pieces: int = 2

    def fits(self, text: Text) -> bool:
        """Whether there is enough of the text to ask something and to leave something."""
        return len(text) >= self.pieces and len(text.ends) >= self.sentences

    def view(
        self, text: Text, vocabulary: Vocabulary, *, seed: int, epoch: int, index: int, apart: bool = False
    ) -> View:
        """The view of text number `index` in this epoch: always the same one.

        `apart`: the documents of the text have a view each, and no cell sees one of another document.
        """
        documents = text.by_document() if apart else [text]
        views = [self._view(one, vocabulary, chance_of(seed, epoch, index, k)) for k, one in enumerate(documents)]
        return views[0] if len(views) == 1 else pack(views)

    def _view(self, text: Text, vocabulary: Vocabulary, chance: Chance) -> View:
        if not self.fits(text):
            raise BadInput(
                f"This objective needs {count(self.pieces, 'piece')} in {count(self.sentences, 'sentence')}, "
                f"the text has {len(text)} in {len(text.ends)}. Ask `fits` first, and skip the text."
            )
        vocabulary.refuse_specials(text)
        return self.declare(text, vocabulary, chance)
