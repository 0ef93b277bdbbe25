"""A question and a passage become the pairs that a model reads; its tokens become characters of the passage again.

    [CLS] yes no question [SEP] window of the passage [SEP]

`choices` are answers that need not be in the passage, such as yes and no. They are put before the question, so that a
head can point at them as at any other span. A passage that is too long is read in windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from factpin.arrays import Bools
from factpin.arrays import Ints as Int64s
from factpin.language.sentences import split_sentences
from factpin.tokens import Pieces, Tokenizer, Window, char_span, piece_span
from factpin.tokens.pairs import FramedPair, frame_pair, pair_frame, windows_beside
from factpin.tokens.pieces import Ints


@dataclass(frozen=True, slots=True)
class PassagePieces:
    """The pieces and sentences of a passage."""

    pieces: Pieces
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class PassagePairs:
    """A question with each window of a passage. `choices` are (first, last) tokens, the same in every pair."""

    pieces: Pieces
    windows: tuple[Window, ...]
    pairs: tuple[FramedPair, ...]
    choices: tuple[tuple[int, int], ...]
    borders: tuple[int, ...] = ()  # characters of the passage at which a sentence ends

    def cell(self, window: int, start: int, end: int) -> tuple[int, int] | None:
        """The first and last token of some characters of the passage; None if they are not fully in the window."""
        span, here = piece_span(self.pieces, start, end), self.windows[window]
        if span is None or span[0] < here.first or span[1] >= here.last:
            return None
        shift = self.pairs[window].second_at - here.first
        return span[0] + shift, span[1] + shift

    def characters(self, window: int, first: int, last: int) -> tuple[int, int] | None:
        """The characters of the passage under some tokens; None if there are none."""
        shift = self.windows[window].first - self.pairs[window].second_at
        if first < self.pairs[window].second_at:
            return None
        start, end = char_span(self.pieces, first + shift, last + shift)
        return (start, end) if start < end else None


@dataclass(frozen=True)
class PairReader:
    """Turns questions and passages into pairs."""

    tokenizer: Tokenizer
    max_length: int  # tokens in a pair, including special ones
    overlap: int
    choices: tuple[str, ...] = ()

    def ask(self, question: str) -> tuple[Ints, tuple[tuple[int, int], ...]]:
        """The pieces of the choices and the question, and the (first, last) token of each choice."""
        parts = [part.ids for part in self.tokenizer.encode_batch([*self.choices, question])]
        borders = np.cumsum([len(pair_frame(self.tokenizer).prefix), *(len(part) for part in parts)])
        spans = [(int(a), int(b) - 1) for a, b in zip(borders, borders[1:], strict=False)]
        return np.concatenate(parts), tuple(spans[: len(self.choices)])

    def cut(self, text: str) -> PassagePieces:
        """Cut a passage into pieces and sentences."""
        sentences = tuple(split_sentences(text))
        return PassagePieces(self.tokenizer.encode_sentences(text, sentences), sentences)

    def beside(self, question: str, passage: PassagePieces) -> PassagePairs:
        """Pair a question with every window of a passage."""
        first, choices = self.ask(question)
        found = windows_beside(self.tokenizer, first, passage.pieces, passage.sentences, self.max_length, self.overlap)
        ids = passage.pieces.ids
        pairs = [_open(frame_pair(self.tokenizer, first, ids[w.first : w.last]), choices) for w in found]
        borders = tuple(end for _, end in passage.sentences)
        return PassagePairs(passage.pieces, tuple(found), tuple(pairs), choices, borders)


def _open(pair: FramedPair, choices: Sequence[tuple[int, int]]) -> FramedPair:
    """Allow answers at the choices."""
    real = pair.real.copy()
    for first, last in choices:
        real[first : last + 1] = True
    return replace(pair, real=real)


@dataclass(frozen=True)
class PairBatch:
    """A padded batch of pairs."""

    ids: Int64s  # (B, N)
    segments: Int64s  # (B, N)
    mask: Bools  # (B, N), False at padding
    real: Bools  # (B, N), True where an answer may be


def collate_pairs(pairs: Sequence[FramedPair], pad_id: int) -> PairBatch:
    """Pad pairs into one batch."""
    B, N = len(pairs), max(len(pair.ids) for pair in pairs)
    ids, segments = np.full((B, N), pad_id, np.int64), np.zeros((B, N), np.int64)
    mask, real = np.zeros((B, N), np.bool_), np.zeros((B, N), np.bool_)
    for row, pair in enumerate(pairs):
        n = len(pair.ids)
        ids[row, :n], segments[row, :n], mask[row, :n], real[row, :n] = pair.ids, pair.segments, True, pair.real
    return PairBatch(ids, segments, mask, real)
