"""An encoder with ATLOP on it: marked documents of any number of windows in, scores of pairs of entities out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from factpin.encoders import Encoder
from factpin.encoders.merge_windows import AttentionRows, WindowLayout, merge_hidden, merge_rows, rows_of
from factpin.heads.atlop import Asked, AtlopGold, AtlopScores, asked_of, gold_of
from factpin.layers.dropout import Dropout
from factpin.models.reading import batched
from factpin.tasks.document_relations import Targets
from factpin.tokens import Tokenizer, Window


@dataclass(frozen=True)
class Marked:
    """A marked document, ready to be read."""

    windows: tuple[NDArray[np.int32], ...]  # ids of each
    layout: WindowLayout
    rows: AttentionRows
    asked: Asked
    gold: AtlopGold

    def __len__(self) -> int:
        """Tokens of all windows."""
        return sum(len(ids) for ids in self.windows)


def marked(targets: Targets, windows: Sequence[Window], tokenizer: Tokenizer) -> Marked:
    """The document of these targets as these windows show it."""
    prefix = len(tokenizer.prefix)
    suffix = tokenizer.frame_size - prefix
    layout = WindowLayout(tuple(windows), len(targets.pieces), prefix, suffix)
    return Marked(
        tuple(targets.pieces.ids[w.first : w.last] for w in windows),
        layout,
        rows_of(layout, torch.from_numpy(targets.place)),
        asked_of(targets, prefix, suffix),
        gold_of(targets),
    )


class DocumentModel(nn.Module):
    """Scores = head(the windows of each document, merged)."""

    def __init__(self, encoder: Encoder, head: nn.Module, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.head: Any = head  # Atlop
        self.dropout = Dropout(dropout)

    def scores(self, documents: Sequence[Marked], tokenizer: Tokenizer) -> list[AtlopScores]:
        """The scores of each document. Windows of all are read in batches of a token budget."""
        device = next(self.parameters()).device
        hidden: list[dict[int, Tensor]] = [{} for _ in documents]
        attention: list[dict[int, Tensor]] = [{} for _ in documents]
        for chosen, batch in batched([doc.windows for doc in documents], tokenizer):
            batch = batch.to(device)
            asked = [documents[d].rows.token[documents[d].rows.window == w] for d, w in chosen]
            rows = torch.cat([F.pad(t[:, None], (1, 0), value=i) for i, t in enumerate(asked)]).to(device)  # (T, 2)
            encoded = self.encoder(batch.ids, batch.mask, rows)
            vectors = self.dropout(encoded.hidden)  # (B, N, D)
            parts = torch.split(encoded.attention, [len(t) for t in asked])  # B x (t, heads, N)
            for i, (d, w) in enumerate(chosen):
                hidden[d][w], attention[d][w] = vectors[i], parts[i]
        return [
            self._score(doc, [hidden[d][w] for w in sorted(hidden[d])], [attention[d][w] for w in sorted(hidden[d])])
            for d, doc in enumerate(documents)
        ]

    def loss(self, example: tuple[Sequence[Marked], Tokenizer]) -> Tensor:
        """The mean loss over the pairs of these documents."""
        documents, tokenizer = example
        return self.head.loss(self.scores(documents, tokenizer), [doc.gold for doc in documents])

    def agreement(self, example: tuple[Sequence[Marked], Tokenizer]) -> tuple[Tensor, Tensor]:
        """R-Drop: the mean loss of two passes under dropout, and how far their scores are apart."""
        documents, tokenizer = example
        gold = [doc.gold for doc in documents]
        a, b = self.scores(documents, tokenizer), self.scores(documents, tokenizer)
        return (self.head.loss(a, gold) + self.head.loss(b, gold)) / 2, self.head.apart(a, b)

    def _score(self, doc: Marked, hidden: list[Tensor], attention: list[Tensor]) -> AtlopScores:
        device = hidden[0].device
        widest = max(rows.shape[2] for rows in attention)
        A = torch.cat([F.pad(rows, (0, widest - rows.shape[2])) for rows in attention])  # (T, heads, n)
        rows = AttentionRows(doc.rows.window.to(device), doc.rows.token.to(device), doc.rows.chosen.to(device))
        asked = doc.asked.to(device)
        return self.head(merge_hidden(hidden, doc.layout), merge_rows(A, rows, doc.layout, len(asked.place)), asked)
