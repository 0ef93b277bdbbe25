"""What the proofs of knowledge layers share: a small transformer with a place between its layers, and its training."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from factpin.knowledge.mentions import MentionSpan, NameBatch, collate_mentions
from proofs import school

WIDTH = 64
Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class DrawnWeights:
    """What a card draws: how much each question reads of each column."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]


class SmallReader(nn.Module):
    """Words and positions, then layers; `change` is applied after layer number `after`, 0 for the words."""

    def __init__(self, words: int, longest: int, layers: int = 2, width: int = WIDTH) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(longest, width)
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=width**-0.5)
        self.first = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True) for _ in range(layers)
        )

    def forward(self, ids: Tensor, change: Change | None = None, after: int = 0) -> Tensor:
        """ids (B, N) -> (B, N, D)."""
        hidden: Tensor = self.first(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        for number, layer in enumerate((None, *self.layers)):
            hidden = hidden if layer is None else layer(hidden)
            if change is not None and number == after:
                hidden = change(hidden)
        return hidden


def one_mention(at: int, rows: Iterable[int]) -> NameBatch:
    """A batch with a mention of one token in every text, and its entity."""
    return collate_mentions([[MentionSpan(at, at, entity=int(row))] for row in rows])


def learn(parameters: Iterable[nn.Parameter], loss: Callable[[int], Tensor], steps: int, rate: float = 3e-3) -> None:
    """AdamW with a linear decay; loss(step)."""
    steps = school.few(steps)
    chosen = list(parameters)
    optimiser = torch.optim.AdamW(chosen, lr=rate)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min((step + 1) / 20, (steps - step) / steps)
        optimiser.zero_grad()
        loss(step).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(chosen, 1.0)
        optimiser.step()
