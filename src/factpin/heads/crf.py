"""CRF: one tag for each text token, scored together with its neighbours; spans cannot overlap.

    H      token vectors                       (B, N, D)
    real   True at text                        (B, N)
    e      emissions, one score for each tag   (B, N, T)    T = 2 or 4 tags a label, and O

    loss = log Z - score(gold path), the mean over texts

Only real tokens are steps of the chain; whatever stands between them is passed over. Steps that the scheme does not
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
from factpin.heads.cells import Cells, check_gold, gold_cells, thresholds
from factpin.heads.inherit import Names
from factpin.heads.tags import Tags
from factpin.layers.agreement import one_of_apart
from factpin.layers.crf import PathPosterior, Rules, best_path, log_partition, path_posterior, path_score
from factpin.layers.exact import exact, project_real
from factpin.layers.places import Places
from factpin.tasks.spans.targets import Targets

FORBIDDEN = -1e3  # the emission of a tag that contradicts gold: e to this power is 0


@dataclass(frozen=True)
class CRFConfig:
    labels: tuple[str, ...]
    scheme: Literal["bio", "bioes"] = "bioes"


@dataclass(frozen=True)
class CRFScores:
    emissions: Tensor  # (B, N, T)
    real: Tensor  # (B, N)


class CRF(nn.Module):
    nested: ClassVar[bool] = False
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
            self.register_buffer(f"no_{name}", ~legal, persistent=False)

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """Which label each row of a weight belongs to (heads/inherit.py)."""
        tags = ("", *(label for label in self.config.labels for _ in self.tags.letters))
        rows = dict.fromkeys(("emit.weight", "emit.bias", "start", "end"), (tags,))
        return {**rows, "transitions": (tags, tags)}

    def gold(self, targets: Sequence[Targets], shift: int) -> Cells:
        """The targets of a batch of windows; `shift` special tokens precede the text of each."""
        return gold_cells(targets, shift)

    def forward(self, H: Tensor, real: Tensor) -> CRFScores:
        return CRFScores(project_real(self.emit, H, real), real)

    def loss(self, scores: CRFScores, gold: Cells) -> Tensor:
        """Negative log-likelihood of the gold tags; mean over texts.

        Where labels are not annotated (gold.known), all paths count that agree with the spans that are: a token
        outside of them may have any tag of such a label.
        """
        y = check_gold(gold, scores.real, self.tags.labels, max_span=None)
        _check_overlap(y)
        chain = _compact(scores)
        spans = Places(y.batch, y.label, chain.step[y.batch, y.start], chain.step[y.batch, y.end])
        path = self.tags.encode(spans, *chain.token.shape)  # (B, n)
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
        """(B, n, T) the tags that agree with gold: its own, and at O those of labels that are not known (B, L)."""
        free = (~known).repeat_interleave(len(self.tags.letters), dim=1)  # (B, T - 1), O is tag 0
        free = torch.nn.functional.pad(free, (1, 0))  # (B, T)
        own = torch.nn.functional.one_hot(path, len(self.tags)).bool()
        return own | ((path == 0)[..., None] & free[:, None, :])

    def apart(self, a: CRFScores, b: CRFScores) -> Tensor:
        """How far the emissions of two passes under dropout disagree, for R-Drop."""
        return one_of_apart(a.emissions, b.emissions, a.real)

    @torch.no_grad()
    def hits(self, scores: CRFScores, threshold: float | Tensor = default_threshold) -> Cells:
        """The spans of the best path whose score is above the threshold, one number or one for each label (L,)."""
        table = thresholds(threshold, self.tags.labels, scores.real.device)
        chain, rules = _compact(scores), self._rules()
        rows = chain.some.nonzero().squeeze(1)
        if not rows.numel():
            return Cells.of([], []).to(scores.real.device)
        e, length = chain.e[rows], chain.length[rows]
        path = best_path(e, rules, length)
        spans = self.tags.decode(path, length)
        score = self._log_odds(path_posterior(e, rules, length, path), path, spans)
        batch = rows[spans.batch]
        cells = Cells(batch, spans.label, chain.token[batch, spans.start], chain.token[batch, spans.end], score.float())
        return cells.take(score > table[spans.label]).sorted()

    def _log_odds(self, posterior: PathPosterior, path: Tensor, spans: Places) -> Tensor:
        """log(p / (1 - p)) of spans of the path, (spans,): p = P(first tag) * product of P(next tag | tag)."""
        row, start, end = spans.batch, spans.start, spans.end
        follow = posterior.follow[:, :-1].gather(2, path[:, 1:, None]).squeeze(2)  # (B, n - 1)
        follow = follow.masked_fill(follow == -torch.inf, 0.0)  # only past the length
        until = torch.nn.functional.pad(follow.cumsum(dim=1), (1, 0))  # (B, n)
        log_p = posterior.tag[row, start] + until[row, end] - until[row, start]
        if self.config.scheme == "bio":  # the tags say where a span begins; that it ends here is up to the next tag
            inside = 1 + spans.label * len(self.tags.letters) + self.tags.letters.index("I")
            longer = posterior.follow[row, end, inside].exp().clamp_max(1.0)
            log_p = log_p + (-longer).log1p()
        log_p = log_p.clamp_max(-torch.finfo(log_p.dtype).eps)  # keeps the odds of a certain span finite
        return log_p - (-torch.expm1(log_p)).log()

    def _rules(self) -> Rules:
        return Rules(
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


def _check_overlap(gold: Places) -> None:
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
