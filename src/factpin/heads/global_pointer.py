"""GlobalPointer: score every pair (first token, last token) as one span, with separate vectors for each label.

    H      token vectors                   (B, N, D)
    real   True at text                    (B, N)
    q, k   first and last views of H       (B, N, L, d)    L labels, d = head_size
    s      span scores                     (B, L, N, N)    s[b, l, i, j] > 0: tokens i..j are an l

    s = rotate(q) . rotate(k) / sqrt(d)

`forward` gives q and k; the loss works through s in tiles. Differs from gaohongkui/GlobalPointer_pytorch
(models/GlobalPointer.py): rows of special tokens are masked as well as columns, and the mask is -inf, not 1e12.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from factpin.heads.arrays import flags, floats
from factpin.heads.cells import Cells, check_gold, gold_cells
from factpin.heads.inherit import Names
from factpin.layers.agreement import yes_no_apart
from factpin.layers.exact import exact, project_real
from factpin.layers.first_weights import start_linear
from factpin.layers.pointer import cells_that_exist, tiled_loss
from factpin.layers.rotary import rotate, turns
from factpin.tasks.spans.scores import PointerScores
from factpin.tasks.spans.targets import Targets


@dataclass(frozen=True)
class GlobalPointerConfig:
    """Settings of GlobalPointer."""

    labels: tuple[str, ...]
    head_size: int = 64
    rope: bool = True
    max_span: int | None = None  # tokens of the widest span; None: any


@dataclass(frozen=True)
class GlobalPointerScores:
    """Scores of a batch as their factors."""

    qk: Tensor  # (B, N, L, 2, d), rotated, the first of both divided by sqrt(d)
    real: Tensor  # (B, N)

    @property
    def q(self) -> Tensor:
        """(B, N, L, d)."""
        return self.qk[:, :, :, 0]

    @property
    def k(self) -> Tensor:
        """(B, N, L, d)."""
        return self.qk[:, :, :, 1]


class GlobalPointer(nn.Module):
    """The head that scores spans with a dot product for each label."""

    default_threshold: ClassVar[float] = 0.0

    def __init__(self, config: GlobalPointerConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.qk = start_linear(nn.Linear(width, len(config.labels) * 2 * config.head_size))

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        rows = tuple(label for label in self.config.labels for _ in range(2 * self.config.head_size))
        return {"qk.weight": (rows,), "qk.bias": (rows,)}

    def gold(self, targets: Sequence[Targets], shift: int) -> Cells:
        """The targets of a batch of windows; `shift` special tokens precede the text of each."""
        return gold_cells(targets, shift)

    def forward(self, H: Tensor, real: Tensor) -> GlobalPointerScores:
        """H (B, N, D), real (B, N) -> q and k (B, N, L, d)."""
        d = self.config.head_size
        qk = project_real(self.qk, H, real).view(*real.shape, -1, 2, d)  # (B, N, L, 2, d)
        scale = torch.tensor([[d**-0.5], [1.0]], device=H.device)  # (2, 1), of q and of k
        if self.config.rope:
            cos, sin = turns(H.shape[1], d, H.device)  # 2 x (N, d / 2)
            qk = rotate(qk, cos[:, None] * scale, sin[:, None] * scale)
        else:
            qk = qk * scale
        return GlobalPointerScores(qk, real)

    def loss(self, scores: GlobalPointerScores, gold: Cells) -> Tensor:
        """The multi-label loss over all cells that exist; mean over texts and labels."""
        y = check_gold(gold, scores.real, scores.qk.shape[2], self.config.max_span)
        known = None if gold.known is None else gold.known.to(scores.real.device)
        return tiled_loss(scores.qk, scores.real, self.config.max_span, y, known).mean()

    def dense(self, scores: GlobalPointerScores) -> Tensor:
        """All scores s (B, L, N, N), -inf where no span can be."""
        with exact(scores.q):
            s = torch.einsum("bild,bjld->blij", scores.q, scores.k)
        return s.masked_fill(~cells_that_exist(scores.real, self.config.max_span)[:, None], -torch.inf)

    def apart(self, a: GlobalPointerScores, b: GlobalPointerScores) -> Tensor:
        """How far two passes under dropout disagree, for R-Drop; makes the dense scores of both."""
        return yes_no_apart(self.dense(a), self.dense(b))

    def to_arrays(self, scores: GlobalPointerScores) -> PointerScores:
        """What finding reads."""
        return PointerScores(floats(scores.q), floats(scores.k), flags(scores.real), self.config.max_span)
