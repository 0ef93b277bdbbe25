"""Answer pointer: where a span begins and where it ends, against the first token, which means that there is none.

    H      token vectors                                        (B, N, D)
    real   True where an answer may be, never at the first token (B, N)
    a, z   scores of beginning and of ending at a token         (B, L, N)   -inf but at real tokens and the first
    s      a[i] + z[j] - a[0] - z[0]                            (B, L, N, N)    s > 0: i..j is a better answer than none

    p(i, j) = softmax(a)[i] * softmax(z)[j]
    loss    = -1/2 log of the sum of p over all gold spans, or of p(0, 0) where there is none

With one gold span this is the mean of the two cross entropies of BERT's reader; with several, any of them is right.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from factpin.errors import BadInput
from factpin.heads.cells import Cells, check_gold
from factpin.heads.inherit import Names
from factpin.layers.exact import exact, project_real
from factpin.layers.places import CellIndices
from factpin.layers.pointer import cells_that_exist


@dataclass(frozen=True)
class AnswerPointerConfig:
    """Settings of an answer pointer."""

    labels: tuple[str, ...]
    max_span: int | None = None  # tokens of the widest span; None: any
    none_weight: float = 1.0  # of a text without an answer, beside one that has an answer

    def __post_init__(self) -> None:
        if self.none_weight < 0:
            raise BadInput(f"none_weight is {self.none_weight}; expected 0 or more.")


@dataclass(frozen=True)
class AnswerPointerScores:
    """Scores of a batch: where answers begin and where they end."""

    a: Tensor  # (B, L, N), -inf where nothing can begin
    z: Tensor  # (B, L, N), -inf where nothing can end
    real: Tensor  # (B, N)


class AnswerPointer(nn.Module):
    """The head that points at the first and the last token of an answer."""

    default_threshold: ClassVar[float] = 0.0

    def __init__(self, config: AnswerPointerConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.ends = nn.Linear(width, 2 * len(config.labels))

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        both = (*self.config.labels, *self.config.labels)  # of a, then of z
        return {"ends.weight": (both,), "ends.bias": (both,)}

    def forward(self, H: Tensor, real: Tensor) -> AnswerPointerScores:
        """H (B, N, D), real (B, N) -> a and z (B, L, N)."""
        if bool(real[:, 0].any()):
            raise BadInput(
                "An answer pointer reads the first token as `no answer`, and here it is text. Use an encoder whose "
                "inputs begin with a special token, or the head efficient_global_pointer."
            )
        open_ = real.clone()
        open_[:, 0] = True
        terms = project_real(self.ends, H, open_).transpose(1, 2)  # (B, 2L, N)
        a, z = terms.masked_fill(~open_[:, None], -torch.inf).chunk(2, dim=1)
        return AnswerPointerScores(a, z, real)

    def loss(self, scores: AnswerPointerScores, gold: Cells) -> Tensor:
        """The mean over texts and labels."""
        B, L, _ = scores.a.shape
        y = check_gold(gold, scores.real, L, self.config.max_span)
        with exact(scores.a):
            a, z = scores.a.log_softmax(dim=-1), scores.z.log_softmax(dim=-1)
            answered = torch.zeros(B * L, dtype=torch.bool, device=a.device)
            answered[y.batch * L + y.label] = True
            none = (a[..., 0] + z[..., 0]).flatten()  # (B * L,)
            found = torch.where(answered, _log_sum(a, z, y, answered), none)
            weight = torch.where(answered, 1.0, self.config.none_weight)
            return -(found * weight).sum() / (2 * B * L)

    def dense(self, scores: AnswerPointerScores) -> Tensor:
        """All scores s (B, L, N, N), -inf where no span can be."""
        none = (scores.a[..., 0] + scores.z[..., 0])[..., None, None]
        with exact(scores.a):
            s = scores.a[..., :, None] + scores.z[..., None, :] - none
        return s.masked_fill(~cells_that_exist(scores.real, self.config.max_span)[:, None], -torch.inf)

    def apart(self, one: AnswerPointerScores, two: AnswerPointerScores) -> Tensor:
        """How far two passes under dropout disagree on where answers begin and end, for R-Drop."""
        return (_apart(one.a, two.a) + _apart(one.z, two.z)) / 2


def _log_sum(a: Tensor, z: Tensor, y: CellIndices, answered: Tensor) -> Tensor:
    """The log of the summed probability of the gold spans of every text and label (B * L,); 0 where there are none."""
    group = y.batch * a.shape[1] + y.label  # (P,)
    s = a[y.batch, y.label, y.start] + z[y.batch, y.label, y.end]  # (P,)
    top = torch.full_like(answered, -torch.inf, dtype=s.dtype).scatter_reduce(0, group, s.detach(), "amax")
    top = torch.where(answered, top, 0.0)
    total = torch.zeros_like(top).index_add(0, group, (s - top[group]).exp())
    return top + torch.where(answered, total, 1.0).log()


def _apart(one: Tensor, two: Tensor) -> Tensor:
    """The symmetric divergence, halved, of softmax(one) and softmax(two) (B, L, N); mean over texts and labels."""
    there = torch.isfinite(one)
    p, q = (x.float().log_softmax(dim=-1).masked_fill(~there, 0.0) for x in (one, two))
    return ((p.exp() - q.exp()) * (p - q)).masked_fill(~there, 0.0).sum(dim=-1).mean() / 2
