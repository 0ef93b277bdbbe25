"""Documents -> pieces and windows -> padded batches.

Training and extraction share this path, so that a model is asked what it was taught.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.tokens.batches import batches
from factpin.tokens.pieces import Pieces
from factpin.tokens.tokenizer import Tokenizer
from factpin.tokens.windows import Window, sentence_starts, windows
from factpin.words import count

BUDGET = 1024  # tokens in a batch, padding included: small batches pad less and stay in the cache


@dataclass(frozen=True)
class WindowReader:
    """How a text is read: in windows of `size` pieces, one sentence at a time or as much as fits."""

    tokenizer: Tokenizer
    size: int  # pieces of a window, without special tokens
    overlap: int
    context: Literal["sentence", "window"] = "sentence"
    on_overflow: Literal["window", "error"] = "window"

    def read(self, doc: Document, wanted: Sequence[tuple[int, int]] | None = None) -> "WindowedDocument":
        """The pieces and windows of a document.

        wanted: the sentences that matter. The others are left out if each sentence is read by itself: what is found in
        one does not depend on them.
        """
        sentences: tuple[tuple[int, int], ...] = doc.sentences or tuple(split_sentences(doc.text))
        if wanted is None or self.context == "window":
            pieces = self.tokenizer.encode_sentences(doc.text, sentences)
        else:
            pieces = self.tokenizer.encode_parts(doc.text, wanted)
        found = windows(pieces, sentences, self.size, min(self.overlap, self.size // 2), context=self.context)
        if self.on_overflow == "error":
            self._refuse_overflow(doc, pieces, sentences)
        return WindowedDocument(doc, pieces, tuple(found), sentences)

    def _refuse_overflow(self, doc: Document, pieces: Pieces, sentences: Sequence[tuple[int, int]]) -> None:
        starts = sentence_starts(pieces, sentences) if self.context == "sentence" else [0]
        longest = max(end - start for start, end in zip(starts, [*starts[1:], len(pieces)], strict=True))
        if longest > self.size:
            unit = "a sentence" if self.context == "sentence" else "a text"
            raise BadInput(
                f"{doc.id}: {unit} of {count(longest, 'token')} does not fit the {self.size} that the model reads at "
                f"once. Shorten it, or let it be read in overlapping windows (--on-overflow window)."
            )


@dataclass(frozen=True)
class WindowedDocument:
    """A document with its pieces and windows."""

    doc: Document
    pieces: Pieces
    windows: tuple[Window, ...]
    sentences: tuple[tuple[int, int], ...]

    @property
    def ids(self) -> tuple[NDArray[np.int32], ...]:
        """The pieces of every window."""
        return tuple(self.pieces.ids[w.first : w.last] for w in self.windows)


@dataclass(frozen=True)
class Batch:
    """Framed windows side by side."""

    ids: NDArray[np.int64]  # (B, N)
    mask: NDArray[np.bool_]  # (B, N) False at padding
    real: NDArray[np.bool_]  # (B, N) True at text


def collate(windows_ids: Sequence[NDArray[np.int32]], tokenizer: Tokenizer) -> Batch:
    """The pieces of several windows as one padded batch."""
    framed = [tokenizer.frame(ids) for ids in windows_ids]
    N = max(len(ids) for ids, _ in framed)
    ids = np.full((len(framed), N), tokenizer.pad_id, np.int64)
    mask = np.zeros((len(framed), N), np.bool_)
    real = np.zeros((len(framed), N), np.bool_)
    for row, (window, text) in enumerate(framed):
        ids[row, : len(window)] = window
        mask[row, : len(window)] = True
        real[row, : len(text)] = text
    return Batch(ids, mask, real)


def batched(
    windows: Sequence[Sequence[NDArray[np.int32]]], tokenizer: Tokenizer
) -> Iterator[tuple[list[tuple[int, int]], Batch]]:
    """The windows of all documents sorted by length, in batches of a token budget.

    Each batch comes with the (document, window) of its rows.
    """
    places = [(d, w) for d, ids in enumerate(windows) for w in range(len(ids))]
    lengths = [len(windows[d][w]) + tokenizer.frame_size for d, w in places]
    for batch in batches(lengths, BUDGET):
        chosen = [places[i] for i in batch]
        yield chosen, collate([windows[d][w] for d, w in chosen], tokenizer)
