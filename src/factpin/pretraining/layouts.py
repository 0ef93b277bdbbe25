"""Layouts: networks of our own that are architectures of transformers, by its configs and under its names.

    config.json            -> NetworkConfig, HeadsConfig
    encoder.layers.0.think.inner.weight    model.encoder.layers.0.fc1.weight

    t5, bart, pegasus, marian      encoder and decoder: T5, BART and MASS, PEGASUS, the Transformer
    xlnet                          two streams
    factpin                        what transformers does not have; the names are our own

Tied weights are in a file once, as transformers writes them. Tables that do not learn (sinusoids) are written where
transformers looks for them. MASS has BART's weights; its decoder counts positions of the text, which transformers' BART
cannot do.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from factpin.encoders.own.model import MODEL_TYPE, OwnConfig
from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import FIRST_SPREAD, NetworkConfig
from factpin.errors import BadModel
from factpin.layers.positions import sinusoid
from factpin.objectives.heads import Activation, HeadsConfig

Config = Mapping[str, Any]
Change = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "relu": "relu"
}  # by the names of transformers  # fmt: skip
PLAIN = HeadsConfig(transform=False, word_bias=False)
BEHIND = 2  # BART counts positions from 2


@dataclass(frozen=True)
class WeightName:
    """One weight of theirs: its name, and how ours becomes it and it becomes ours."""

    theirs: str
    there: Change = lambda x: x
    here: Change = lambda x: x


@dataclass(frozen=True)
class Layout:
    """An architecture of transformers: its config, and its names of our weights."""

    network: Callable[[Config], NetworkConfig]
    names: Callable[[NetworkConfig], Iterator[tuple[str, WeightName]]]  # ours, without "encoder."
    heads: Callable[[NetworkConfig], HeadsConfig] = lambda _: PLAIN
    fixed: Callable[[NetworkConfig], dict[str, Tensor]] = lambda _: {}  # what is written and never read
    speaks: str = ""  # the class of transformers with all of it


def network_of(config: Config) -> NetworkConfig:
    """The network that a config.json describes."""
    return LAYOUTS[config["model_type"]].network(config)


def to_theirs(model_type: str, network: NetworkConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a learner that transformers knows, by its names."""
    layout = LAYOUTS[model_type]
    named = {name.theirs: name.there(state[ours]) for ours, name in _names(layout, network) if ours in state}
    return {**named, **layout.fixed(network)}


def to_ours(model_type: str, network: NetworkConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of transformers by the learner's names; what a network needs and the file lacks is an error."""
    found, missing = {}, []
    for ours, name in _names(LAYOUTS[model_type], network):
        if name.theirs in state:
            found[ours] = name.here(state[name.theirs])
        else:
            missing.append(name.theirs)
    if missing:
        raise BadModel(
            f"model.safetensors lacks {len(missing)} weights of a whole {model_type}, such as {missing[0]}. Take a "
            "folder that holds the decoder and the heads too."
        )
    return found


def _names(layout: Layout, network: NetworkConfig) -> Iterator[tuple[str, WeightName]]:
    for ours, name in layout.names(network):
        yield ours if ours.startswith("head.") else f"encoder.{ours}", name


def _linear(ours: str, theirs: str, bias: bool) -> Iterator[tuple[str, WeightName]]:
    for part in ("weight", "bias") if bias else ("weight",):
        yield f"{ours}.{part}", WeightName(f"{theirs}.{part}")


def _attend(ours: str, module: str, norm: str, parts: tuple[str, ...], bias: bool) -> Iterator[tuple[str, WeightName]]:
    for mine, theirs in zip(("q", "k", "v", "out"), parts, strict=True):
        yield from _linear(f"{ours}.attention.{mine}", f"{module}.{theirs}", bias)
    yield from _linear(f"{ours}.norm", norm, bias)


def _t5(config: Config) -> NetworkConfig:
    D, heads = config["d_model"], config["num_heads"]
    if config.get("d_kv", 64) * heads != D or config.get("feed_forward_proj", "relu") != "relu":
        raise BadModel(
            f"A T5 whose heads share its width and whose inner layer is a relu was expected; this one has {heads} "
            f"heads of {config.get('d_kv', 64)}, a width of {D} and {config.get('feed_forward_proj')}. Take the T5 of "
            "the paper, or --shape."
        )
    return NetworkConfig(
        config["vocab_size"], D, config["num_layers"], heads, config["d_ff"], name="t5",
        decoder_layers=config.get("num_decoder_layers") or config["num_layers"], positions="buckets", segments=0,
        norm_at="before", norm="rms", norm_words=False, eps=config.get("layer_norm_epsilon", 1e-6), activation="relu",
        attention_bias=False, inner_bias=False, scaled=False, spread=1.0, dropout=config.get("dropout_rate", 0.1),
        buckets=config.get("relative_attention_num_buckets", 32),
        farthest=config.get("relative_attention_max_distance", 128),
    )  # fmt: skip


def _t5_names(network: NetworkConfig) -> Iterator[tuple[str, WeightName]]:
    yield "words.weight", WeightName("shared.weight")
    for mine, side, count in (("", "encoder", network.layers), ("decoder_", "decoder", network.decoder_layers)):
        bias = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        yield f"{mine}bias.weight", WeightName(bias)
        yield f"{mine}last.weight", WeightName(f"{side}.final_layer_norm.weight")
        for n in range(count):
            ours, theirs = f"{mine}layers.{n}", f"{side}.block.{n}.layer"
            yield from _attend(f"{ours}.attend", f"{theirs}.0.SelfAttention", f"{theirs}.0.layer_norm", _QKVO, False)
            if mine:
                across = f"{theirs}.1.EncDecAttention"
                yield from _attend(f"{ours}.across", across, f"{theirs}.1.layer_norm", _QKVO, False)
            last = f"{theirs}.{2 if mine else 1}"
            yield from _linear(f"{ours}.think.inner", f"{last}.DenseReluDense.wi", False)
            yield from _linear(f"{ours}.think.outer", f"{last}.DenseReluDense.wo", False)
            yield from _linear(f"{ours}.think.norm", f"{last}.layer_norm", False)


_QKVO = ("q", "k", "v", "o")
_PROJECTED = ("q_proj", "k_proj", "v_proj", "out_proj")


def _both_sides(config: Config, name: str, **more: Any) -> NetworkConfig:
    """BART and its relatives."""
    D, heads = config["d_model"], config["encoder_attention_heads"]
    sides = [(config[f"{side}_attention_heads"], config[f"{side}_ffn_dim"]) for side in ("encoder", "decoder")]
    activation = config.get("activation_function", "gelu")
    if sides[0] != sides[1] or activation not in ACTIVATIONS:
        raise BadModel(
            f"An encoder and a decoder with the same heads and inner width were expected, and gelu or relu; this "
            f"config has {sides[0]} and {sides[1]}, and {activation}. Write it so, or take --shape."
        )
    spread = D**-0.5 if more.get("scale_words") else FIRST_SPREAD
    return NetworkConfig(
        config["vocab_size"], D, config["encoder_layers"], heads, config["encoder_ffn_dim"], name=name,
        decoder_layers=config["decoder_layers"], longest=config.get("max_position_embeddings", 1024), segments=0,
        eps=1e-5, activation=ACTIVATIONS[activation], dropout=config.get("dropout", 0.1), spread=spread,
        **more,
    )  # fmt: skip


def _bart(config: Config) -> NetworkConfig:
    return _both_sides(config, "bart", scale_words=bool(config.get("scale_embedding", False)))


def _waves(config: Config, name: str, **more: Any) -> NetworkConfig:
    """With sinusoids."""
    scaled = bool(config.get("scale_embedding", False))
    return _both_sides(config, name, positions="sinusoid", layout="concatenated", norm_words=False, scale_words=scaled,
                       **more)  # fmt: skip


def _sides_names(network: NetworkConfig) -> Iterator[tuple[str, WeightName]]:
    yield "words.weight", WeightName("model.shared.weight")
    for mine, side, count in (("", "encoder", network.layers), ("decoder_", "decoder", network.decoder_layers)):
        base = f"model.{side}"
        if network.positions == "learned":
            yield f"{mine}input.positions.0.weight", WeightName(f"{base}.embed_positions.weight", _behind, _in_front)
        if network.norm_words:
            yield from _linear(f"{mine}input.norm", f"{base}.layernorm_embedding", True)
        if network.norm_at == "before":
            yield from _linear(f"{mine}last", f"{base}.layer_norm", True)
        for n in range(count):
            ours, theirs = f"{mine}layers.{n}", f"{base}.layers.{n}"
            for part, own in (("attend", "self_attn"), ("across", "encoder_attn"))[: 2 if mine else 1]:
                norm = f"{theirs}.{own}_layer_norm"
                yield from _attend(f"{ours}.{part}", f"{theirs}.{own}", norm, _PROJECTED, True)
            yield from _linear(f"{ours}.think.inner", f"{theirs}.fc1", True)
            yield from _linear(f"{ours}.think.outer", f"{theirs}.fc2", True)
            yield from _linear(f"{ours}.think.norm", f"{theirs}.final_layer_norm", True)


def _behind(x: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(x[:BEHIND]), x])  # (longest + 2, D)


def _in_front(x: Tensor) -> Tensor:
    return x[BEHIND:]


def _no_bias(network: NetworkConfig) -> dict[str, Tensor]:
    return {"final_logits_bias": torch.zeros(1, network.vocabulary)}


def _tables(network: NetworkConfig) -> dict[str, Tensor]:
    waves = sinusoid(torch.arange(network.longest), network.width, "concatenated")
    tables = {f"model.{side}.embed_positions.weight": waves.clone() for side in ("encoder", "decoder")}
    return {**_no_bias(network), **tables}


def _xlnet(config: Config) -> NetworkConfig:
    D, heads = config["d_model"], config["n_head"]
    activation = config.get("ff_activation", "gelu")
    if config.get("d_head", D // heads) * heads != D or activation not in ACTIVATIONS:
        raise BadModel(
            f"An XLNet whose heads share its width was expected, and gelu or relu; this config has {heads} heads of "
            f"{config.get('d_head')}, a width of {D} and {activation}. Write it so, or take --shape."
        )
    return NetworkConfig(
        config["vocab_size"], D, config["n_layer"], heads, config["d_inner"], name="xlnet", positions="relative",
        segments=3, norm_words=False, attention_bias=False, eps=config.get("layer_norm_eps", 1e-12),
        activation=ACTIVATIONS[activation], dropout=config.get("dropout", 0.1), query=True,
        memory=config.get("mem_len") or 0,
    )  # fmt: skip


def _xlnet_names(network: NetworkConfig) -> Iterator[tuple[str, WeightName]]:
    D, h = network.width, network.heads
    asked = WeightName("transformer.mask_emb", lambda x: x.view(1, 1, D), lambda x: x.view(D))
    yield "words.weight", WeightName("transformer.word_embedding.weight")
    yield "query", asked
    yield "head.words.bias", WeightName("lm_loss.bias")
    for n in range(network.layers):
        ours, theirs = f"layers.{n}", f"transformer.layer.{n}"
        own, rel = f"{ours}.attend.attention", f"{theirs}.rel_attn"
        for part in ("q", "k", "v", "r"):
            turned = WeightName(f"{rel}.{part}", lambda x: x.T.reshape(D, h, -1), lambda x: x.reshape(D, D).T)
            yield f"{own}.{part}.weight", turned
        yield f"{own}.out.weight", WeightName(f"{rel}.o", lambda x: x.reshape(D, h, -1), lambda x: x.reshape(D, D))
        for mine, bias in (("u", "r_w_bias"), ("v_r", "r_r_bias"), ("w", "r_s_bias")):
            yield f"{own}.{mine}", WeightName(f"{rel}.{bias}", lambda x: x[:, 0], lambda x: x[:, None])
        yield f"{own}.g", WeightName(f"{rel}.seg_embed", lambda x: x.transpose(0, 1), lambda x: x.transpose(0, 1))
        yield from _linear(f"{ours}.attend.norm", f"{rel}.layer_norm", True)
        yield from _linear(f"{ours}.think.inner", f"{theirs}.ff.layer_1", True)
        yield from _linear(f"{ours}.think.outer", f"{theirs}.ff.layer_2", True)
        yield from _linear(f"{ours}.think.norm", f"{theirs}.ff.layer_norm", True)


def _own(config: Config) -> NetworkConfig:
    return OwnConfig(config["network"]).design


def _own_names(network: NetworkConfig) -> Iterator[tuple[str, WeightName]]:
    with torch.device("meta"):
        names = list(Network(network).state_dict())
    return ((name, WeightName(f"network.{name}")) for name in names)


OWN_HEADS = {"glm": PLAIN, "transformer_xl": HeadsConfig(transform=False)}  # the others have BERT's
LAYOUTS: dict[str, Layout] = {
    "bart": Layout(_bart, _sides_names, fixed=_no_bias, speaks="BartForConditionalGeneration"),
    MODEL_TYPE: Layout(_own, _own_names, heads=lambda network: OWN_HEADS.get(network.name, HeadsConfig())),
    "marian": Layout(lambda c: _waves(c, "transformer"), _sides_names, fixed=_tables, speaks="MarianMTModel"),
    "pegasus": Layout(
        lambda c: _waves(c, "pegasus", norm_at="before"),
        _sides_names,
        fixed=_tables,
        speaks="PegasusForConditionalGeneration",
    ),
    "t5": Layout(
        _t5,
        _t5_names,
        heads=lambda network: HeadsConfig(transform=False, word_bias=False, word_scale=network.width**-0.5),
        speaks="T5ForConditionalGeneration",
    ),
    "xlnet": Layout(_xlnet, _xlnet_names, heads=lambda _: HeadsConfig(transform=False), speaks="XLNetLMHeadModel"),
}
