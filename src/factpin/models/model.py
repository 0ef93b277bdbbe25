"""An encoder with a head on it: windows in, scores and losses out."""

from typing import Any

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.layers.dropout import Dropout
from factpin.models.reading import Batch


class Model(nn.Module):
    """Scores = head(dropout(encoder(batch)))."""

    def __init__(self, encoder: Encoder, head: nn.Module, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head  # of HEADS: each has scores of a type of its own
        self.dropout = Dropout(dropout)

    def scores(self, batch: Batch) -> object:
        """The head's factored scores."""
        batch = batch.to(next(self.parameters()).device)
        hidden = self.encoder(batch.ids, batch.mask).hidden  # (B, N, D)
        return self.head(self.dropout(hidden), batch.real)

    def loss(self, example: tuple[Batch, Any]) -> Tensor:
        """The mean loss over the batch's windows."""
        batch, gold = example
        return self.head.loss(self.scores(batch), gold)

    def agreement(self, example: tuple[Batch, Any]) -> tuple[Tensor, Tensor]:
        """R-Drop: the mean loss of two passes under dropout, and how far their scores are apart."""
        batch, gold = example
        a, b = self.scores(batch), self.scores(batch)
        loss = (self.head.loss(a, gold) + self.head.loss(b, gold)) / 2
        return loss, self.head.apart(a, b)

    @torch.no_grad()
    def predict(self, batch: Batch) -> Any:
        """The head's scores, without a gradient."""
        return self.scores(batch)
