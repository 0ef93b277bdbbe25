"""Entity memory (Entities as Experts): a table of entity vectors that is learned with the encoder.

    X1    token vectors below the memory                   (B, N, D)
    h     W_f [x_first; x_last] of every mention           (m, d)
    α     softmax(h E), over all entities in training and over the best `top` otherwise      (m, rows)
    X2    W_b Σ α e at the first token of a mention, 0 everywhere else
    X3    LayerNorm(X1 + X2)

    losses   mention detection: BIO of every token from X1; linking: -log α of the entity, where it is known

Tokens that start no mention get nothing from the memory, so X1 + X2 = X1 there. The memory is bypassed wherever the
name itself can carry what is to be learned: mentions have to be hidden now and then, and the memory has to be
read before other tokens have seen the name.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.knowledge.mentions import FIRST, UNKNOWN, NameBatch

OUTSIDE, BEGIN, INSIDE = 0, 1, 2  # tags of mention detection


@dataclass(frozen=True)
class EntityMemoryConfig:
    """The sizes of an entity memory."""

    size: int = 256  # of an entity vector
    top: int = 100  # entities that are mixed when it does not learn


class EntityMemory(nn.Module):
    """A table of entities, read by mentions."""

    def __init__(self, width: int, rows: int, config: EntityMemoryConfig) -> None:
        """rows: the number of entities, and two: one row for no entity and one for a hidden one."""
        super().__init__()
        self.config = config
        self.entities = nn.Embedding(rows, config.size)
        nn.init.normal_(self.entities.weight, std=config.size**-0.5)
        self.ask = nn.Linear(2 * width, config.size)
        self.answer = nn.Linear(config.size, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.tags = nn.Linear(width, 3)

    def forward(self, hidden: Tensor, mentions: NameBatch) -> tuple[Tensor, Tensor]:
        """X1 (B, N, D) -> X3 (B, N, D) and the scores of all entities (m, rows), a row for each real mention."""
        scores = self.scores(hidden, mentions)
        return self.norm(hidden + self.read(hidden, scores, mentions)), scores

    def scores(self, hidden: Tensor, mentions: NameBatch) -> Tensor:
        """The score of every entity for every mention (m, rows); NULL and MASK cannot be meant."""
        asked = self.ask(ends_of(hidden, mentions))  # (m, d)
        scores = asked @ self.entities.weight.T  # (m, rows)
        return torch.cat([scores.new_full((len(scores), FIRST), float("-inf")), scores[:, FIRST:]], dim=1)

    def read(self, hidden: Tensor, scores: Tensor, mentions: NameBatch) -> Tensor:
        """X2 (B, N, D): what the memory adds."""
        added = torch.zeros_like(hidden)
        if not len(scores):
            return added
        text, first, _ = mentions.places.unbind(dim=1)
        return added.index_put((text, first), self.answer(self.mix(scores)).to(hidden.dtype), accumulate=True)

    def mix(self, scores: Tensor) -> Tensor:
        """Σ α e (m, d)."""
        top = min(self.config.top, scores.shape[1] - FIRST)
        if self.training or top == scores.shape[1] - FIRST:
            found: Tensor = scores.softmax(dim=-1) @ self.entities.weight
            return found
        best, which = scores.topk(top, dim=-1)  # (m, top)
        return (best.softmax(dim=-1)[:, None] @ self.entities(which)).squeeze(1)

    def detection_loss(self, hidden: Tensor, mentions: NameBatch, real: Tensor) -> Tensor:
        """Cross entropy of the tags B, I and O over real tokens (B, N)."""
        found: Tensor = cross_entropy(self.tags(hidden)[real], tags_of(mentions, real.shape[1])[real])
        return found


def ends_of(hidden: Tensor, mentions: NameBatch) -> Tensor:
    """[x_first; x_last] of every mention (m, 2 D)."""
    text, first, last = mentions.places.unbind(dim=1)
    return torch.cat([hidden[text, first], hidden[text, last]], dim=-1)


def linking_loss(scores: Tensor, mentions: NameBatch) -> Tensor:
    """-log α of the entity of every mention, where it is known."""
    entity = mentions.entity[mentions.real]  # (m,)
    known = entity != UNKNOWN
    return cross_entropy(scores[known], entity[known]) if known.any() else scores[:, FIRST:].sum() * 0.0


def tags_of(mentions: NameBatch, tokens: int) -> Tensor:
    """The tags of all tokens (B, N)."""
    at = torch.arange(tokens, device=mentions.first.device)
    inside = (at > mentions.first[..., None]) & (at <= mentions.last[..., None]) & mentions.real[..., None]  # (B, C, N)
    begin = (at == mentions.first[..., None]) & mentions.real[..., None]
    return torch.where(begin.any(1), BEGIN, torch.where(inside.any(1), INSIDE, OUTSIDE))


def spans_of_tags(tags: Tensor, real: Tensor) -> list[list[tuple[int, int]]]:
    """The mentions (first, last) that tags (B, N) say; an I behind an O starts none."""
    found = []
    for row, shown in zip(tags.tolist(), real.tolist(), strict=True):
        spans: list[tuple[int, int]] = []
        for i, (tag, here) in enumerate(zip(row, shown, strict=True)):
            if here and tag == BEGIN:
                spans.append((i, i))
            elif here and tag == INSIDE and spans and spans[-1][1] == i - 1:
                spans[-1] = (spans[-1][0], i)
        found.append(spans)
    return found
