"""Targets of coreference: the candidates of every mention, and which of them are of the same entity."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.arrays import Bools, Ints
from factpin.documents import Document, Mention, Unread
from factpin.language import coreference as rules
from factpin.language.coreference import MentionPairs, candidates, ordered
from factpin.tokens import Pieces


@dataclass(frozen=True)
class Targets:
    """The pairs of mentions of a document. Mentions are counted in the order of the text."""

    first: Ints  # (M,) piece; 0 where the mention is not read
    last: Ints  # (M,) piece, inclusive; 0 where the mention is not read
    read: Bools  # (M,) some piece holds it
    candidates: MentionPairs  # without mentions that are not read
    gold: Bools  # (M, K)
    unread: tuple[Mention, ...]  # neither scored nor a candidate

    def columns(self) -> list[NDArray[Any]]:
        """All that is learned from it."""
        asked = self.candidates
        return [self.first, self.last, asked.antecedent, asked.distance, asked.features, self.gold]

    def tokens(self, prefix: int) -> Ints:
        """(M, 2) first and last token of every mention; `prefix` special tokens precede the pieces."""
        return np.where(self.read[:, None], np.stack((self.first, self.last), axis=1) + prefix, 0)

    def not_read(self) -> tuple[Unread, ...]:
        """What the coverage of the document says of mentions that were not read."""
        why = "no piece of the vocabulary holds the mention"
        return tuple(Unread(m.start, m.end, f"{why} {m.text!r}") for m in self.unread)


def targets(doc: Document, pieces: Pieces, most: int) -> Targets:
    """At most `most` candidates for each mention, with gold from the entities that the document brings."""
    mentions, asked = ordered(doc), candidates(doc, most=most)
    first, last = _pieces(pieces, mentions)
    read = first <= last
    asked = replace(asked, antecedent=np.where(read[:, None] & read[asked.antecedent], asked.antecedent, -1))
    return Targets(
        np.where(read, first, 0),
        np.where(read, last, 0),
        read,
        asked,
        rules.targets(doc, asked),
        tuple(m for m, good in zip(mentions, read, strict=True) if not good),
    )


def _pieces(pieces: Pieces, mentions: Sequence[Mention]) -> tuple[Ints, Ints]:
    """First and last piece (M,) that share a character with each mention; first > last where there is none."""
    text = np.flatnonzero(pieces.start < pieces.end)  # pieces that carry characters
    start, end = (np.array([getattr(m, side) for m in mentions], np.int64) for side in ("start", "end"))
    i = np.searchsorted(pieces.end[text], start, side="right")
    j = np.searchsorted(pieces.start[text], end, side="left") - 1
    piece = np.append(text, [len(pieces), -1])  # beyond the last, before the first
    return np.where(i <= j, piece[i], 1), np.where(i <= j, piece[j], 0)
