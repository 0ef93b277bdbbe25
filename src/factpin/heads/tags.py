"""Tags of a linear chain: spans that do not overlap <-> one tag for each token.

Tag 0 is O (outside). Label l has a block of tags after it: B, I for the scheme "bio", B, I, E, S for "bioes"
(begin, inside, end, single). Every sequence of tags that `legal` allows stands for exactly one set of spans.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from factpin.layers.places import Places

Scheme = Literal["bio", "bioes"]


@dataclass(frozen=True)
class Tags:
    labels: int
    scheme: Scheme

    @property
    def letters(self) -> str:
        return "BI" if self.scheme == "bio" else "BIES"

    def __len__(self) -> int:
        return 1 + len(self.letters) * self.labels

    def kinds(self) -> tuple[str, list[int]]:
        """The letter and the label of every tag, O first; the label of O is -1."""
        return "O" + self.letters * self.labels, [-1] + [n for n in range(self.labels) for _ in self.letters]

    def legal(self) -> tuple[Tensor, Tensor, Tensor]:
        """Which steps are allowed: transitions (T, T), start (T,), end (T,), all bool."""
        letters, labels = self.kinds()
        opens = torch.tensor([letter in "OBS" for letter in letters])  # may follow a closed span
        goes_on = torch.tensor([letter in "IE" for letter in letters])
        closed = torch.tensor([letter in ("OBI" if self.scheme == "bio" else "OES") for letter in letters])
        accepts = torch.tensor([letter in "BI" for letter in letters])  # a span is open after this tag
        same = torch.tensor(labels)[:, None] == torch.tensor(labels)
        transitions = (closed[:, None] & opens) | (accepts[:, None] & goes_on & same)
        return transitions, opens, closed

    def encode(self, spans: Places, B: int, n: int) -> Tensor:
        """Spans of steps that do not overlap, last step inclusive -> tags (B, n)."""
        batch, label, start, end = spans.batch, spans.label, spans.start, spans.end
        change = torch.zeros(B, n + 1, dtype=torch.int64, device=batch.device)
        change.index_put_((batch, start), label + 1, accumulate=True)
        change.index_put_((batch, end + 1), -(label + 1), accumulate=True)
        owner = change.cumsum(dim=1)[:, :n]  # label + 1, or 0 outside
        letter = torch.ones_like(owner)  # I
        if self.scheme == "bioes":
            letter[batch, end] = 2  # E
        letter[batch, start] = 0  # B
        if self.scheme == "bioes":
            single = start == end
            letter[batch[single], start[single]] = 3  # S
        return torch.where(owner > 0, 1 + (owner - 1) * len(self.letters) + letter, 0)

    def decode(self, path: Tensor, length: Tensor) -> Places:
        """Legal tags (B, n), read up to each length (B,) -> spans of steps, last step inclusive."""
        steps = torch.arange(path.shape[1], device=path.device)
        path = path.masked_fill(steps >= length[:, None], 0)
        letter = torch.where(path > 0, (path - 1) % len(self.letters), -1)  # -1 for O
        first = (letter == 0) | (letter == 3)
        if self.scheme == "bio":
            after = torch.nn.functional.pad(letter[:, 1:], (0, 1), value=-1)
            final = (letter >= 0) & (after != 1)
        else:
            final = letter >= 2
        batch, start = first.nonzero().unbind(1)
        end = final.nonzero()[:, 1]  # the path is legal, so the k-th end closes the k-th beginning
        return Places(batch, (path[batch, start] - 1) // len(self.letters), start, end)
