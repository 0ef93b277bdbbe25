"""EventLinker: spans that play a role in an event, and links between the spans of one event.

    H       token vectors                                  (B, N, D)
    real    True at text                                   (B, N)
    spans   Efficient GlobalPointer over C classes         (B, C, N, N)   > 0: tokens i..j play this role in an event
    heads   Efficient GlobalPointer of one class, "link"   (B, 1, N, N)   > 0: i and j begin two arguments of an event
    tails   the same for last tokens                       (B, 1, N, N)   > 0: i and j end two arguments of an event

    a and b are linked where spans, spans, heads and tails at their tokens are all above the threshold; the score of the
    link is the least of the four. The loss is the mean of the multi-label losses of all C + 2 classes.

A class is (event type, role): first the triggers of all types that have them, then the arguments. There are hundreds in
DuEE, so `spans` is efficient too, and each class weighs the same: a mean of three means would give one link the weight
of all of them. tasks/events builds events from spans and links.
Links have no direction: heads and tails keep their triangle, and a link is the cell of the smaller and the larger
token. So a pair has one score, half as many cells must be kept down, and no two directions can disagree. On the
diagonal are arguments that begin or end together, and the roles of one span. Only `spans` rotates, unless `rope`.
Differs from bojone/GPLinker (duee_v1.py): two triggers are never linked, special tokens are masked in training too, and
a class without gold is not taught the cell of the first special token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from factpin.errors import BadInput
from factpin.heads.arrays import flags, indices
from factpin.heads.cells import Cells
from factpin.heads.efficient_global_pointer import (
    EfficientGlobalPointer,
    EfficientGlobalPointerConfig,
    EfficientGlobalPointerScores,
)
from factpin.heads.gplinker import TripleCells
from factpin.heads.inherit import Names
from factpin.tasks.events.find import EventScores
from factpin.tasks.events.labels import Labels
from factpin.tasks.events.targets import Targets


@dataclass(frozen=True)
class EventLinkerConfig:
    """Settings of EventLinker."""

    triggers: tuple[str, ...]  # event types whose triggers are annotated; none: events have no triggers
    roles: tuple[tuple[str, str], ...]  # (event type, role)
    head_size: int = 64
    rope: bool = False  # of heads and tails; spans are always rotated
    max_span: int | None = None  # tokens of the widest span; None: any
    bias: Literal["qk", "hidden"] = "qk"


@dataclass(frozen=True)
class EventLinkerScores:
    """Scores of a batch: spans, and links at first and at last tokens."""

    spans: EfficientGlobalPointerScores
    heads: EfficientGlobalPointerScores
    tails: EfficientGlobalPointerScores


class EventLinker(nn.Module):
    """The head that finds the spans of events and links those of the same event."""

    default_threshold: ClassVar[float] = 0.0
    type_of: Tensor  # (C,) the event type of a class
    is_trigger: Tensor  # (C,) which classes are triggers

    def __init__(self, config: EventLinkerConfig, width: int) -> None:
        super().__init__()
        self.config = config
        labels = Labels(config.triggers, config.roles)
        index = {type: t for t, type in enumerate(labels.types)}
        self.register_buffer("type_of", torch.tensor([index[t] for t, _ in labels.classes]).long(), persistent=False)
        self.register_buffer("is_trigger", torch.arange(len(labels.classes)) < len(config.triggers), persistent=False)
        spans = EfficientGlobalPointerConfig(labels.names, config.head_size, max_span=config.max_span, bias=config.bias)
        links = EfficientGlobalPointerConfig(("link",), config.head_size, config.rope, bias=config.bias)
        self.spans = EfficientGlobalPointer(spans, width)
        self.heads = EfficientGlobalPointer(links, width)
        self.tails = EfficientGlobalPointer(links, width)

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        spans = {f"spans.{name}": rows for name, rows in self.spans.named_rows().items()}
        links = {
            f"{part}.{name}": rows for name, rows in self.heads.named_rows().items() for part in ("heads", "tails")
        }
        return spans | links

    def gold(self, targets: Sequence[Targets], shift: int) -> TripleCells:
        """The targets of a batch of windows; `shift` special tokens precede the text of each."""
        return gold_of(targets, shift)

    def forward(self, H: Tensor, real: Tensor) -> EventLinkerScores:
        """H (B, N, D), real (B, N) -> scores of spans, heads and tails."""
        return EventLinkerScores(self.spans(H, real), self.heads(H, real), self.tails(H, real))

    def loss(self, scores: EventLinkerScores, gold: TripleCells) -> Tensor:
        """The mean over texts and all classes, the two of links among them; `gold_of` gives gold."""
        gold = gold.to(scores.spans.real.device)
        spans = self.spans.loss(scores.spans, gold.spans)  # refuses spans that cannot be
        self._check(gold)
        heads = self.heads.loss(scores.heads, _links_of(gold, gold.spans.start))
        tails = self.tails.loss(scores.tails, _links_of(gold, gold.spans.end))
        return self._mean(spans, heads, tails)

    def dense(self, scores: EventLinkerScores) -> tuple[Tensor, Tensor, Tensor]:
        """All scores of spans (B, C, N, N), heads and tails (B, 1, N, N), -inf where there is no cell."""
        return self.spans.dense(scores.spans), self.heads.dense(scores.heads), self.tails.dense(scores.tails)

    def apart(self, a: EventLinkerScores, b: EventLinkerScores) -> Tensor:
        """How far two passes under dropout disagree, for R-Drop; makes the dense scores of both."""
        spans = self.spans.apart(a.spans, b.spans)
        return self._mean(spans, self.heads.apart(a.heads, b.heads), self.tails.apart(a.tails, b.tails))

    def to_arrays(self, scores: EventLinkerScores) -> EventScores:
        """What finding reads."""
        spans, heads = self.spans.to_arrays(scores.spans), self.heads.to_arrays(scores.heads)
        tails = self.tails.to_arrays(scores.tails)
        return EventScores(spans, heads, tails, indices(self.type_of), flags(self.is_trigger))

    def _mean(self, spans: Tensor, heads: Tensor, tails: Tensor) -> Tensor:
        """The mean over all classes from the mean over the classes of spans, and the two of links."""
        C = len(self.type_of)
        return (C * spans + heads + tails) / (C + 2)

    def _check(self, gold: TripleCells) -> None:
        P = len(gold.spans)
        good = torch.ones(len(gold), dtype=torch.bool, device=gold.subject.device)
        for span in (gold.subject, gold.object):
            good &= (span >= 0) & (span < P)
        if P and bool(good.all()):
            a, b = gold.subject, gold.object
            label, batch = gold.spans.label, gold.spans.batch
            good &= (batch[a] == batch[b]) & (self.type_of[label[a]] == self.type_of[label[b]])
            good &= ~(self.is_trigger[label[a]] & self.is_trigger[label[b]])
        if not bool(good.all()):
            at = int((~good).nonzero()[0])
            raise BadInput(
                f"The gold link {at} joins the spans {int(gold.subject[at])} and {int(gold.object[at])}: expected two "
                f"of the {P} spans, of one text and one event type, at most one of them a trigger. "
                f"Check how it was built."
            )


def gold_of(targets: Sequence[Targets], shift: int) -> TripleCells:
    """The targets of the windows of a batch; `shift` special tokens precede the text of each."""
    spans: list[tuple[int, int, int, int]] = []
    links: list[tuple[int, int, int]] = []
    for row, y in enumerate(targets):
        at = len(spans)
        spans += [
            (row, int(c), int(i) + shift, int(j) + shift) for c, i, j in zip(y.label, y.first, y.last, strict=True)
        ]
        links += [(0, a + at, b + at) for a, b in y.links()]
    return TripleCells.of(spans, links)


def _links_of(gold: TripleCells, token: Tensor) -> Cells:
    """The cells of the links; token (P,) is one end of each span."""
    a, b = token[gold.subject], token[gold.object]
    batch = gold.spans.batch[gold.subject]
    return Cells(batch, torch.zeros_like(batch), torch.minimum(a, b), torch.maximum(a, b))
