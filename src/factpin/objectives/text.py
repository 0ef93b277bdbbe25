"""Text: the pieces an objective learns from, and Vocabulary: the numbers that mean something by themselves.

    ids      vocabulary numbers of the pieces                          (n,)
    words    the word each piece belongs to                            (n,) equal neighbours: one word; -1: none
    ends     one past the last piece of each sentence                  (s,) rising, the last is n
    phrases, entities, documents                                       like words, where they are known
    before   the pieces before the text, which a network remembers     (m,)
    foreign  another document, for objectives that ask whether two parts belong together
    target   what is to be said of the text, where pairs are learned from                (t,)

A Text has no special tokens: objectives put them in, so none is chosen unless an objective means it (UniLM).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, cast

import numpy as np

from factpin.errors import BadInput
from factpin.layers.masks import Ints
from factpin.tokens import Pieces
from factpin.tokens.windows import sentence_starts

Spans = Sequence[tuple[int, int]]
Unit = Literal["pieces", "words", "phrases", "entities", "sentences", "documents"]
Chance = np.random.Generator


def chance_of(seed: int, epoch: int, index: int, document: int = 0) -> Chance:
    """The chance of one text in one epoch; nothing else decides what an objective makes of it.

    `document`: which of the documents of a text, where each has a view of its own.
    """
    return np.random.default_rng([seed, epoch, index, document] if document else [seed, epoch, index])


def nothing() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Text:
    """The pieces of a text, with its sentences, words and known phrases."""

    ids: Ints
    words: Ints
    ends: Ints
    phrases: Ints | None = None
    entities: Ints | None = None
    documents: Ints | None = None
    before: Ints = field(default_factory=nothing)
    foreign: "Text | None" = None
    target: Ints | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        for name in ("words", "phrases", "entities", "documents"):
            column = getattr(self, name)
            if column is not None and len(column) != n:
                raise BadInput(f"A text of {n} pieces needs {n} numbers in `{name}`, got {len(column)}.")
        borders = np.concatenate([[0], self.ends])
        if (np.diff(borders) <= 0).any() or borders[-1] != n:
            raise BadInput(f"Sentence ends rise from 1 to the number of pieces, {n}; got {list(self.ends)}.")

    def __len__(self) -> int:
        return len(self.ids)

    def units(self, kind: Unit) -> list[Ints]:
        """The pieces of each unit, in order. A piece outside every unit of that kind counts by its word, else alone."""
        at = np.arange(len(self))
        if kind == "pieces":
            return list(at[:, None])
        if kind == "sentences":
            return np.split(at, self.ends[:-1])
        wanted = self.words if kind == "words" else cast(Ints | None, getattr(self, kind))
        if wanted is None:
            raise BadInput(f"This objective chooses {kind}, and the text does not say where they are. Give `{kind}`.")
        level, number = np.zeros_like(at), at.copy()
        for depth, column in enumerate((self.words, wanted), 1):
            level[column >= 0], number[column >= 0] = depth, column[column >= 0]
        return np.split(at, np.flatnonzero((np.diff(level) != 0) | (np.diff(number) != 0)) + 1)

    def by_document(self) -> list["Text"]:
        """The documents that were packed into the text, each as a text; the whole where none are marked."""
        if self.documents is None:
            return [self]
        parts = [self.part(int(unit[0]), int(unit[-1]) + 1) for unit in self.units("documents")]
        return [replace(part, before=nothing() if k else self.before, foreign=self.foreign)
                for k, part in enumerate(parts)]  # fmt: skip

    def part(self, start: int, end: int) -> "Text":
        """Pieces start:end, without memory and foreign text."""
        inside = self.ends[(self.ends > start) & (self.ends < end)] - start
        phrases, entities, documents = (
            None if column is None else column[start:end] for column in (self.phrases, self.entities, self.documents)
        )
        ends = np.append(inside, end - start)
        return Text(self.ids[start:end], self.words[start:end], ends, phrases, entities, documents)


def text_of(
    pieces: Pieces, sentences: Spans, words: Spans, *, phrases: Spans | None = None, entities: Spans | None = None
) -> Text:
    """The Text of a tokenizer's pieces. Spans are characters, half-open; a piece belongs to the one it starts in."""
    starts = sentence_starts(pieces, sentences)
    return Text(
        pieces.ids.astype(np.int64),
        _numbers(pieces, words),
        np.array([*starts[1:], len(pieces)], np.int64),
        None if phrases is None else _numbers(pieces, phrases),
        None if entities is None else _numbers(pieces, entities),
    )


def _numbers(pieces: Pieces, spans: Spans) -> Ints:
    """(n,) the span in which each piece starts, -1 outside. A span inside another one does not count."""
    outer: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outer or end > outer[-1][1]:
            outer.append((start, end))
    if not outer:
        return np.full(len(pieces), -1)
    starts, ends = np.array(outer, np.int64).T
    k = np.searchsorted(starts, pieces.start, side="right") - 1
    return np.where((k >= 0) & (pieces.start < ends[k]), k, -1)


def join(parts: Sequence[Text]) -> Text:
    """The parts in a row; no unit reaches from one into the next."""
    starts = np.cumsum([0, *(len(part) for part in parts)])
    ends = np.concatenate([part.ends + start for part, start in zip(parts, starts, strict=False)])
    return Text(
        np.concatenate([part.ids for part in parts]),
        _apart([part.words for part in parts]),
        ends,
        _known([(len(part), part.phrases) for part in parts]),
        _known([(len(part), part.entities) for part in parts]),
        _known([(len(part), part.documents) for part in parts]),
    )


def _known(columns: list[tuple[int, Ints | None]]) -> Ints | None:
    """The columns of all parts, given with their lengths; None where no part has one."""
    if all(column is None for _, column in columns):
        return None
    return _apart([np.full(n, -1) if column is None else column for n, column in columns])


def _apart(columns: list[Ints]) -> Ints:
    """One column whose numbers differ from part to part."""
    shifts = np.cumsum([0, *(column.max(initial=0) + 1 for column in columns)])
    return np.concatenate([np.where(c >= 0, c + shift, -1) for c, shift in zip(columns, shifts, strict=False)])


@dataclass(frozen=True)
class Vocabulary:
    """Which numbers are special. `cls` and `sep` are also <s> and </s>; `end` closes what a decoder says."""

    size: int
    pad: int
    cls: int
    sep: int
    mask: int
    gap: int  # in place of a whole sentence: PEGASUS's [MASK1], GLM's [sMASK]
    tail: int  # in place of most of a document: GLM's [gMASK]
    start: int  # the first thing a decoder reads of a blank: GLM's [sop]
    end: int  # EOS, GLM's [eop]
    sentinels: tuple[int, ...]  # one a blank, first blank first: T5's size - 1, size - 2, …
    others: tuple[int, ...] = ()  # further special tokens, never drawn by chance
    stop: frozenset[int] = frozenset()  # pieces that say little: sentences are compared without them

    @cached_property
    def specials(self) -> frozenset[int]:
        names = (self.pad, self.cls, self.sep, self.mask, self.gap, self.tail, self.start, self.end)
        return frozenset((*names, *self.sentinels, *self.others))

    @cached_property
    def ordinary(self) -> Ints:
        """The numbers that chance may draw."""
        return np.setdiff1d(np.arange(self.size), list(self.specials))

    def refuse_specials(self, text: Text) -> None:
        """A special token in a text could be chosen, or taken for a marker."""
        found = np.flatnonzero(np.isin(text.ids, list(self.specials)))
        if len(found):
            raise BadInput(
                f"A text holds no special tokens, but piece {found[0]} is {text.ids[found[0]]}. "
                "Leave the tokenizer's frame away: objectives put in their own."
            )
