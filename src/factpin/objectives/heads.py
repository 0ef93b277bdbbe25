"""Heads: what is read off a network's states; each is named by Loss.head.

    h     states of the cells that are asked            (T, D)
    E     word vectors, shared with the input           (V, E)

    words      z Eᵀ + c,   z = LN(act(W h + b)), or z = h                                     (T, V)
    pair       W₂ tanh(W₁ h_first)                                                            (B, classes)
    boundary   b Eᵀ + c,   b = LN(gelu(W₂ LN(gelu(W₁ [h_left; h_right; p_i]))))               (T, V)    SpanBERT
    replaced   w · act(W h) + c                                                               (T,)      ELECTRA
    copy       log p(y) = logaddexp(log λ + log p_words(y), log(1 - λ) + log Σ_{j: x_j = y} a_j)        PALM
               λ = σ(w · [Σ_j a_j e_j; h] + b),   a where the decoder's last layer looks, e the encoder

Public code of PALM takes a softmax of the copied probabilities once more, so that none is above e / (e + V - 1).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, log_softmax, logsigmoid

from factpin.encoders.own.parts import activation, start
from factpin.errors import BadInput
from factpin.objectives.objective import Objective

Activation = Literal["gelu", "gelu_tanh", "relu"]


@dataclass(frozen=True)
class HeadsConfig:
    """The sizes of the heads."""

    transform: bool = True  # GPT, GLM, T5 and XLNet have none
    word_bias: bool = True  # GPT, GLM and T5 have none
    word_scale: float = 1.0  # T5: D^-0.5
    activation: Activation = "gelu"
    eps: float = 1e-12
    offsets: int = 20  # pieces of a span that are asked for at its boundary
    offset_width: int = 200


class Words(nn.Module):
    """Predicts a piece of the vocabulary."""

    def __init__(self, config: HeadsConfig, width: int, words: nn.Embedding) -> None:
        super().__init__()
        V, E = words.weight.shape
        if not config.transform and width != E:
            raise BadInput(f"States of {width} meet word vectors of {E}: only a head with a transform joins them.")
        self.config = config
        self.dense = nn.Linear(width, E) if config.transform else None
        self.norm = nn.LayerNorm(E, config.eps) if config.transform else None
        self.act = activation(config.activation)
        self.bias = nn.Parameter(torch.zeros(V)) if config.word_bias else None

    def forward(self, h: Tensor, E: Tensor) -> Tensor:
        """h (…, D), E (V, E) -> logits (…, V)."""
        if self.dense is not None and self.norm is not None:
            h = self.norm(self.act(self.dense(h)))
        return linear(h * self.config.word_scale, E, self.bias)


class PairHead(nn.Module):
    """Predicts a class from the first cell."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.dense, self.out = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, h: Tensor) -> Tensor:
        """h (B, D) of the first cells -> (B, classes)."""
        out: Tensor = self.out(torch.tanh(self.dense(h)))
        return out


class Boundary(nn.Module):
    """Predicts a piece from the cells on both sides of a span."""

    def __init__(self, config: HeadsConfig, width: int, words: nn.Embedding) -> None:
        super().__init__()
        V, E = words.weight.shape
        self.offset = nn.Embedding(config.offsets, config.offset_width)
        self.first, self.second = nn.Linear(2 * width + config.offset_width, width), nn.Linear(width, E)
        self.first_norm, self.second_norm = nn.LayerNorm(width, config.eps), nn.LayerNorm(E, config.eps)
        self.act = nn.GELU()
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(self, left: Tensor, right: Tensor, offset: Tensor, E: Tensor) -> Tensor:
        """left, right (T, D) the cells around a span, offset (T,) of a piece in it -> logits (T, V)."""
        z = torch.cat([left, right, self.offset(offset)], dim=-1)
        a = self.first_norm(self.act(self.first(z)))
        return linear(self.second_norm(self.act(self.second(a))), E, self.bias)


class ReplacedPieces(nn.Module):
    """Predicts for every cell whether its piece was replaced."""

    def __init__(self, config: HeadsConfig, width: int) -> None:
        super().__init__()
        self.dense, self.out = nn.Linear(width, width), nn.Linear(width, 1)
        self.act = activation(config.activation)

    def forward(self, h: Tensor) -> Tensor:
        """h (…, D) -> (…), positive: this piece is not the writer's."""
        out: Tensor = self.out(self.act(self.dense(h))).squeeze(-1)
        return out


class Copy(nn.Module):
    """Mixes what the words head says with what is in the source."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * width, 1)

    def shares(self, h: Tensor, encoder: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        """h (B, n, D), encoder (B, m, D), a (B, n, m) -> log λ and log(1 - λ), (B, n)."""
        s = self.gate(torch.cat([a @ encoder, h], dim=-1)).squeeze(-1)
        return logsigmoid(s), logsigmoid(-s)

    def of_labels(self, said: Tensor, shares: tuple[Tensor, Tensor], a: Tensor, same: Tensor) -> Tensor:
        """said (T,) log p_words(y), shares 2 x (T,), a (T, m), same (T, m) where the source is y -> log p(y) (T,)."""
        mass = (a * same).sum(dim=-1)
        found = mass > 0
        copied = torch.where(found, mass, 1.0).log() + shares[1]  # no gradient comes from log 0
        return torch.logaddexp(shares[0] + said, torch.where(found, copied, -torch.inf))

    def of_all(self, logits: Tensor, shares: tuple[Tensor, Tensor], a: Tensor, source: Tensor) -> Tensor:
        """logits (B, n, V), shares 2 x (B, n), a (B, n, m), source (B, m) ids -> log p (B, n, V)."""
        mass = torch.zeros_like(logits).scatter_add(-1, source[:, None].expand_as(a), a)
        copied = mass.log() + shares[1][..., None]
        return torch.logaddexp(log_softmax(logits, dim=-1) + shares[0][..., None], copied)


class Heads(nn.Module):
    """The heads that some rows need. Rows with the same number of classes share a pair head."""

    def __init__(self, config: HeadsConfig, width: int, words: nn.Embedding, objectives: Iterable[Objective]) -> None:
        super().__init__()
        self.config = config
        rows = list(objectives)
        names = {loss.head for row in rows for loss in row.losses}
        classes = sorted({row.classes for row in rows for loss in row.losses if loss.head == "pair"})
        self.words = Words(config, width, words)
        self.pairs = nn.ModuleDict({str(count): PairHead(width, count) for count in classes})
        self.boundary = Boundary(config, width, words) if "boundary" in names else None
        self.replaced = ReplacedPieces(config, width) if "replaced" in names else None
        self.copy = Copy(width) if "copy" in names else None
        self.apply(start)
