"""NameBatch: the mentions of a batch of texts, with the entities that each can refer to.

    B texts, C mentions at most, M candidates at most

Rows of an entity table: NULL for "none of the candidates", MASK for a mention that is hidden, then the entities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

NULL, MASK, FIRST = 0, 1, 2  # rows of a table of entities
UNKNOWN = -100  # gold of a mention that nothing is known about
NIL = -1  # gold of a mention that refers to none of its candidates


@dataclass(frozen=True, slots=True)
class MentionSpan:
    """Tokens first to last (both included) of a text, and the rows of its candidates with their priors."""

    first: int
    last: int
    candidates: tuple[int, ...] = ()
    priors: tuple[float, ...] = ()
    gold: int = UNKNOWN  # the number of the right candidate, NIL or UNKNOWN
    entity: int = UNKNOWN  # the row of the entity


@dataclass(frozen=True, eq=False, slots=True)
class NameBatch:
    """Mentions of texts side by side."""

    first: Tensor  # (B, C) tokens
    last: Tensor  # (B, C)
    real: Tensor  # (B, C) False at padding
    candidates: Tensor  # (B, C, M) rows
    priors: Tensor  # (B, C, M)
    offered: Tensor  # (B, C, M) False at padding
    gold: Tensor  # (B, C) which candidate, NIL or UNKNOWN
    entity: Tensor  # (B, C) the row of the entity, or UNKNOWN

    @property
    def count(self) -> int:
        """How many mentions there are."""
        return int(self.real.sum())

    @property
    def places(self) -> Tensor:
        """Of every mention: text, first and last token (m, 3)."""
        text, number = self.real.nonzero(as_tuple=True)
        return torch.stack([text, self.first[text, number], self.last[text, number]], dim=1)


def collate_mentions(texts: Sequence[Sequence[MentionSpan]]) -> NameBatch:
    """Mentions of texts side by side."""
    many = max([1, *map(len, texts)])
    most = max([1, *(len(one.candidates) for text in texts for one in text)])
    shape = (len(texts), many)
    first, last = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    real = torch.zeros(shape, dtype=torch.bool)
    gold, entity = (torch.full(shape, UNKNOWN) for _ in range(2))
    candidates = torch.full((*shape, most), NULL)
    priors, offered = torch.zeros(*shape, most), torch.zeros(*shape, most, dtype=torch.bool)
    for b, text in enumerate(texts):
        for c, one in enumerate(text):
            first[b, c], last[b, c], real[b, c] = one.first, one.last, True
            gold[b, c], entity[b, c] = one.gold, one.entity
            n = len(one.candidates)
            candidates[b, c, :n] = torch.tensor(one.candidates, dtype=torch.long)
            priors[b, c, :n] = torch.tensor(one.priors)
            offered[b, c, :n] = True
    return NameBatch(first, last, real, candidates, priors, offered, gold, entity)
