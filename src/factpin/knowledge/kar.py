"""KAR (KnowBERT): vectors of a knowledge base enter an encoder between two layers, through an entity linker.

    H     token vectors                     (B, N, D)      e  entity vectors, fixed            (rows, E)
    P     H W1 + b1                         (B, N, E)
    S     attention pooling of P in spans   (B, C, E)      then LayerNorm and a transformer layer over the spans
    ψ     MLP([S · LN(e) / √E, prior])      (B, C, M)      candidates of every span
    ψ~    margin loss: softmax over ψ >= 0 only, and NULL takes what has no candidate left
          softmax loss: softmax over the candidates and NULL, which scores 0
    S'    LayerNorm(S + Σ ψ~ e)             (B, C, E)
    Q     a transformer layer: tokens P ask spans S'
    H'    LayerNorm(H + Q W2 + b2)          (B, N, D)

    margin loss   Σ max(0, γ - ψ_gold) + Σ max(0, γ + ψ_other), a mean over candidates; each term by itself
    softmax loss  cross entropy over the candidates and NULL

W2 starts as the pseudo-inverse of W1 and b2 = -W2 b1, so that P W2 + b2 projected again is P; public code inverts a
singular matrix and adds the bias. A text without mentions is left as it is.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.knowledge.mentions import NIL, NULL, UNKNOWN, NameBatch
from factpin.layers.dropout import Dropout

LOWEST = -1e4  # the score of a candidate that is not there
HIDDEN = 100  # of the network that scores candidates


@dataclass(frozen=True)
class KarConfig:
    """The sizes of a KAR, and how candidates are chosen."""

    heads: int = 4
    inner: int = 1024  # of both transformer layers
    dropout: float = 0.1
    loss: Literal["margin", "softmax"] = "margin"
    margin: float = 0.2
    use_dot: bool = True  # off: candidates are scored by their prior alone
    use_prior: bool = True


class Kar(nn.Module):
    """Knowledge attention and recontextualisation, over fixed entity vectors."""

    entities: Tensor

    def __init__(self, width: int, entities: Tensor, config: KarConfig) -> None:
        """entities (rows, E): NULL, MASK, then the entities."""
        super().__init__()
        size = entities.shape[1]
        self.config = config
        self.register_buffer("entities", entities)
        self.down, self.up = nn.Linear(width, size), nn.Linear(size, width)
        self.pool = nn.Linear(size, 1)
        self.pooled = nn.LayerNorm(size)
        self.spans = nn.TransformerEncoderLayer(size, config.heads, config.inner, config.dropout, batch_first=True)
        self.known = nn.LayerNorm(size)
        self.judge = nn.Sequential(nn.Linear(2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
        self.enriched = nn.LayerNorm(size)
        self.ask = nn.MultiheadAttention(size, config.heads, config.dropout, batch_first=True)
        self.asked = nn.LayerNorm(size)
        self.inner = nn.Sequential(nn.Linear(size, config.inner), nn.GELU(), nn.Linear(config.inner, size))
        self.told = nn.LayerNorm(size)
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(config.dropout)
        self.invert()

    @torch.no_grad()
    def invert(self) -> None:
        """Set W2 to the pseudo-inverse of W1, and b2 to what undoes b1; again after the linker has been trained."""
        inverse = torch.linalg.pinv(self.down.weight)  # (D, E)
        self.up.weight.copy_(inverse)
        self.up.bias.copy_(-inverse @ self.down.bias)

    def linker(self) -> list[nn.Parameter]:
        """What is trained before everything else: the projection, pooling, span layer and scores."""
        parts = (self.down, self.pool, self.pooled, self.spans, self.known, self.judge)
        return [parameter for part in parts for parameter in part.parameters()]

    def forward(self, hidden: Tensor, mentions: NameBatch) -> tuple[Tensor, Tensor]:
        """H (B, N, D) -> H' (B, N, D) and the scores of all candidates (B, C, M)."""
        if not mentions.count:
            return hidden, hidden.new_zeros(mentions.candidates.shape)
        with_names = mentions.real.any(dim=1)  # (B,)
        projected = self.down(hidden)  # (B, N, E)
        spans = self._spans(projected, mentions)  # (B, C, E)
        scores = self._scores(spans, mentions)  # (B, C, M)
        enriched = self.enriched(spans + self.dropout(self.average(scores, mentions)))  # (B, C, E)
        hidden_spans = ~mentions.real
        hidden_spans = hidden_spans & with_names[:, None]  # texts without names ask anything: they are not changed
        asked = self.ask(projected, enriched, enriched, key_padding_mask=hidden_spans, need_weights=False)[0]
        answer = self.asked(projected + self.dropout(asked))  # (B, N, E)
        answer = self.told(answer + self.dropout(self.inner(answer)))
        changed = self.norm(hidden + self.dropout(self.up(answer)))  # (B, N, D)
        return torch.where(with_names[:, None, None], changed, hidden), scores

    def link(self, hidden: Tensor, mentions: NameBatch) -> Tensor:
        """H (B, N, D) -> the scores of all candidates alone (B, C, M)."""
        return self._scores(self._spans(self.down(hidden), mentions), mentions)

    def _spans(self, projected: Tensor, mentions: NameBatch) -> Tensor:
        """Attention pooling inside every span, then a layer over the spans of a text (B, C, E)."""
        at = torch.arange(projected.shape[1], device=projected.device)
        inside = (at >= mentions.first[..., None]) & (at <= mentions.last[..., None])  # (B, C, N)
        weight = self.pool(projected).squeeze(-1)[:, None].masked_fill(~inside, LOWEST).softmax(-1)  # (B, C, N)
        pooled = self.pooled(weight @ projected)  # (B, C, E)
        padding = ~mentions.real & mentions.real.any(dim=1)[:, None]
        found: Tensor = self.spans(pooled, src_key_padding_mask=padding)
        return found

    def _scores(self, spans: Tensor, mentions: NameBatch) -> Tensor:
        vectors = self.known(self.entities[mentions.candidates])  # (B, C, M, E)
        dot = (vectors @ spans[..., None]).squeeze(-1) / sqrt(spans.shape[-1])  # (B, C, M)
        features = torch.stack([dot * self.config.use_dot, mentions.priors * self.config.use_prior], dim=-1)
        scores: Tensor = self.judge(features).squeeze(-1).masked_fill(~mentions.offered, LOWEST)
        return scores

    def average(self, scores: Tensor, mentions: NameBatch) -> Tensor:
        """The mean of the candidates' vectors and NULL, weighted by the scores (B, C, E)."""
        kept, null = mentions.offered, torch.zeros_like(scores[..., :1])  # (B, C, M), (B, C, 1)
        if self.config.loss == "margin":
            kept = kept & (scores >= 0)
            null = null.masked_fill(kept.any(-1, keepdim=True), LOWEST)
        weights = torch.cat([scores.masked_fill(~kept, LOWEST), null], dim=-1).softmax(-1)  # (B, C, M + 1)
        found = (weights[..., None, :-1] @ self.entities[mentions.candidates]).squeeze(-2)  # (B, C, E)
        return found + weights[..., -1:] * self.entities[NULL]

    def loss(self, scores: Tensor, mentions: NameBatch) -> Tensor:
        """The loss of linking, over the mentions whose entity is known."""
        if self.config.loss == "margin":
            return margin_loss(scores, mentions, self.config.margin)
        return softmax_loss(scores, mentions)


def margin_loss(scores: Tensor, mentions: NameBatch, margin: float = 0.2) -> Tensor:
    """Right candidates above `margin`, all others below `-margin`; a mention that is NIL has only others."""
    known = (mentions.gold != UNKNOWN)[..., None] & mentions.offered  # (B, C, M)
    if not known.any():
        return scores.sum() * 0.0
    number = torch.arange(scores.shape[-1], device=scores.device)
    sign = torch.where(number == mentions.gold[..., None], 1.0, -1.0)
    return (margin - sign * scores).clamp_min(0.0)[known].mean()


def softmax_loss(scores: Tensor, mentions: NameBatch) -> Tensor:
    """Cross entropy over the candidates and NULL, which scores 0."""
    known = mentions.gold != UNKNOWN
    if not known.any():
        return scores.sum() * 0.0
    with_null = torch.cat([scores[known], scores.new_zeros(int(known.sum()), 1)], dim=-1)  # (m, M + 1)
    gold = mentions.gold[known]
    return cross_entropy(with_null, torch.where(gold == NIL, scores.shape[-1], gold))


@torch.no_grad()
def decide(scores: Tensor, mentions: NameBatch, nil: float = 0.0) -> Tensor:
    """The best candidate of every mention, NIL where all score less than that (B, C)."""
    best, which = scores.masked_fill(~mentions.offered, LOWEST).max(dim=-1)
    return torch.where(best >= nil, which, NIL)
