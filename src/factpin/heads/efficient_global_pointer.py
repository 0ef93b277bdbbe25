"""Efficient GlobalPointer: one score for "tokens i..j are a span", and two small terms a label for "of this kind".

    H      token vectors                                  (B, N, D)
    real   True at text                                   (B, N)
    q, k   first and last views of H, for all labels      (B, N, d)       d = head_size
    A      q . k / sqrt(d) with rotated q and k           (B, N, N)
    u, v   terms of a label at the first, the last token  (B, L, N)
    s      A[i, j] + v[l, j] + u[l, i]                    (B, L, N, N)    s > 0: tokens i..j are an l

u and v come from [q; k] before rotation (bias = "qk", the published form) or from H (bias = "hidden"). Differs from
xhw205/Efficient-GlobalPointer-torch (models/GlobalPointer.py): u and v are not halved, which is a matter of initial
scale only, and the mask is -inf, not 1e12.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from factpin.heads.arrays import flags, floats
from factpin.heads.cells import Cells, check_gold, gold_cells, known_only
from factpin.heads.inherit import Names
from factpin.layers.agreement import yes_no_apart
from factpin.layers.exact import exact, project_real
from factpin.layers.factored import factored_negatives
from factpin.layers.first_weights import start_linear
from factpin.layers.multilabel_loss import positive_loss
from factpin.layers.pointer import cells_that_exist
from factpin.layers.rotary import rotate, turns
from factpin.tasks.spans.scores import FactoredScores
from factpin.tasks.spans.targets import Targets

START = -3.0  # of u and of v: scores start near -6, since of the cells of a sentence about one in 400 is a span


@dataclass(frozen=True)
class EfficientGlobalPointerConfig:
    """Settings of Efficient GlobalPointer."""

    labels: tuple[str, ...]
    head_size: int = 64
    rope: bool = True
    max_span: int | None = None  # tokens of the widest span; None: any
    bias: Literal["qk", "hidden"] = "qk"


@dataclass(frozen=True)
class EfficientGlobalPointerScores:
    """Scores of a batch as their factors."""

    q: Tensor  # (B, N, d), rotated, divided by sqrt(d)
    k: Tensor  # (B, N, d), rotated
    u: Tensor  # (B, L, N), at the first token
    v: Tensor  # (B, L, N), at the last token
    real: Tensor  # (B, N)


class EfficientGlobalPointer(nn.Module):
    """The head that scores spans with one matrix for all labels and two terms for each."""

    default_threshold: ClassVar[float] = 0.0

    def __init__(self, config: EfficientGlobalPointerConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.qk = start_linear(nn.Linear(width, 2 * config.head_size))
        terms = nn.Linear(2 * config.head_size if config.bias == "qk" else width, 2 * len(config.labels))
        self.bias = start_linear(terms, START)

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        both = (*self.config.labels, *self.config.labels)  # of u, then of v
        return {"bias.weight": (both,), "bias.bias": (both,)}

    def gold(self, targets: Sequence[Targets], shift: int) -> Cells:
        """The targets of a batch of windows; `shift` special tokens precede the text of each."""
        return gold_cells(targets, shift)

    def forward(self, H: Tensor, real: Tensor) -> EfficientGlobalPointerScores:
        """H (B, N, D), real (B, N) -> q, k (B, N, d) and u, v (B, L, N)."""
        d = self.config.head_size
        qk = project_real(self.qk, H, real)  # (B, N, 2d)
        terms = project_real(self.bias, qk if self.config.bias == "qk" else H, real)  # (B, N, 2L)
        u, v = terms.transpose(1, 2).contiguous().chunk(2, dim=1)  # 2 x (B, L, N)
        qk = qk.view(*real.shape, 2, d)
        if self.config.rope:
            qk = rotate(qk, *turns(H.shape[1], d, H.device))
        q, k = qk.unbind(2)
        return EfficientGlobalPointerScores(q * d**-0.5, k, u, v, real)

    def loss(self, scores: EfficientGlobalPointerScores, gold: Cells) -> Tensor:
        """The multi-label loss over all cells that exist; mean over texts and labels.

        Where a label is not annotated (gold.known), only its positives count.
        """
        u, v = scores.u, scores.v
        B, L, _ = u.shape
        y = check_gold(gold, scores.real, L, self.config.max_span)
        with exact(u):
            A = self._pairs(scores)  # (B, N, N)
            neg = known_only(factored_negatives(A, u, v, y), gold.known)  # (B, L)
            s = A[y.batch, y.start, y.end] + v[y.batch, y.label, y.end] + u[y.batch, y.label, y.start]  # (P,)
            return (neg.flatten() + positive_loss(s, y.batch * L + y.label, B * L)).mean()

    def dense(self, scores: EfficientGlobalPointerScores) -> Tensor:
        """All scores s (B, L, N, N), -inf where no span can be."""
        return self._pairs(scores)[:, None] + scores.v[:, :, None, :] + scores.u[:, :, :, None]

    def apart(self, a: EfficientGlobalPointerScores, b: EfficientGlobalPointerScores) -> Tensor:
        """How far two passes under dropout disagree, for R-Drop; makes the dense scores of both."""
        return yes_no_apart(self.dense(a), self.dense(b))

    def to_arrays(self, scores: EfficientGlobalPointerScores) -> FactoredScores:
        """What finding reads."""
        q, k, u, v = (floats(x) for x in (scores.q, scores.k, scores.u, scores.v))
        return FactoredScores(q, k, u, v, flags(scores.real), self.config.max_span)

    def _pairs(self, scores: EfficientGlobalPointerScores) -> Tensor:
        """A (B, N, N), -inf where no span can be."""
        with exact(scores.q):
            A = scores.q @ scores.k.mT
        return A.masked_fill(~cells_that_exist(scores.real, self.config.max_span), -torch.inf)
