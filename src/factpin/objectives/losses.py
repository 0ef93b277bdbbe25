"""Losses: the loss list of a row over a batch; one number and its parts.

    loss = Σ weight · sum / count            each sum over all cells of the batch that are asked

    over    targets: what is asked    targets_and_one: one more (SpanBERT)    tokens: all cells    texts: labelled texts

Counts are those of the batch, not of a text. Where nothing is asked, the sum is 0 and so is the part: a batch of short
texts may have no target (RoBERTa).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax

from factpin.encoders.own.batch import Batch
from factpin.encoders.own.network import Backbone, Memory, States
from factpin.errors import BadInput
from factpin.layers.masks import Ints
from factpin.objectives.heads import Heads
from factpin.objectives.objective import Loss, Objective
from factpin.objectives.view import NO_LOSS


@dataclass(frozen=True, eq=False)
class Part:
    """One loss of a batch."""

    sum: Tensor  # () over what is asked
    count: int  # what it is divided by

    @property
    def value(self) -> Tensor:
        return self.sum / max(self.count, 1)


@dataclass(frozen=True, eq=False)
class Losses:
    """The losses of a batch, and their weighted sum."""

    total: Tensor  # ()
    parts: Mapping[str, Part]  # by head and stream, such as "words query"
    states: States

    def numbers(self) -> dict[str, float]:
        return {name: float(part.value.detach()) for name, part in self.parts.items()}


class Learner(nn.Module):
    """A reader and its heads: what is trained. `smoothing` of the labels of words is in place of the row's own.

    Labels are smoothed while it learns; a loss that judges is a plain one.
    """

    def __init__(self, encoder: Backbone, head: Heads, *, smoothing: float | None = None) -> None:
        super().__init__()
        self.encoder, self.head, self.smoothing = encoder, head, smoothing
        self.rows: frozenset[str] = frozenset()  # the names of what it learned, where a folder has them

    def forward(
        self, batch: Batch, objective: Objective, memory: Memory | None = None, *, keep: int | None = None
    ) -> Losses:
        """`memory` and `keep` as in Network."""
        weigh = any(loss.head == "copy" for loss in objective.losses)
        states = self.encoder(batch, memory, keep=keep, weigh=weigh)
        parts = {f"{loss.head} {loss.stream}": self.part(loss, objective, batch, states) for loss in objective.losses}
        return total(objective, parts, states)

    def part(self, loss: Loss, objective: Objective, batch: Batch, states: States) -> Part:
        match loss.head:
            case "words":
                smoothing = objective.smoothing if self.smoothing is None else self.smoothing
                summed, asked = self._words(batch, states, loss.stream, smoothing if self.training else 0.0)
            case "pair":
                summed, asked = self._pair(batch, states, loss.stream, objective.classes)
            case "boundary":
                summed, asked = self._boundary(batch, states, loss.stream)
            case "copy":
                summed, asked = self._copy(batch, states, loss.stream)
            case "replaced":
                raise BadInput("The head 'replaced' judges a generator's draws. Make an Electra, not a Learner.")
        return Part(summed, counted(loss, asked, batch))

    def log_p(
        self,
        batch: Batch,
        stream: str,
        cells: Ints,
        *,
        encoded: Tensor | None = None,
        memory: Memory | None = None,
    ) -> Tensor:
        """What may come at one cell of each text, cells (B,) -> log p (B, V). `encoded`, `memory` as in Network."""
        states = self.encoder(batch, memory, weigh=self.head.copy is not None, encoded=encoded)
        E, at = self.encoder.words.weight, torch.as_tensor(cells, device=states.hidden[stream].device)
        rows = torch.arange(len(at), device=at.device)
        h = states.hidden[stream][rows, at][:, None]  # (B, 1, D)
        logits = self.head.words(h, E)  # (B, 1, V)
        if self.head.copy is None or states.read is None:
            return log_softmax(logits, dim=-1)[:, 0]
        a, source = states.read[rows, at][:, None], torch.as_tensor(batch.streams["encoder"].ids, device=at.device)
        shares = self.head.copy.shares(h, states.hidden["encoder"], a)
        return self.head.copy.of_all(logits, shares, a, source)[:, 0]

    def _words(self, batch: Batch, states: States, stream: str, smoothing: float) -> tuple[Tensor, int]:
        h = states.hidden[stream]
        y = torch.as_tensor(batch.streams[stream].labels, device=h.device)
        asked = y != NO_LOSS
        logits = self.head.words(h[asked], self.encoder.words.weight)  # (T, V): the others are never computed
        return _cross_entropy(logits, y[asked], smoothing), len(logits)

    def _pair(self, batch: Batch, states: States, stream: str, classes: int) -> tuple[Tensor, int]:
        h = states.hidden[stream][:, 0]
        y = torch.as_tensor(batch.pair, device=h.device)
        asked = y != NO_LOSS
        logits = self.head.pairs[str(classes)](h[asked])
        return _cross_entropy(logits, y[asked]), len(logits)

    def _boundary(self, batch: Batch, states: States, stream: str) -> tuple[Tensor, int]:
        """Pieces beyond the head's offsets are not asked for."""
        if self.head.boundary is None:
            raise BadInput("These heads have no boundary. Make them for a row that has one.")
        h, labels = states.hidden[stream], batch.streams[stream].labels
        inside = [(b, start, end, i) for b, start, end in batch.spans.tolist() for i in range(end - start)]
        near = [one for one in inside if one[3] < self.head.config.offsets]
        b, start, end, offset = np.array(near, np.int64).reshape(-1, 4).T
        y = torch.as_tensor(labels[b, start + offset], device=h.device)
        at = torch.as_tensor(offset, device=h.device)
        logits = self.head.boundary(h[b, start - 1], h[b, end], at, self.encoder.words.weight)
        return _cross_entropy(logits, y), len(logits)

    def _copy(self, batch: Batch, states: States, stream: str) -> tuple[Tensor, int]:
        h, a = states.hidden[stream], states.read
        if self.head.copy is None or a is None:
            raise BadInput("These heads cannot copy, or the reader has no decoder. Make both for a row that copies.")
        y = torch.as_tensor(batch.streams[stream].labels, device=h.device)
        source = torch.as_tensor(batch.streams["encoder"].ids, device=h.device)
        asked = y != NO_LOSS
        logits = self.head.words(h[asked], self.encoder.words.weight)  # (T, V)
        said = -cross_entropy(logits, y[asked], reduction="none")
        mine, theirs = self.head.copy.shares(h, states.hidden["encoder"], a)
        same = source[:, None] == y[..., None]  # (B, n, m)
        log_p = self.head.copy.of_labels(said, (mine[asked], theirs[asked]), a[asked], same[asked])
        return -log_p.sum(), len(logits)


def counted(loss: Loss, asked: int, batch: Batch) -> int:
    """What the sum of a loss is divided by."""
    match loss.over:
        case "targets" | "texts":
            return asked
        case "targets_and_one":
            return asked + 1
        case "tokens":
            return int(batch.streams[loss.stream].real.sum())


def total(objective: Objective, parts: Mapping[str, Part], states: States) -> Losses:
    weighted = [loss.weight * parts[f"{loss.head} {loss.stream}"].value for loss in objective.losses]
    return Losses(torch.stack(weighted).sum(), parts, states)


def _cross_entropy(logits: Tensor, y: Tensor, smoothing: float = 0.0) -> Tensor:
    return cross_entropy(logits, y, reduction="sum", label_smoothing=smoothing)
