"""Reader: reads answers from passages, as exact spans of documents, most likely first.

    readings = reader.read("谷爱凌出生在哪里？", passages)

    s       the score of an answer against none, as the head computes it
    log p   of the answer among all spans of its window and none
    sure    s + 8 log p

Of two answers with one s, that which has no rival in its window is right more often: on dev, the surest fifth of the
answers by s was right in 78 %, by log p in 78 %, by both in 86 %. `probability` is the share of answers as sure as this
one that were right on the questions the reader was calibrated on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from factpin.answers.pair_reader import PairBatch, PairReader, PassagePairs, PassagePieces, collate_pairs
from factpin.arrays import Floats32
from factpin.documents import Document, Span
from factpin.errors import BadInput
from factpin.tasks.scale import Scale
from factpin.tasks.spans.best import best_cells
from factpin.tokens import Tokenizer, batches

BUDGET = 2048  # tokens in a batch, including padding
YES_NO = ("yes", "no")
ALONE = 8.0  # weight of log p, chosen on dev of en-reader
SPARE = 12  # cells beyond the limit, since some may run from a choice into the passage, or over the end of a sentence


class Readable(Protocol):
    """A passage: characters start:end of a document."""

    @property
    def document(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class WholeText:
    """A document as one passage."""

    document: str
    text: str
    start: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def whole(documents: Sequence[Document]) -> list[WholeText]:
    """Read each document as one passage."""
    return [WholeText(doc.id, doc.text) for doc in documents]


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer read from a passage.

    `span` is in characters of the document. For yes and no it covers the whole passage.
    """

    passage: int  # index into the given passages
    document: str
    span: Span
    text: str
    score: float  # above 0: better than no answer
    probability: float
    kind: str = "span"  # "span", "yes" or "no"
    sure: float = 0.0


@dataclass(frozen=True)
class ReaderSettings:
    """How a reader reads passages and calibrates its scores."""

    max_length: int = 384
    overlap: int = 96
    choices: tuple[str, ...] = ()  # the words for yes and no, if the reader can answer them
    scale: Scale = field(default_factory=Scale)
    min_score: float = 0.5  # the lowest probability of an answer

    def __post_init__(self) -> None:
        if len(self.choices) not in (0, len(YES_NO)):
            raise BadInput(f"choices is {self.choices}; expected a word for yes and a word for no, or nothing.")
        if not 0 <= self.min_score <= 1:
            raise BadInput(f"min_score is {self.min_score}; expected a probability from 0 to 1.")


class PairScorer(Protocol):
    """What computes scores: a ReaderModel, or its graph in onnxruntime."""

    def table(self, batch: PairBatch) -> Floats32:
        """The scores (B, N, N) of answers that begin and end at tokens of a pair, -inf where none can be."""


Scorer = TypeVar("Scorer", bound=PairScorer)


@dataclass
class Reader(Generic[Scorer]):
    """A model that answers questions from passages."""

    model: Scorer
    tokenizer: Tokenizer
    settings: ReaderSettings = field(default_factory=ReaderSettings)

    @property
    def pairs(self) -> PairReader:
        """The reader of pairs with these settings."""
        s = self.settings
        return PairReader(self.tokenizer, s.max_length, s.overlap, s.choices)

    def read(self, question: str, passages: Sequence[Readable], *, limit: int = 1) -> list[Reading]:
        """Read up to `limit` answers from each passage, highest score first."""
        return self.read_all([(question, passages)], limit=limit)[0]

    def answer(self, question: str, passages: Sequence[Readable]) -> Reading | None:
        """The best reading, or None if it is less likely than `min_score`."""
        readings = self.read(question, passages)
        return readings[0] if readings and readings[0].probability >= self.settings.min_score else None

    def read_all(self, questions: Sequence[tuple[str, Sequence[Readable]]], *, limit: int = 1) -> list[list[Reading]]:
        """Read answers to several questions, each with its own passages, in common batches."""
        if limit < 1:
            raise BadInput(f"limit is {limit}; expected 1 or more readings per passage.")
        reader, cuts = self.pairs, dict[str, PassagePieces]()
        reads: list[tuple[int, int, PassagePairs]] = []  # question, passage, pairs
        for q, (question, passages) in enumerate(questions):
            if not question.strip():
                raise BadInput("The question is empty; expected some text.")
            for p, passage in enumerate(passages):
                if passage.text not in cuts:
                    cuts[passage.text] = reader.cut(passage.text)
                reads.append((q, p, reader.beside(question, cuts[passage.text])))
        found = self._found([read for _, _, read in reads], limit)
        readings: list[list[Reading]] = [[] for _ in questions]
        for (q, p, _), spots in zip(reads, found, strict=True):
            readings[q] += [self._reading(p, questions[q][1][p], spot, *how) for spot, how in spots]
        return [sorted(mine, key=lambda r: (-r.sure, r.passage, r.span)) for mine in readings]

    def _found(self, reads: Sequence[PassagePairs], limit: int) -> list[list[tuple["_Spot", tuple[float, float]]]]:
        """The surest spots of each passage over all its windows, each with `sure` and its score."""
        best: list[dict[_Spot, tuple[float, float]]] = [{} for _ in reads]
        places = [(r, w) for r, read in enumerate(reads) for w in range(len(read.windows))]
        for batch in batches([len(reads[r].pairs[w].ids) for r, w in places], BUDGET):
            chosen = [places[i] for i in batch]
            table = self.model.table(collate_pairs([reads[r].pairs[w] for r, w in chosen], self.tokenizer.pad_id))
            all_ = _log_total(table)
            cells = best_cells(table[:, None], limit + SPARE)
            for (row, _, first, last), score in zip(cells.rows(), cells.score.tolist(), strict=True):
                r, w = chosen[row]
                spot = _spot(reads[r], w, first, last)
                if spot is not None:
                    how = score + ALONE * (score - all_[row]), score
                    best[r][spot] = max(best[r].get(spot, how), how)
        return [sorted(spots.items(), key=lambda item: (-item[1][0], item[0]))[:limit] for spots in best]

    def _reading(self, index: int, passage: Readable, spot: "_Spot", sure: float, score: float) -> Reading:
        choice, start, end = spot
        probability = self.settings.scale.probability(sure)
        if choice >= 0:
            span, text, kind = Span(passage.start, passage.end), self.settings.choices[choice], YES_NO[choice]
        else:
            span, text, kind = Span(passage.start + start, passage.start + end), passage.text[start:end], "span"
        return Reading(index, passage.document, span, text, score, probability, kind, sure)


def _log_total(table: Floats32) -> list[float]:
    """log(1 + sum of exp s) over the cells of each pair (B, N, N): that of no answer is 0."""
    s = table.reshape(len(table), -1).astype(np.float64)
    top = np.maximum(s.max(axis=1), 0.0)  # (B,)
    total: list[float] = (top + np.log(np.exp(-top) + np.exp(s - top[:, None]).sum(axis=1))).tolist()
    return total


_Spot = tuple[int, int, int]  # (index of a choice, 0, 0), or (-1, start, end) in characters of the passage


def _spot(read: PassagePairs, window: int, first: int, last: int) -> _Spot | None:
    """The spot that tokens of a pair point at; None if they are neither a choice nor text of one sentence."""
    if (first, last) in read.choices:
        return read.choices.index((first, last)), 0, 0
    characters = read.characters(window, first, last)
    return None if characters is None or _leaves_sentence(read, *characters) else (-1, *characters)


def _leaves_sentence(read: PassagePairs, start: int, end: int) -> bool:
    """Whether some characters begin in one sentence and end in another: two answers, and what is between them."""
    return any(start < border < end for border in read.borders)
