"""CRF: one tag for each text token, scored together with its neighbours; spans cannot overlap.

    H      token vectors                       (B, N, D)
    real   True at text                        (B, N)
    e      emissions, one score for each tag   (B, N, T)    T = 2 or 4 tags a label, and O

    loss = log Z - score(gold path), the mean over texts

Only real tokens are steps of the chain; everything between them is skipped. Steps that the scheme does not
allow are -inf in training and in decoding.

A hit is a span of the best path. Its score is the log-odds, log(p / (1 - p)), of the exact posterior probability p that
the text has this very span with this label, summed over all paths. A span of the best path may have p below 1/2, so
the threshold that keeps the best path as it is, `default_threshold`, is -inf.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from factpin.errors import BadInput
from factpin.heads.arrays import flags, floats
from factpin.heads.cells import Cells, check_gold, gold_cells
from factpin.heads.inherit import Names
from factpin.layers.agreement import one_of_apart
from factpin.layers.crf import TagRules, log_partition, path_score
from factpin.layers.exact import exact, project_real
from factpin.layers.places import CellIndices
from factpin.tasks.spans.scores import TagScores
from factpin.tasks.spans.tags import Tags
from factpin.tasks.spans.targets import Targets

FORBIDDEN = -1e3  # the emission of a tag that contradicts gold: e to this power is 0


@dataclass(frozen=True)
class CRFConfig:
    """Settings of a CRF."""

    labels: tuple[str, ...]
    scheme: Literal["bio", "bioes"] = "bioes"


@dataclass(frozen=True)
class CRFScores:
    """Emissions of a batch."""

    emissions: Tensor  # (B, N, T)
    real: Tensor  # (B, N)


class CRF(nn.Module):
    """The head that tags tokens with a linear-chain CRF."""

    default_threshold: ClassVar[float] = -torch.inf

    def __init__(self, config: CRFConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.tags = Tags(len(config.labels), config.scheme)
        self.emit = nn.Linear(width, len(self.tags))
        self.transitions = nn.Parameter(torch.zeros(len(self.tags), len(self.tags)))
        self.start = nn.Parameter(torch.zeros(len(self.tags)))
        self.end = nn.Parameter(torch.zeros(len(self.tags)))
        for name, legal in zip(("transitions", "start", "end"), self.tags.legal(), strict=True):
            self.register_buffer(f"no_{name}", torch.from_numpy(~legal), persistent=False)

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        tags = ("", *(label for label in self.config.labels for _ in self.tags.letters))
        rows = dict.fromkeys(("emit.weight", "emit.bias", "start", "end"), (tags,))
        return {**rows, "transitions": (tags, tags)}

    def gold(self, targets: Sequence[Targets], shift: int) -> Cells:
        """The targets of a batch of windows; `shift` special tokens precede the text of each."""
        return gold_cells(targets, shift)

    def forward(self, H: Tensor, real: Tensor) -> CRFScores:
        """H (B, N, D), real (B, N) -> emissions (B, N, T)."""
        return CRFScores(project_real(self.emit, H, real), real)

    def loss(self, scores: CRFScores, gold: Cells) -> Tensor:
        """Negative log-likelihood of the gold tags; mean over texts.

        Where labels are not annotated (gold.known), all paths count that agree with the spans that are: a token
        outside of them may have any tag of such a label.
        """
        y = check_gold(gold, scores.real, self.tags.labels, max_span=None)
        _check_overlap(y)
        chain = _compact(scores)
        spans = CellIndices(y.batch, y.label, chain.step[y.batch, y.start], chain.step[y.batch, y.end])
        path = encode_tags(self.tags, spans, *chain.token.shape)  # (B, n)
        rules = self._rules()
        with exact(chain.e):
            e, length, path = chain.e[chain.some], chain.length[chain.some], path[chain.some]
            if not len(e):
                return scores.emissions.sum() * 0.0
            if gold.known is None:
                gold_score = path_score(e, rules, length, path)
            else:
                allowed = self._allowed(path, gold.known.to(e.device)[chain.some])
                gold_score = log_partition(e.masked_fill(~allowed, FORBIDDEN), rules, length)
            nll = log_partition(e, rules, length) - gold_score  # float64: the two are close
            return (nll.clamp_min(0.0).sum() / len(chain.length)).float()

    def _allowed(self, path: Tensor, known: Tensor) -> Tensor:
        """(B, n, T) the tags that agree with gold: the gold tag, and at O those of labels that are not known (B, L)."""
        free = (~known).repeat_interleave(len(self.tags.letters), dim=1)  # (B, T - 1), O is tag 0
        free = torch.nn.functional.pad(free, (1, 0))  # (B, T)
        own = torch.nn.functional.one_hot(path, len(self.tags)).bool()
        return own | ((path == 0)[..., None] & free[:, None, :])

    def apart(self, a: CRFScores, b: CRFScores) -> Tensor:
        """How far the emissions of two passes under dropout disagree, for R-Drop."""
        return one_of_apart(a.emissions, b.emissions, a.real)

    def to_arrays(self, scores: CRFScores) -> TagScores:
        """What finding reads."""
        rules = self._rules()
        transitions, start, end = (floats(x) for x in (rules.transitions, rules.start, rules.end))
        return TagScores(floats(scores.emissions), transitions, start, end, flags(scores.real), self.tags)

    def _rules(self) -> TagRules:
        return TagRules(
            self.transitions.float().masked_fill(self.no_transitions, -torch.inf),  # type: ignore[arg-type]
            self.start.float().masked_fill(self.no_start, -torch.inf),  # type: ignore[arg-type]
            self.end.float().masked_fill(self.no_end, -torch.inf),  # type: ignore[arg-type]
        )


@dataclass(frozen=True)
class _Chain:
    """Real tokens only, n = the most that a text has."""

    e: Tensor  # (B, n, T)
    token: Tensor  # (B, n), which token a step is
    step: Tensor  # (B, N), which step a token is
    length: Tensor  # (B,)
    some: Tensor  # (B,), True where a text has a token at all


def _compact(scores: CRFScores) -> _Chain:
    length = scores.real.sum(dim=1)
    token = (~scores.real).to(torch.uint8).argsort(dim=1, stable=True)[:, : int(length.max())]
    e = scores.emissions.gather(1, token[..., None].expand(-1, -1, scores.emissions.shape[2]))
    return _Chain(e, token, scores.real.cumsum(dim=1) - 1, length, length > 0)


def _check_overlap(gold: CellIndices) -> None:
    order = gold.start.argsort(stable=True)
    order = order[gold.batch[order].argsort(stable=True)]
    batch, start, end = gold.batch[order], gold.start[order], gold.end[order]
    clash = ((batch[1:] == batch[:-1]) & (start[1:] <= end[:-1])).nonzero()
    if clash.numel():
        at = int(clash[0])
        raise BadInput(
            f"A CRF gives each token one tag, so gold spans must not overlap; text {int(batch[at])} has tokens "
            f"{int(start[at])}..{int(end[at])} and {int(start[at + 1])}..{int(end[at + 1])}. "
            f"Use global_pointer or efficient_global_pointer for nested spans, or keep one of the two."
        )


def encode_tags(tags: Tags, spans: CellIndices, B: int, n: int) -> Tensor:
    """Spans of steps that do not overlap, last step inclusive -> tags (B, n)."""
    batch, label, start, end = spans.batch, spans.label, spans.start, spans.end
    change = torch.zeros(B, n + 1, dtype=torch.int64, device=batch.device)
    change.index_put_((batch, start), label + 1, accumulate=True)
    change.index_put_((batch, end + 1), -(label + 1), accumulate=True)
    owner = change.cumsum(dim=1)[:, :n]  # label + 1, or 0 outside
    letter = torch.ones_like(owner)  # I
    if tags.scheme == "bioes":
        letter[batch, end] = 2  # E
    letter[batch, start] = 0  # B
    if tags.scheme == "bioes":
        single = start == end
        letter[batch[single], start[single]] = 3  # S
    return torch.where(owner > 0, 1 + (owner - 1) * len(tags.letters) + letter, 0)
