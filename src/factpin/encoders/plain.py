"""BERT and ELECTRA without transformers, for prediction: importing transformers takes longer than reading a text.

    ids, mask (B, N)  ->  EncoderOutput(hidden (B, N, D))

    H0 = project(norm(words[ids] + segments[0] + places[0..N)))         project only where ELECTRA's tables are narrow
    H  = norm(H + out(softmax(q kᵀ / sqrt(d)) v))                        q, k, v = query(H), key(H), value(H)
    H  = norm(H + down(gelu(up(H))))                                    for every layer

Weights have the names that transformers gives them, so one folder serves both. What a config asks for beyond this
(another activation, relative places, a decoder) is left to transformers, and so is training.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from factpin.encoders.output import EncoderOutput
from factpin.errors import BadInput
from factpin.tokens import Tokenizer

ARCHITECTURES = ("bert", "electra")
FIXED = {"hidden_act": "gelu", "is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}
OUTSIDE = ("configuration_files", "_attn_implementation", "attn_implementation", "_attn_implementation_internal",
           "pruned_heads")  # fmt: skip
COUNTS = {
    "vocabulary": "vocab_size",
    "width": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "longest": "max_position_embeddings",
    "segments": "type_vocab_size",
}


@dataclass(frozen=True)
class PlainConfig:
    """The sizes of a network."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    longest: int
    segments: int
    narrow: int  # the width of the tables
    eps: float
    pad: int
    record: dict[str, Any]  # all of config.json, for transformers

    @staticmethod
    def read(path: Path) -> "PlainConfig | None":
        """From a config.json; None where it is not of a network that is computed here, or is damaged."""
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(record, dict) or record.get("model_type") not in ARCHITECTURES:
            return None
        if any(record.get(name) for name in OUTSIDE) or any(record.get(k, v) != v for k, v in FIXED.items()):
            return None
        counts: dict[str, Any] = {field: record.get(name) for field, name in COUNTS.items()}
        narrow: Any = (
            record.get("embedding_size", counts["width"]) if record["model_type"] == "electra" else counts["width"]
        )
        eps, pad = record.get("layer_norm_eps", 1e-12), record.get("pad_token_id", 0)
        whole = all(type(n) is int and n > 0 for n in (*counts.values(), narrow))
        if not whole or type(eps) is not float or type(pad) is not int or not 0 <= pad < record["vocab_size"]:
            return None
        if record["hidden_size"] % record["num_attention_heads"]:
            return None
        return PlainConfig(**counts, narrow=narrow, eps=eps, pad=pad, record=record)


class PlainTables(nn.Module):
    """Vectors of pieces, places and segments, added and normalised."""

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocabulary, config.narrow)
        self.position_embeddings = nn.Embedding(config.longest, config.narrow)
        self.token_type_embeddings = nn.Embedding(config.segments, config.narrow)
        self.LayerNorm = nn.LayerNorm(config.narrow, eps=config.eps)

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        """ids, segments (B, N) -> (B, N, narrow)."""
        H = self.word_embeddings(ids) + self.token_type_embeddings(segments)
        normed: Tensor = self.LayerNorm(H + self.position_embeddings.weight[: ids.shape[1]])  # (B, N, narrow)
        return normed


def _add_and_norm(size: int, config: PlainConfig) -> nn.ModuleDict:
    return nn.ModuleDict(
        {"dense": nn.Linear(size, config.width), "LayerNorm": nn.LayerNorm(config.width, eps=config.eps)}
    )


class PlainLayer(nn.Module):
    """Attention and a feed-forward network, each added to its input."""

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.heads = config.heads
        parts = {name: nn.Linear(config.width, config.width) for name in ("query", "key", "value")}
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(parts), "output": _add_and_norm(config.width, config)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(config.width, config.inner)})
        self.output = _add_and_norm(config.inner, config)

    def forward(self, H: Tensor, visible: Tensor | None) -> Tensor:
        """H (B, N, D), visible (B, 1, 1, N) or None: all -> (B, N, D)."""
        parts: Any = self.attention["self"]
        q, k, v = (parts[name](H).unflatten(2, (self.heads, -1)).transpose(1, 2) for name in ("query", "key", "value"))
        A = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)  # (B, heads, N, d)
        H = _merge(self.attention["output"], A.transpose(1, 2).flatten(2), H)
        inner: Any = self.intermediate["dense"]
        return _merge(self.output, F.gelu(inner(H)), H)


def _merge(part: Any, X: Tensor, H: Tensor) -> Tensor:
    merged: Tensor = part["LayerNorm"](part["dense"](X) + H)
    return merged


class PlainNetwork(nn.Module):
    """A BERT or ELECTRA."""

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.embeddings = PlainTables(config)
        if config.narrow != config.width:
            self.embeddings_project = nn.Linear(config.narrow, config.width)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(PlainLayer(config) for _ in range(config.layers))})

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """ids, mask, segments (B, N) -> (B, N, D)."""
        H: Tensor = self.embeddings(ids, segments)
        if hasattr(self, "embeddings_project"):
            H = self.embeddings_project(H)  # (B, N, D)
        visible = None if bool(mask.all()) else mask[:, None, None, :]  # (B, 1, 1, N)
        layers: Any = self.encoder["layer"]
        for layer in layers:
            H = layer(H, visible)
        return H


class PlainEncoder(nn.Module):
    """A network for prediction with its tokenizer: an Encoder in all that prediction needs."""

    def __init__(self, config: PlainConfig, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.model = PlainNetwork(config)
        self.tokenizer = tokenizer
        self.config = config
        self.width = config.width
        self.max_length = config.longest

    def forward(
        self, ids: Tensor, mask: Tensor, rows: Tensor | None = None, segments: Tensor | None = None
    ) -> EncoderOutput:
        """ids, mask, segments (B, N) -> hidden (B, N, D). Rows of attention are left to Encoder."""
        if rows is not None:
            raise BadInput("This encoder gives no attention. Use the one that transformers computes.")
        refuse_longer(ids.shape[1], self.max_length)
        segments = torch.zeros_like(ids) if segments is None else segments.masked_fill(~mask, 0)
        return EncoderOutput(self.model(ids.masked_fill(~mask, self.config.pad), mask, segments))


def refuse_longer(length: int, most: int | None) -> None:
    """Refuse a text that an encoder cannot read at once."""
    if most is not None and length > most:
        raise BadInput(
            f"The text has {length} tokens, but this encoder reads at most {most}. Split it with "
            f"factpin.tokens.windows."
        )
