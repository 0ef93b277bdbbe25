"""Two texts as one input: a question and a passage, with the special tokens that the model was trained with.

    BERT       [CLS] first [SEP] second [SEP]        segments 0 0 0 1 1
    RoBERTa    <s> first </s> </s> second </s>       segments all 0
    XLNet      first <sep> second <sep> <cls>        segments 0 0 1 1 2

The layout is that of the tokenizer's post-processor. A tokenizer without a layout for pairs gets BERT's, with the
special tokens that `frame` puts around a single text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import tokenizers

from factpin.errors import BadInput
from factpin.tokens.pieces import Bools, Ints, Pieces
from factpin.tokens.tokenizer import Tokenizer
from factpin.tokens.windows import Window, windows

LEAST = 16  # pieces of the second text that must fit beside the first
Specials = tuple[tuple[int, int], ...]  # (vocabulary number, segment) of every token


@dataclass(frozen=True, slots=True)
class FramedPair:
    """A framed pair. `real` is True at the pieces of the second text, which begin at `second_at`."""

    ids: Ints  # (n,)
    segments: Ints  # (n,)
    real: Bools  # (n,)
    second_at: int


@dataclass(frozen=True, slots=True)
class PairFrame:
    """The special tokens before, between and after two texts, and the segment of each text."""

    prefix: Specials
    middle: Specials
    suffix: Specials
    first: int
    second: int

    @property
    def size(self) -> int:
        """The number of special tokens in a pair."""
        return len(self.prefix) + len(self.middle) + len(self.suffix)

    def join(self, first: Ints, second: Ints) -> FramedPair:
        """The pieces of two texts as one input."""
        head = [*self.prefix, *((int(i), self.first) for i in first), *self.middle]
        rows = [*head, *((int(i), self.second) for i in second), *self.suffix]
        table = np.array(rows, np.int32).reshape(len(rows), 2)
        real = np.zeros(len(rows), np.bool_)
        real[len(head) : len(head) + len(second)] = True
        return FramedPair(table[:, 0].copy(), table[:, 1].copy(), real, len(head))


_frames: WeakKeyDictionary[Tokenizer, PairFrame] = WeakKeyDictionary()


def pair_frame(tokenizer: Tokenizer) -> PairFrame:
    """The layout that a tokenizer uses for pairs."""
    if tokenizer not in _frames:
        _frames[tokenizer] = _find_frame(tokenizer)
    return _frames[tokenizer]


def frame_pair(tokenizer: Tokenizer, first: Ints, second: Ints) -> FramedPair:
    """The pieces of two texts as one input."""
    return pair_frame(tokenizer).join(first, second)


def windows_beside(
    tokenizer: Tokenizer,
    first: Ints,
    second: Pieces,
    sentences: Sequence[tuple[int, int]],
    max_length: int,
    overlap: int,
) -> list[Window]:
    """The windows of a long second text, each of which fits into `max_length` tokens together with the first text."""
    room = max_length - pair_frame(tokenizer).size - len(first)
    if room < LEAST:
        raise BadInput(
            f"A question of {len(first)} tokens leaves {max(0, room)} of {max_length} for a passage; expected at "
            f"least {LEAST}. Shorten the question, or use a model that reads more at once."
        )
    return windows(second, sentences, room, min(overlap, room // 2), context="window")


def _find_frame(tokenizer: Tokenizer) -> PairFrame:
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    encoding = library.encode("a", "b")
    owners, pairs = encoding.sequence_ids, list(zip(encoding.ids, encoding.type_ids, strict=True))
    if 0 in owners and 1 in owners:
        begin, end = owners.index(0), len(owners) - owners[::-1].index(0)
        second, last = owners.index(1), len(owners) - owners[::-1].index(1)
        if end < second:
            types = encoding.type_ids
            return PairFrame(tuple(pairs[:begin]), tuple(pairs[end:second]), tuple(pairs[last:]), types[begin],
                             types[second])  # fmt: skip
    around = [(id, segment) for segment in (0, 1) for id in tokenizer.suffix]
    between, behind = around[: len(tokenizer.suffix)], around[len(tokenizer.suffix) :]
    return PairFrame(tuple((id, 0) for id in tokenizer.prefix), tuple(between), tuple(behind), 0, 1)
