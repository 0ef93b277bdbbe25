"""A shape becomes an architecture: `4x256` and the rows to learn come in, a config goes out.

    4x256       layers x width; heads of 64          4x256x8    eight heads

    positions of the rows                    architecture
    learned, two tables, MPNet's, several    bert        MPNet's buckets are left out, GLM's second table stands beside
    buckets                                  t5          the encoder half
    sinusoid                                 pegasus     the encoder half
    relative, functional                     none of transformers' own: a Network (XLNet, Transformer-XL, NEZHA)

A network reads text as well as any encoder, but only factpin's own code can load it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from factpin.encoders import Encoder
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.objectives import Objective
from factpin.objectives.fitting import fitted

HEAD = 64  # width of a head, unless told otherwise
INNER = 4  # the inner layer is so many times as wide
OWN = "own"
ARCHITECTURES = {"buckets": "t5", "sinusoid": "pegasus", "relative": OWN, "functional": OWN}


@dataclass(frozen=True)
class Shape:
    layers: int
    width: int
    heads: int


def shape_of(words: str) -> Shape:
    match = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?", words)
    if match is None or not all(int(number or 1) for number in match.groups()):
        raise BadInput(f"{words!r} is no shape. Expected layers x width, such as 4x256, or with heads, 4x256x8.")
    layers, width = int(match[1]), int(match[2])
    shape = Shape(layers, width, int(match[3]) if match[3] else max(1, width // HEAD))
    if width % shape.heads:
        raise BadInput(f"{shape.heads} heads cannot share a width of {width}. Say how many: {layers}x{width}xHEADS.")
    return shape


def architecture(rows: Sequence[Objective]) -> str:
    """The `model_type` that rows ask for together, or OWN."""
    kinds = {row.positions for row in rows}
    return ARCHITECTURES.get(kinds.pop(), "bert") if len(kinds) == 1 else "bert"


def config_of(shape: Shape, kind: str, length: int, decoder_layers: int) -> dict[str, Any]:
    """A config.json for transformers, without the vocabulary."""
    D, inner = shape.width, INNER * shape.width
    match kind:
        case "t5":
            return {"model_type": kind, "d_model": D, "d_kv": D // shape.heads, "d_ff": inner,
                    "num_heads": shape.heads, "num_layers": shape.layers,
                    "num_decoder_layers": decoder_layers}  # fmt: skip
        case "pegasus":
            return {"model_type": kind, "d_model": D, "encoder_layers": shape.layers, "encoder_ffn_dim": inner,
                    "encoder_attention_heads": shape.heads, "decoder_layers": decoder_layers,
                    "decoder_ffn_dim": inner, "decoder_attention_heads": shape.heads,
                    "max_position_embeddings": length}  # fmt: skip
        case _:
            return {"model_type": kind, "hidden_size": D, "num_hidden_layers": shape.layers,
                    "num_attention_heads": shape.heads, "intermediate_size": inner,
                    "max_position_embeddings": length}  # fmt: skip


def network_of(shape: Shape, rows: Sequence[Objective], vocabulary: int, length: int) -> NetworkConfig:
    """A network of our own, with the positions of the rows."""
    base = NetworkConfig(vocabulary, shape.width, shape.layers, shape.heads, INNER * shape.width, longest=length)
    return fitted(base, *rows)


def like(encoder: Encoder, length: int, decoder_layers: int = 0) -> NetworkConfig:
    """A network as large as an encoder, that reads its word vectors: what a decoder or a generator is made by."""
    config, words = encoder.config, encoder.word_vectors
    return NetworkConfig(
        len(words),
        encoder.width,
        int(config.num_hidden_layers),
        int(config.num_attention_heads),
        INNER * encoder.width,
        decoder_layers=decoder_layers,
        longest=2 * length,  # a decoder may say a little more than the text: marks
        embedding=words.shape[1],
    )
