"""ReaderModel: the network of a reader, for training and for the runtime torch."""

from typing import Any

import torch
from torch import Tensor, nn

from factpin.answers.pair_reader import PairBatch
from factpin.answers.pair_tensors import to_tensors
from factpin.arrays import Floats32
from factpin.encoders import Encoder
from factpin.layers.dropout import Dropout


class ReaderModel(nn.Module):
    """Scores = head(dropout(encoder(pairs)))."""

    def __init__(self, encoder: Encoder, head: nn.Module, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head  # a head with `dense`; the type of its scores is its own
        self.dropout = Dropout(dropout)

    def scores(self, batch: PairBatch) -> object:
        """The scores of the head for a batch."""
        ids, segments, mask, real = to_tensors(batch, next(self.parameters()).device)
        hidden = self.encoder(ids, mask, segments=segments).hidden  # (B, N, D)
        return self.head(self.dropout(hidden), real)

    @torch.no_grad()
    def table(self, batch: PairBatch) -> Floats32:
        """The scores (B, N, N) of answers that begin and end at tokens of a pair, -inf where none can be."""
        self.eval()
        found: Floats32 = self.head.dense(self.scores(batch))[:, 0].float().cpu().numpy()
        return found

    def loss(self, example: tuple[PairBatch, Any]) -> Tensor:
        """The mean loss over the pairs of a batch."""
        batch, gold = example
        return self.head.loss(self.scores(batch), gold)

    def agreement(self, example: tuple[PairBatch, Any]) -> tuple[Tensor, Tensor]:
        """R-Drop: the mean loss of two passes with dropout, and the distance between their scores."""
        batch, gold = example
        a, b = self.scores(batch), self.scores(batch)
        return (self.head.loss(a, gold) + self.head.loss(b, gold)) / 2, self.head.apart(a, b)
