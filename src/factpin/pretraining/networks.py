"""A shape becomes the network of a paper: `4x256` and the rows to learn come in, a config.json goes out.

    4x256       layers x width; heads of 64          4x256x8    eight heads

Rows that are learned together on one network get it; rows of several papers share a BERT, with a decoder beside it
and what else they need. Where transformers has the architecture, the config is transformers' own; where it has not
(GLM, NEZHA, PALM, Transformer-XL), it is that of a network of our own (`encoders/own`), model_type "factpin".

Sizes that a paper gives for one width only are taken in proportion: ALBERT's vectors are narrow, ELECTRA's are for a
small model.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from factpin.encoders import Encoder
from factpin.encoders.own.model import MODEL_TYPE
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.objectives import Objective, Vocabulary

HEAD = 64  # width of a head, by default
INNER = 4  # the inner layer is so many times as wide
SMALL = 256  # the greatest width at which ELECTRA's word vectors are half as wide
NARROW = 128  # ALBERT's word vectors
PAD_SECOND = "mpnet"  # transformers takes piece 1 for its padding, whatever the config says
MIXED = "bert"
JOINED = {frozenset({"ernie", "ernie2"}): "ernie2"}

Config = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Layers x width."""

    layers: int
    width: int
    heads: int
    length: int = 128  # cells of a text
    decoder_layers: int = 0


def shape_of(words: str, length: int = 128, decoder_layers: int | None = None) -> Shape:
    match = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?", words)
    if match is None or not all(int(number or 1) for number in match.groups()):
        raise BadInput(f"{words!r} is not a shape. Expected layers x width, such as 4x256, or with heads, 4x256x8.")
    layers, width = int(match[1]), int(match[2])
    heads = int(match[3]) if match[3] else max(1, width // HEAD)
    if width % heads:
        raise BadInput(f"{heads} heads cannot share a width of {width}. Say how many: {layers}x{width}xHEADS.")
    return Shape(layers, width, heads, length, decoder_layers or layers)


def architecture(rows: Sequence[Objective]) -> str:
    """The name of NETWORKS that rows ask for together."""
    names = frozenset(row.network for row in rows)
    return next(iter(names)) if len(names) == 1 else JOINED.get(names, "unilm" if "unilm" in names else MIXED)


def _bert(s: Shape, model_type: str = "bert", **more: Any) -> Config:
    return {"model_type": model_type, "hidden_size": s.width, "num_hidden_layers": s.layers,
            "num_attention_heads": s.heads, "intermediate_size": INNER * s.width,
            "max_position_embeddings": s.length, **more}  # fmt: skip


def _albert(s: Shape) -> Config:
    return _bert(s, "albert", embedding_size=min(NARROW, s.width // 2), hidden_act="gelu_new", num_hidden_groups=1,
                 inner_group_num=1, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)  # fmt: skip


def _electra(s: Shape) -> Config:
    return _bert(s, "electra", embedding_size=s.width // 2 if s.width <= SMALL else s.width)


def _gpt(s: Shape) -> Config:
    return {"model_type": "openai-gpt", "n_positions": s.length, "n_embd": s.width, "n_layer": s.layers,
            "n_head": s.heads}  # fmt: skip


def _both_sides(s: Shape, model_type: str, **more: Any) -> Config:
    return {"model_type": model_type, "d_model": s.width, "encoder_layers": s.layers,
            "encoder_ffn_dim": INNER * s.width, "encoder_attention_heads": s.heads,
            "decoder_layers": s.decoder_layers, "decoder_ffn_dim": INNER * s.width,
            "decoder_attention_heads": s.heads, "max_position_embeddings": s.length, **more}  # fmt: skip


def _t5(s: Shape) -> Config:
    return {"model_type": "t5", "d_model": s.width, "d_kv": s.width // s.heads, "d_ff": INNER * s.width,
            "num_heads": s.heads, "num_layers": s.layers, "num_decoder_layers": s.decoder_layers,
            "feed_forward_proj": "relu"}  # fmt: skip


def _xlnet(s: Shape) -> Config:
    return {"model_type": "xlnet", "d_model": s.width, "n_layer": s.layers, "n_head": s.heads,
            "d_head": s.width // s.heads, "d_inner": INNER * s.width, "ff_activation": "gelu"}  # fmt: skip


def _own(s: Shape, name: str, **more: Any) -> Config:
    base = NetworkConfig(0, s.width, s.layers, s.heads, INNER * s.width, longest=s.length, name=name, **more)
    return {"model_type": MODEL_TYPE, "network": asdict(base)}


def _glm(s: Shape) -> Config:
    return _own(s, "glm", positions="two_learned", segments=0, norm_at="before", norm_words=False, eps=1e-5,
                activation="gelu_tanh")  # fmt: skip


def _nezha(s: Shape) -> Config:
    return _own(s, "nezha", positions="functional", segments=2)


def _palm(s: Shape) -> Config:
    return _own(s, "palm", segments=0, decoder_layers=s.decoder_layers)


def _transformer_xl(s: Shape) -> Config:
    return _own(s, "transformer_xl", positions="relative", segments=0, norm_words=False, attention_bias=False,
                scale_words=True, spread=s.width**-0.5, activation="relu", eps=1e-5, tied=True,
                reads="left")  # fmt: skip


NETWORKS: dict[str, Callable[[Shape], Config]] = {
    "albert": _albert,
    "bart": lambda s: _both_sides(s, "bart", activation_function="gelu"),
    "bert": _bert,
    "electra": _electra,
    "ernie": lambda s: _bert(s, "ernie", hidden_act="relu", type_vocab_size=2),
    "ernie2": lambda s: _bert(s, "ernie", type_vocab_size=2, task_type_vocab_size=5, use_task_id=True),
    "glm": _glm,
    "gpt": _gpt,
    "mpnet": lambda s: {**_bert(s, "mpnet"), "max_position_embeddings": s.length + 2},
    "nezha": _nezha,
    "palm": _palm,
    "pegasus": lambda s: _both_sides(s, "pegasus", activation_function="relu", scale_embedding=True),
    "roberta": lambda s: _bert(s, "roberta", type_vocab_size=1, layer_norm_eps=1e-5),
    "t5": _t5,
    "transformer": lambda s: _both_sides(s, "marian", activation_function="relu", scale_embedding=True),
    "transformer_xl": _transformer_xl,
    "unilm": lambda s: _bert(s, type_vocab_size=6),
    "xlnet": _xlnet,
}


def with_vocabulary(config: Config, v: Vocabulary, *, by_shape: bool = False) -> Config:
    """The config with the numbers of the pieces that play a part in it; `by_shape`: it is one of NETWORKS."""
    first = {"bart": v.sep}.get(config["model_type"], v.pad)
    said: Config = {"vocab_size": v.size, "pad_token_id": v.pad}
    match config["model_type"]:
        case "bart":
            said |= {"bos_token_id": v.cls, "eos_token_id": v.sep, "decoder_start_token_id": first,
                     "forced_bos_token_id": v.cls, "forced_eos_token_id": v.sep}  # fmt: skip
        case "marian" | "pegasus" | "t5":
            said |= {"decoder_vocab_size": v.size} if config["model_type"] == "marian" else {}
            said |= {"bos_token_id": v.cls, "eos_token_id": v.end, "decoder_start_token_id": first,
                     "forced_eos_token_id": v.end}  # fmt: skip
        case "roberta":
            said |= {"bos_token_id": v.cls, "eos_token_id": v.sep}
            if by_shape:  # it counts positions behind its padding
                said["max_position_embeddings"] = config["max_position_embeddings"] + v.pad + 1
        case "gpt2" | "openai-gpt" | "xlnet":
            said |= {"bos_token_id": v.cls, "eos_token_id": v.sep}
        case "factpin":
            said |= {"network": {**config["network"], "vocabulary": v.size}}
    return {**config, **said}


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
