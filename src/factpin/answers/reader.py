"""Reader: a question and passages in, readings out: spans of documents with exact characters, the surest first.

    readings = reader.read("谷爱凌出生在哪里？", passages)

A score is how much better an answer is than none, as the head counts it; `probability` is the share of answers with
such a score that were right on the set the reader was fitted on. `answer` gives the surest reading that reaches
`min_score`, or None.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from factpin.answers.pair_reader import Cut, PairBatch, PairRead, PairReader, collate_pairs
from factpin.documents import Document, Span
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.layers.dropout import Dropout
from factpin.tasks.scale import Scale
from factpin.tasks.spans.best import best_cells
from factpin.tokens import Tokenizer, batches

BUDGET = 2048  # tokens in a batch, padding included
YES_NO = ("yes", "no")
SPARE = 4  # cells looked at beyond the limit: some may run from a choice into the passage


class Readable(Protocol):
    """What can be read: characters start:end of a document."""

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
    """Documents as passages."""
    return [WholeText(doc.id, doc.text) for doc in documents]


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer that was read in a passage.

    `span` are characters of the document: those of the text, or of the whole passage where the answer is yes or no.
    """

    passage: int  # index among the passages that were given
    document: str
    span: Span
    text: str
    score: float
    probability: float
    kind: str = "span"  # span, yes or no


@dataclass(frozen=True)
class ReaderSettings:
    """How a reader reads, and how its scores are to be understood."""

    max_length: int = 384
    overlap: int = 96
    choices: tuple[str, ...] = ()  # the words for yes and no, where these can be answered
    scale: Scale = field(default_factory=Scale)
    min_score: float = 0.5  # the least probability of an answer

    def __post_init__(self) -> None:
        if len(self.choices) not in (0, len(YES_NO)):
            raise BadInput(f"choices are {self.choices}; expected a word for yes and a word for no, or nothing.")
        if not 0 <= self.min_score <= 1:
            raise BadInput(f"min_score is {self.min_score}; expected a probability, 0 to 1.")


class ReaderModel(nn.Module):
    """Scores = head(dropout(encoder(pairs)))."""

    def __init__(self, encoder: Encoder, head: nn.Module, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head  # of those that have `dense`: each has scores of a type of its own
        self.dropout = Dropout(dropout)

    def scores(self, batch: PairBatch) -> object:
        """The head's scores."""
        batch = batch.to(next(self.parameters()).device)
        hidden = self.encoder(batch.ids, batch.mask, segments=batch.segments).hidden  # (B, N, D)
        return self.head(self.dropout(hidden), batch.real)

    def loss(self, example: tuple[PairBatch, Any]) -> Tensor:
        """The mean loss over the batch's pairs."""
        batch, gold = example
        return self.head.loss(self.scores(batch), gold)

    def agreement(self, example: tuple[PairBatch, Any]) -> tuple[Tensor, Tensor]:
        """R-Drop: the mean loss of two passes under dropout, and how far their scores are apart."""
        batch, gold = example
        a, b = self.scores(batch), self.scores(batch)
        return (self.head.loss(a, gold) + self.head.loss(b, gold)) / 2, self.head.apart(a, b)


@dataclass
class Reader:
    """A model that answers questions from passages."""

    model: ReaderModel
    tokenizer: Tokenizer
    settings: ReaderSettings = field(default_factory=ReaderSettings)

    @property
    def pairs(self) -> PairReader:
        """How questions and passages become pairs."""
        s = self.settings
        return PairReader(self.tokenizer, s.max_length, s.overlap, s.choices)

    def read(self, question: str, passages: Sequence[Readable], *, limit: int = 1) -> list[Reading]:
        """The best readings of every passage, at most `limit` of each, the surest first."""
        return self.read_all([(question, passages)], limit=limit)[0]

    def answer(self, question: str, passages: Sequence[Readable]) -> Reading | None:
        """The surest reading; None where none is sure enough."""
        readings = self.read(question, passages)
        return readings[0] if readings and readings[0].probability >= self.settings.min_score else None

    @torch.no_grad()
    def read_all(self, asked: Sequence[tuple[str, Sequence[Readable]]], *, limit: int = 1) -> list[list[Reading]]:
        """The readings of many questions, each in its own passages: batched over all of them."""
        if limit < 1:
            raise BadInput(f"limit is {limit}; expected 1 or more readings of a passage.")
        reader, cuts = self.pairs, dict[str, Cut]()
        reads: list[tuple[int, int, PairRead]] = []  # question, passage, pairs
        for q, (question, passages) in enumerate(asked):
            if not question.strip():
                raise BadInput("The question is empty. Ask something.")
            for p, passage in enumerate(passages):
                if passage.text not in cuts:
                    cuts[passage.text] = reader.cut(passage.text)
                reads.append((q, p, reader.beside(question, cuts[passage.text])))
        found = self._found([read for _, _, read in reads], limit)
        readings: list[list[Reading]] = [[] for _ in asked]
        for (q, p, _), spots in zip(reads, found, strict=True):
            readings[q] += [self._reading(p, asked[q][1][p], spot, score) for spot, score in spots]
        return [sorted(mine, key=lambda r: (-r.score, r.passage, r.span)) for mine in readings]

    def _found(self, reads: Sequence[PairRead], limit: int) -> list[list[tuple["_Spot", float]]]:
        """The best spots of every passage over all its windows, each once with its best score."""
        self.model.eval()
        best: list[dict[_Spot, float]] = [{} for _ in reads]
        places = [(r, w) for r, read in enumerate(reads) for w in range(len(read.windows))]
        for batch in batches([len(reads[r].pairs[w].ids) for r, w in places], BUDGET):
            chosen = [places[i] for i in batch]
            pairs = collate_pairs([reads[r].pairs[w] for r, w in chosen], self.tokenizer.pad_id)
            table = self.model.head.dense(self.model.scores(pairs))[:, :1].float().cpu().numpy()
            cells = best_cells(table, limit + SPARE)
            for (row, _, first, last), score in zip(cells.rows(), cells.score.tolist(), strict=True):
                r, w = chosen[row]
                spot = _spot(reads[r], w, first, last)
                if spot is not None:
                    best[r][spot] = max(best[r].get(spot, score), score)
        return [sorted(spots.items(), key=lambda item: (-item[1], item[0]))[:limit] for spots in best]

    def _reading(self, index: int, passage: Readable, spot: "_Spot", score: float) -> Reading:
        choice, start, end = spot
        probability = self.settings.scale.probability(score)
        if choice >= 0:
            span, text, kind = Span(passage.start, passage.end), self.settings.choices[choice], YES_NO[choice]
        else:
            span, text, kind = Span(passage.start + start, passage.start + end), passage.text[start:end], "span"
        return Reading(index, passage.document, span, text, score, probability, kind)


_Spot = tuple[int, int, int]  # (index of a choice, 0, 0), or (-1, start, end) in characters of the passage


def _spot(read: PairRead, window: int, first: int, last: int) -> _Spot | None:
    """What tokens of a pair mean; None where they are neither a choice nor text of the passage."""
    if (first, last) in read.choices:
        return read.choices.index((first, last)), 0, 0
    characters = read.characters(window, first, last)
    return None if characters is None else (-1, *characters)
