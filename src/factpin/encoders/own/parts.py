"""Parts of a Network, and its config: the input of a stream, and the layers of an encoder and of a decoder.

after     x = LN(x + f(x))            BERT, BART, the first Transformer
before    x = x + f(LN(x))            T5, PEGASUS, GLM: one more LN at the end

layer           attend, think                 think   W₂ act(W₁ x)
decoder layer   attend, look, think           look    attention over the encoder
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from factpin.errors import BadInput
from factpin.layers.attention import Attention, Kind, RelativePositions
from factpin.layers.dropout import Dropout
from factpin.layers.positions import Layout, sinusoid

FIRST_SPREAD = 0.02
TABLES = {"learned": 1, "two_learned": 2, "learned_and_buckets": 1}


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network."""

    vocabulary: int  # how many ids
    width: int = 256  # D
    layers: int = 4
    heads: int = 4
    inner: int = 1024
    decoder_layers: int = 0  # 0: no decoder
    positions: str = "learned"  # a kind that Objective.positions names
    longest: int = 512  # positions in a learned table
    segments: int = 6  # 0: none
    embedding: int | None = None  # width of the word vectors where it is not D (ALBERT, ELECTRA)
    shared: bool = False  # one set of weights for all layers (ALBERT)
    norm_at: Literal["after", "before"] = "after"  # LN(x + f(x)), or x + f(LN(x)) and one LN at the end
    norm: Literal["layer", "rms"] = "layer"
    norm_words: bool = True  # LN on the input
    eps: float = 1e-12
    activation: Literal["gelu", "gelu_tanh", "relu"] = "gelu"
    attention_bias: bool = True
    inner_bias: bool = True
    scaled: bool = True  # scores over √d
    scale_words: bool = False  # word vectors times √D (Transformer, PEGASUS)
    layout: Layout = "interleaved"  # of sinusoids; relative ones are always concatenated
    buckets: int = 32
    farthest: int = 128  # distance at which the last bucket begins
    limit: int = 64  # distance beyond which functional positions do not change
    memory: int = 0  # cells kept for the next step
    dropout: float = 0.1
    name: str = ""  # of the paper's network, as recorded in a folder
    spread: float = FIRST_SPREAD  # of the first word vectors
    query: bool = False  # queries begin with one learned vector, not with the mask's (XLNet)
    tied: bool = False  # u and v of relative attention are the same in all layers (Transformer-XL)
    reads: Literal["both", "left"] = "both"  # what a cell sees of a text when the network is an encoder

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise BadInput(f"{self.heads} heads cannot share a width of {self.width}. Give a multiple of the heads.")


@dataclass(frozen=True, eq=False)
class Sight:
    """What a stream sees of some keys."""

    allowed: Tensor  # (B, Q, K)
    relation: RelativePositions | None = None


class InputLayer(nn.Module):
    """Word vectors, positions and segments become the first layer's input, (B, n, E)."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        E = config.embedding or config.width
        self.config = config
        self.positions = nn.ModuleList(nn.Embedding(config.longest, E) for _ in range(TABLES.get(config.positions, 0)))
        by_table = config.segments and config.positions != "relative"
        self.segments = nn.Embedding(config.segments, E) if by_table else None
        self.norm = norm(config, E) if config.norm_words else nn.Identity()
        self.dropout = Dropout(config.dropout)

    def forward(self, words: Tensor, positions: Tensor, segments: Tensor) -> Tensor:
        """words (B, n, E), positions (B, n, tables), segments (B, n)."""
        x = words * self.config.width**0.5 if self.config.scale_words else words
        for t, table in enumerate(self.positions):
            known = t < positions.shape[-1]  # a view with one position is at 0 in a second table, as GLM's text does
            x = x + table(positions[..., t] if known else torch.zeros_like(positions[..., 0]))
        if self.config.positions == "sinusoid":
            x = x + sinusoid(positions[..., 0], x.shape[-1], self.config.layout, x.dtype)
        if self.segments is not None:
            x = x + self.segments(segments)
        out: Tensor = self.dropout(self.norm(x))
        return out


class Attend(nn.Module):
    """Attention, added to what asks."""

    def __init__(self, config: NetworkConfig, kind: Kind) -> None:
        super().__init__()
        bias, scaled, drop = config.attention_bias, config.scaled, config.dropout
        self.before = config.norm_at == "before"
        self.attention = Attention(
            config.width, config.heads, kind=kind, bias=bias, scaled=scaled, drop=drop,
            segments=bool(config.segments), biases=not config.tied,
        )  # fmt: skip
        self.norm, self.dropout = norm(config, config.width), Dropout(config.dropout)

    def forward(self, x: Tensor, keys: Tensor, sight: Sight) -> Tensor:
        """x (B, Q, D), keys (B, K, D) of the same depth -> (B, Q, D)."""
        asked, read = (self.norm(x), self.norm(keys)) if self.before else (x, keys)
        y, _ = self.attention(asked, read, sight.allowed, sight.relation)
        return self._added(x, y)

    def look(self, x: Tensor, encoder: Tensor, sight: Sight, *, weigh: bool) -> tuple[Tensor, Tensor | None]:
        """The same over an encoder, which is read as it is; with `weigh` also where it looks (B, Q, K)."""
        y, p = self.attention(self.norm(x) if self.before else x, encoder, sight.allowed, weigh=weigh)
        return self._added(x, y), None if p is None else p.mean(dim=1)

    def weighed(self, x: Tensor, sight: Sight) -> tuple[Tensor, Tensor | None]:
        """The same over its own cells, and where each head looks (B, heads, N, N)."""
        asked = self.norm(x) if self.before else x
        y, p = self.attention(asked, asked, sight.allowed, sight.relation, weigh=True)
        return self._added(x, y), p

    def _added(self, x: Tensor, y: Tensor) -> Tensor:
        x = x + self.dropout(y)
        return x if self.before else self.norm(x)


class Think(nn.Module):
    """What a layer computes between its residual connections."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.before = config.norm_at == "before"
        self.inner = nn.Linear(config.width, config.inner, bias=config.inner_bias)
        self.outer = nn.Linear(config.inner, config.width, bias=config.inner_bias)
        self.act = activation(config.activation)
        self.norm, self.dropout = norm(config, config.width), Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.outer(self.act(self.inner(self.norm(x) if self.before else x))))
        return x if self.before else self.norm(x)


class Layer(nn.Module):
    """A layer of an encoder."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.attend, self.think = Attend(config, own_kind(config)), Think(config)

    def forward(self, x: Tensor, keys: Tensor, sight: Sight) -> Tensor:
        """x (B, Q, D), keys (B, K, D) -> (B, Q, D)."""
        out: Tensor = self.think(self.attend(x, keys, sight))
        return out

    def weighed(self, x: Tensor, sight: Sight) -> tuple[Tensor, Tensor | None]:
        y, p = self.attend.weighed(x, sight)
        return self.think(y), p


class DecoderLayer(nn.Module):
    """A layer of a decoder, which reads the encoder too."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.attend, self.across = Attend(config, own_kind(config)), Attend(config, "plain")
        self.think = Think(config)

    def forward(
        self, x: Tensor, own: Sight, encoder: Tensor, across: Sight, *, weigh: bool
    ) -> tuple[Tensor, Tensor | None]:
        """x (B, n, D), encoder (B, m, D) -> (B, n, D), and with `weigh` where it looks (B, n, m)."""
        x, p = self.across.look(self.attend(x, x, own), encoder, across, weigh=weigh)
        return self.think(x), p


def own_kind(config: NetworkConfig) -> Kind:
    kinds: dict[str, Kind] = {"relative": "relative", "functional": "functional"}
    return kinds.get(config.positions, "plain")


def norm(config: NetworkConfig, width: int) -> nn.Module:
    return nn.LayerNorm(width, config.eps) if config.norm == "layer" else nn.RMSNorm(width, config.eps)


def activation(name: str) -> nn.Module:
    return {"gelu": nn.GELU(), "gelu_tanh": nn.GELU("tanh"), "relu": nn.ReLU()}[name]


def start(module: nn.Module) -> None:
    """First weights: small, as BERT's; u, v, w and g of relative attention begin with nothing."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=FIRST_SPREAD)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
