"""Tags of a linear chain: spans that do not overlap <-> one tag for each token.

Tag 0 is O (outside). Label l has a block of tags after it: B, I for the scheme "bio", B, I, E, S for "bioes"
(begin, inside, end, single). Every sequence of tags that `legal` allows is exactly one set of spans.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from factpin.arrays import Bools, Ints

Scheme = Literal["bio", "bioes"]


@dataclass(frozen=True)
class Tags:
    """The tags of a scheme for so many labels."""

    labels: int
    scheme: Scheme

    @property
    def letters(self) -> str:
        """Of one label."""
        return "BI" if self.scheme == "bio" else "BIES"

    def __len__(self) -> int:
        return 1 + len(self.letters) * self.labels

    def kinds(self) -> tuple[str, list[int]]:
        """The letter and the label of every tag, O first; the label of O is -1."""
        return "O" + self.letters * self.labels, [-1] + [n for n in range(self.labels) for _ in self.letters]

    def legal(self) -> tuple[Bools, Bools, Bools]:
        """Which steps are allowed: transitions (T, T), start (T,), end (T,)."""
        letters, labels = self.kinds()
        opens = np.array([letter in "OBS" for letter in letters])  # may follow a closed span
        goes_on = np.array([letter in "IE" for letter in letters])
        closed = np.array([letter in ("OBI" if self.scheme == "bio" else "OES") for letter in letters])
        accepts = np.array([letter in "BI" for letter in letters])  # a span is open after this tag
        same = np.equal.outer(labels, labels)
        transitions = (closed[:, None] & opens) | (accepts[:, None] & goes_on & same)
        return transitions, opens, closed

    def spans(self, path: Ints, length: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Legal tags (B, n), read up to each length (B,) -> row, label, first and last step of the spans."""
        path = np.where(np.arange(path.shape[1]) < length[:, None], path, 0)
        letter = np.where(path > 0, (path - 1) % len(self.letters), -1)  # -1 for O
        first = (letter == 0) | (letter == 3)
        if self.scheme == "bio":
            after = np.pad(letter[:, 1:], ((0, 0), (0, 1)), constant_values=-1)
            final = (letter >= 0) & (after != 1)
        else:
            final = letter >= 2
        row, start = np.nonzero(first)
        end = np.nonzero(final)[1]  # the path is legal, so the k-th end closes the k-th beginning
        return row, (path[row, start] - 1) // len(self.letters), start, end
