"""MentionPair: which earlier mention, if any, a mention refers back to.

    H      token vectors                        (B, N, D)
    m      mention vectors                      (M, d)        tanh(W [H_first; H_last; mean of H over its tokens])
    f      what the rules know of a pair        (M, K, F)     tasks.coreference.FEATURES
    s      scores of the K candidates           (M, K)        -inf where there is no candidate

    s_ij = v . gelu(P m_i + Q m_j + R (m_i * m_j) + E[distance] + U f_ij)      "none of them" scores 0
    loss = mean over mentions of  log(1 + sum of e^s)  -  log(sum of e^s over gold antecedents; 1 where there is none)

P m and Q m are computed once for each mention. Only R (m_i * m_j) is computed for pairs, in blocks of mentions, and
again in the backward pass, so the memory is that of one block. tasks.coreference chooses and limits the pairs.
Differs from Lee et al. 2017 (end-to-end coreference): mentions are given, so there is no mention score, and the rules
are features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.checkpoint import checkpoint

from factpin.errors import BadInput
from factpin.heads.arrays import floats
from factpin.heads.inherit import Names
from factpin.language.coreference import ADD, BUCKETS, FEATURES, MentionPairs
from factpin.layers.dropout import Dropout
from factpin.layers.exact import exact
from factpin.tasks.coreference.find import CandidateScores
from factpin.tasks.coreference.targets import Targets
from factpin.tasks.examples import DocumentExample

BLOCK = 1 << 20  # numbers of one block of pairs


@dataclass(frozen=True)
class MentionPairConfig:
    """Settings of MentionPair."""

    size: int = 128  # d
    antecedents: int = 50  # K, candidates of one mention
    dropout: float = 0.1

    def __post_init__(self) -> None:
        if self.size < 1 or self.antecedents < 1:
            raise BadInput(
                f"size is {self.size} and antecedents {self.antecedents}: expected at least 1 of both. Raise them."
            )


@dataclass(frozen=True)
class MentionBatch:
    """The mentions of a batch as flat columns, and the candidates of each as indices into them."""

    batch: Tensor  # (M,) int64
    first: Tensor  # (M,) int64, token
    last: Tensor  # (M,) int64, token, INCLUSIVE
    antecedent: Tensor  # (M, K) int64, -1 where there is none
    distance: Tensor  # (M, K) int64
    features: Tensor  # (M, K, F) float32

    @staticmethod
    def of(documents: Sequence[tuple[NDArray[np.int64], MentionPairs]]) -> "MentionBatch":
        """From the (M, 2) first and last tokens of each document's mentions, in the order of the text."""
        K = max([asked.antecedent.shape[1] for _, asked in documents], default=0)
        rows, offset = [], 0
        for b, (tokens, asked) in enumerate(documents):
            M, width = asked.antecedent.shape
            if tokens.shape != (M, 2):
                raise BadInput(
                    f"Document {b} of the batch has tokens of the shape {tokens.shape} for {M} mentions; expected "
                    f"({M}, 2), first and last token of each in the order of the text."
                )
            wider = ((0, 0), (0, K - width))
            shifted = np.where(asked.antecedent < 0, -1, asked.antecedent + offset)
            rows.append(
                (
                    np.full(M, b),
                    tokens[:, 0],
                    tokens[:, 1],
                    np.pad(shifted, wider, constant_values=-1),
                    np.pad(asked.distance, wider),
                    np.pad(asked.features, (*wider, (0, 0))),
                )
            )
            offset += M
        if not rows:
            return _no_mentions()
        batch, first, last, antecedent, distance, features = (
            torch.from_numpy(np.concatenate(column)) for column in zip(*rows, strict=True)
        )
        return MentionBatch(batch, first, last, antecedent, distance, features.float())

    def to(self, device: torch.device) -> "MentionBatch":
        """The same mentions on another device."""
        batch, first, last = self.batch.to(device), self.first.to(device), self.last.to(device)
        antecedent, distance = self.antecedent.to(device), self.distance.to(device)
        return MentionBatch(batch, first, last, antecedent, distance, self.features.to(device))

    def __len__(self) -> int:
        return self.batch.shape[0]


def _no_mentions() -> MentionBatch:
    none, pairs = torch.zeros(0, dtype=torch.int64), torch.zeros(0, 0, dtype=torch.int64)
    return MentionBatch(none, none, none, pairs, pairs, torch.zeros(0, 0, len(FEATURES)))


def gold_of(documents: Sequence[NDArray[np.bool_]]) -> Tensor:
    """Gold (M, K) of a batch in the shape of its `MentionBatch`, from the targets of its documents."""
    K = max([gold.shape[1] for gold in documents], default=0)
    wide = [np.pad(gold, ((0, 0), (0, K - gold.shape[1]))) for gold in documents]
    return torch.from_numpy(np.concatenate(wide)) if wide else torch.zeros(0, 0, dtype=torch.bool)


class MentionPair(nn.Module):
    """The head that scores the earlier mentions that a mention may refer back to."""

    attends: ClassVar[bool] = False
    default_threshold: ClassVar[float] = ADD  # of the probability that a mention refers back to any earlier one

    def __init__(self, config: MentionPairConfig, width: int) -> None:
        super().__init__()
        d = config.size
        self.config = config
        self.mention = nn.Linear(3 * width, d)
        self.later = nn.Linear(d, d)
        self.earlier = nn.Linear(d, d, bias=False)
        self.both = nn.Linear(d, d, bias=False)
        self.distance = nn.Embedding(BUCKETS, d)
        self.features = nn.Linear(len(FEATURES), d, bias=False)
        self.score = nn.Linear(d, 1)
        self.dropout = Dropout(config.dropout)
        nn.init.normal_(self.distance.weight, std=0.02)

    def named_rows(self) -> dict[str, tuple[Names, ...]]:
        """No weight belongs to a label: all are inherited (heads/inherit.py)."""
        return {}

    def gold(self, targets: Sequence[Targets], shift: int) -> Tensor:  # noqa: ARG002
        """Gold (M, K) of a batch of documents."""
        return gold_of([y.gold for y in targets])

    def score_documents(
        self,
        H: Sequence[Tensor],
        A: Sequence[Tensor | None],  # noqa: ARG002
        documents: Sequence[DocumentExample],
    ) -> Tensor:
        """H (N, D) of each document -> s (M, K) of the mentions of all."""
        pairs = MentionBatch.of([(doc.targets.tokens(doc.layout.prefix), doc.targets.candidates) for doc in documents])
        s: Tensor = self(pad_sequence(list(H), batch_first=True), pairs)
        return s

    def forward(self, H: Tensor, pairs: MentionBatch) -> Tensor:
        """H (B, N, D) -> s (M, K), -inf where there is no candidate."""
        pairs = pairs.to(H.device)
        _check(H, pairs)
        M, K = pairs.antecedent.shape
        with exact(H):
            m = self.dropout(self._mentions(H, pairs))  # (M, d)
            later, earlier = self.later(m), self.earlier(m)  # 2 x (M, d)
            step = max(1, BLOCK // max(1, K * self.config.size))
            parts = []
            for at in range(0, M, step):
                block = slice(at, at + step)
                columns = (pairs.antecedent[block], pairs.distance[block], pairs.features[block])
                inputs = (m, m[block], later[block], earlier, *columns)
                again = step < M  # a single block is kept, not computed twice
                parts.append(checkpoint(self._block, *inputs, use_reentrant=False) if again else self._block(*inputs))
        s = torch.cat(parts) if parts else H.new_zeros(M, K, dtype=torch.float32)
        return s.masked_fill(pairs.antecedent < 0, -torch.inf)

    def _mentions(self, H: Tensor, pairs: MentionBatch) -> Tensor:
        """m (M, d)."""
        B, N, D = H.shape
        flat = H.to(self.mention.weight.dtype).flatten(0, 1)  # (B N, D)
        first, last = pairs.batch * N + pairs.first, pairs.batch * N + pairs.last
        size = last - first + 1  # (M,)
        owner = torch.arange(len(pairs), device=H.device).repeat_interleave(size)  # (T,) T tokens of all mentions
        before = size.cumsum(0) - size
        token = torch.arange(owner.shape[0], device=H.device) - before[owner] + first[owner]  # (T,)
        share = flat.index_select(0, token) / size[owner][:, None]  # (T, D)
        mean = flat.new_zeros(len(pairs), D).index_add(0, owner, share)  # (M, D)
        return torch.tanh(self.mention(torch.cat((flat[first], flat[last], mean), dim=1)))

    def _block(self, m: Tensor, mine: Tensor, later: Tensor, earlier: Tensor, *columns: Tensor) -> Tensor:
        """Scores (block, K) of the mentions whose vectors are `mine`."""
        antecedent, distance, features = columns
        j = antecedent.clamp_min(0)
        x = self.both(mine[:, None] * m[j])  # (block, K, d)
        x = x + later[:, None] + earlier[j] + self.distance(distance) + self.features(features)
        return self.score(self.dropout(F.gelu(x))).squeeze(-1)

    def loss(self, s: Tensor, gold: Tensor) -> Tensor:
        """The mean over mentions of - log probability of the gold antecedents together; 0 where there is no mention."""
        gold = gold.to(s.device)
        if gold.shape != s.shape or bool((gold & s.isneginf()).any()):
            raise BadInput(
                f"Gold has the shape {tuple(gold.shape)}, the scores {tuple(s.shape)}; expected the same, and True "
                f"only at candidates. Make it with targets and gold_of from the same candidates."
            )
        if not s.shape[0]:
            return s.sum()
        zero = s.new_zeros(s.shape[0], 1)  # "none of them"
        total = torch.cat((zero, s), dim=1).logsumexp(1)  # (M,)
        none = zero.masked_fill(gold.any(1, keepdim=True), -torch.inf)
        right = torch.cat((none, s.masked_fill(~gold, -torch.inf)), dim=1).logsumexp(1)  # (M,)
        return (total - right).mean()

    def to_arrays(self, s: Tensor) -> CandidateScores:
        """What finding reads."""
        return CandidateScores(floats(s))

    def apart(self, a: Tensor, b: Tensor) -> Tensor:
        """How far two passes under dropout disagree, for R-Drop: the mean of both KL divergences over mentions."""
        if not a.shape[0]:
            return (a + b).sum()
        p, q = (F.log_softmax(torch.cat((s.new_zeros(s.shape[0], 1), s), dim=1), dim=1) for s in (a, b))
        gap = (p.exp() - q.exp()) * (p.masked_fill(p.isneginf(), 0.0) - q.masked_fill(q.isneginf(), 0.0))
        return gap.sum(1).mean() / 2


def _check(H: Tensor, pairs: MentionBatch) -> None:
    B, N, _ = H.shape
    inside = (pairs.batch >= 0) & (pairs.batch < B) & (pairs.first >= 0)
    inside &= (pairs.first <= pairs.last) & (pairs.last < N)
    if not bool(inside.all()):
        i = int((~inside).nonzero()[0])
        raise BadInput(
            f"Mention {i} is tokens {int(pairs.first[i])}..{int(pairs.last[i])} of text {int(pairs.batch[i])}, the "
            f"batch has {B} texts of {N} tokens. The last token is inclusive: check how the mentions were cut."
        )
    if bool((pairs.antecedent >= len(pairs)).any()):
        raise BadInput(
            f"A candidate is not among the {len(pairs)} mentions of the batch. Build the batch with MentionBatch.of."
        )
