"""How well a tokenizer fits a corpus: lengths in pieces, spans it cannot represent, unknown words.

A span that starts or ends inside a piece cannot be predicted, so recall cannot be higher than the share of the others.
Words of the domain are those that are unknown or split into many pieces.
"""

import re
from array import array
from collections import Counter
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.tokens import Pieces, Tokenizer, piece_spans

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
SPLIT = 4  # a word with at least this many pieces counts as over-split


class VocabularyCheck:
    """Counts over a corpus for one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.lengths = array("I")
        self.unalignable = 0
        self.examples: list[str] = []
        self.words = 0
        self.pieces_of_words = 0
        self.unknown: Counter[str] = Counter()
        self.oversplit: Counter[str] = Counter()

    def add(self, doc: Document) -> None:
        """Count one document."""
        pieces = self.tokenizer.encode(doc.text)
        self.lengths.append(len(pieces.ids))
        if doc.mentions:
            starts = np.array([m.start for m in doc.mentions])
            ends = np.array([m.end for m in doc.mentions])
            ok = piece_spans(pieces, starts, ends)[2]
            for i in np.flatnonzero(~ok):
                self.unalignable += 1
                if len(self.examples) < 10:
                    m = doc.mentions[i]
                    self.examples.append(f"{doc.id}: {m.text!r} at {m.start}:{m.end}")
        self._count_words(doc.text, pieces)

    def _count_words(self, text: str, pieces: Pieces) -> None:
        for i in np.flatnonzero(pieces.unknown):
            self.unknown[text[pieces.start[i] : pieces.end[i]]] += 1
        for match in WORD.finditer(text):
            word = match.group()
            if CJK.search(word):
                continue
            first = int(np.searchsorted(pieces.start, match.start(), side="left"))
            last = int(np.searchsorted(pieces.start, match.end(), side="left"))
            self.words += 1
            self.pieces_of_words += max(1, last - first)
            if last - first >= SPLIT:
                self.oversplit[word] += 1

    def summary(self) -> dict[str, Any]:
        """The counts as JSON values."""
        return {
            "unalignable": self.unalignable,
            "unalignable_examples": self.examples,
            "unknown_pieces": sum(self.unknown.values()),
            "unknown": dict(self.unknown.most_common(20)),
            "words": self.words,
            "pieces_per_word": round(self.pieces_of_words / self.words, 3) if self.words else None,
            "oversplit_words": sum(self.oversplit.values()),
            "oversplit": dict(self.oversplit.most_common(20)),
        }
