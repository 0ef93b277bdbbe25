"""The source of a run: a corpus as texts for its rows, parted into what is learned from and what is held out.

learned     every n-th document for one of n processes, without those held out
judged      the first texts that are held out
reserve     texts of documents all over the corpus, to set against those of a long one
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np

from factpin.objectives import ROWS, Text
from factpin.objectives.text import Chance, join
from factpin.pretraining.corpus import Corpus, PackedTexts, Place, TextCut, packed
from factpin.pretraining.known import Units
from factpin.pretraining.reserve import excerpts
from factpin.pretraining.stream import with_foreign
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.defaults import EPOCHS
from factpin.training.parallel import World

HELD_OUT = 256  # texts at most


@dataclass(frozen=True, eq=False)
class CorpusSource:
    """A corpus as a run reads it."""

    corpus: Corpus
    tokenizer: Tokenizer
    cut: TextCut
    known: Units | None
    rows: tuple[str, ...]
    every: int  # every so many documents one is held out; 0: none, and the whole corpus is evaluated
    needs_foreign: bool

    def fits(self, text: Text) -> bool:
        """Whether every row can use the text, or each document of it where they are apart."""
        return all(map(self._usable, text.by_document() if self.cut.apart else [text]))

    def _usable(self, text: Text) -> bool:
        return all(ROWS[row].fits(text) for row in self.rows)

    def held(self, number: int) -> bool:
        return bool(self.every) and number % self.every == self.every - 1

    def texts(self, place: Place, world: World) -> Iterator[PackedTexts]:
        """The share of a process: every n-th document for n processes, without those held out."""
        return self._texts(place, lambda number: number % world.size == world.rank and not self.held(number))

    def judged(self) -> list[Text]:
        """The first held-out texts, or those of a dev corpus, which has nothing else."""
        return self._some(HELD_OUT, held=True)

    def first(self, count: int) -> list[Text]:
        """The first texts that are learned from, by whichever process."""
        return self._some(count, held=False)

    def reserve(self, seed: int, epoch: int) -> list[PackedTexts]:
        """Texts of documents all over the corpus, whichever process they belong to, without those held out."""
        return self._far(np.random.default_rng([seed, epoch]), held=False)

    def steps(self, how: TrainConfig, world: World) -> int:
        """How many steps the epochs are, by going through the share of a process once."""
        count = sum(self.fits(one.text) for one in self.texts(Place(), world))
        return max(1, (how.epochs or EPOCHS) * count // (how.texts * how.accumulation))

    def _some(self, count: int, *, held: bool) -> list[Text]:
        found = self._texts(Place(), lambda number: not self.every or self.held(number) == held)
        block = list(islice((one for one in found if self.fits(one.text)), count))
        chance = np.random.default_rng(0)
        far = partial(self._far, chance, held=held and bool(self.every))
        return with_foreign(block, chance, needed=self.needs_foreign, reserve=far)

    def _texts(self, place: Place, wanted: Callable[[int], bool]) -> Iterator[PackedTexts]:
        texts = self.corpus.texts(self.tokenizer, self.cut, known=self.known, start=place, wanted=wanted)
        return map(self._shortened, texts) if self.cut.apart else texts

    def _shortened(self, one: PackedTexts) -> PackedTexts:
        """Without the documents that no row can use; a text of such documents alone is left as it is, and fits none."""
        documents = one.text.by_document()
        kept = [document for document in documents if self._usable(document)]
        if not kept or len(kept) == len(documents):
            return one
        return replace(one, text=join(kept), left_out=len(documents) - len(kept))

    def _far(self, chance: Chance, *, held: bool) -> list[PackedTexts]:
        portions = (portion for portion in self.corpus.portions() if self.held(portion.document) == held)
        texts = (packed([portion], self.tokenizer, self.cut, self.known) for portion in excerpts(portions, chance))
        return [one for some in texts for one in some if self.fits(one.text)]
