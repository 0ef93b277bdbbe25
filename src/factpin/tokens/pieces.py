"""Pieces: a text split by a tokenizer, each piece with its characters in the original text.

    ids      vocabulary numbers                     (n,) int32
    start    first character of a piece             (n,) int32
    end      one past its last character            (n,) int32
    unknown  not in the vocabulary                  (n,) bool

`start` and `end` never decrease from one piece to the next. Several pieces can share a character (the bytes of an
emoji, the letters of ㍿). A piece without text, such as a lone ▁, has start == end.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """The pieces of a text, as columns."""

    text: str
    ids: Ints
    start: Ints
    end: Ints
    unknown: Bools

    def __len__(self) -> int:
        return len(self.ids)

    def surfaces(self) -> list[str]:
        """The characters of every piece in the text."""
        return [self.text[s:e] for s, e in zip(self.start.tolist(), self.end.tolist(), strict=True)]


def join(text: str, parts: list[tuple[int, Pieces]]) -> Pieces:
    """The pieces of a text from those of its parts, each given with the offset of the part."""
    if not parts:
        none = np.zeros(0, np.int32)
        return Pieces(text, none, none, none, np.zeros(0, np.bool_))
    return Pieces(
        text,
        np.concatenate([part.ids for _, part in parts]),
        np.concatenate([part.start + np.int32(at) for at, part in parts]),
        np.concatenate([part.end + np.int32(at) for at, part in parts]),
        np.concatenate([part.unknown for _, part in parts]),
    )
