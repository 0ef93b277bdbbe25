"""Parity: weights of transformers' own classes copied into ours give the same numbers.

    EXACT    1e-10 in double precision
    SINGLE   2e-5 in single, at an output scale of at most 10: T5's norm, PEGASUS's sinusoids and XLNet's two streams
             are in single precision in transformers, whatever the model

Weights are stirred first: nothing is proved by small numbers, or by a norm that has not been moved.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from factpin.encoders.own.batch import Block
from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.layers.masks import Ints, MaskSpec, causal, full, prefix
from factpin.objectives import OBJECTIVES, Batch
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.view import NO_LOSS
from proofs.compare import Compared

V, D, N, HEADS, INNER, LAYERS = 40, 16, 9, 4, 24, 3
EXACT, SINGLE = 1e-10, 2e-5
LEAST_SCALE = 0.5
BASE = NetworkConfig(V, D, LAYERS, HEADS, INNER, longest=12, segments=0, dropout=0.0)
PLAIN = HeadsConfig(transform=False, word_bias=False)
Torch = Any  # modules are taken apart by name, which types do not know


def stirred(model: Torch) -> Torch:
    """Weights that make every part of the network matter and every cell another."""
    chance = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for module in model.modules():
            norm = "Norm" in type(module).__name__
            for parameter in module.parameters(recurse=False):
                parameter.copy_(torch.randn(parameter.shape, generator=chance) * 0.3 + norm)
    return model.double().eval()


def take(ours: Torch, theirs: Torch) -> None:
    ours.load_state_dict({k: v for k, v in theirs.state_dict().items() if k in ours.state_dict()})


def attention(ours: Torch, q: Torch, k: Torch, v: Torch, out: Torch, norm: Torch) -> None:
    own = ours.attention
    for mine, theirs in zip((own.q, own.k, own.v, own.out, ours.norm), (q, k, v, out, norm), strict=True):
        take(mine, theirs)


def thinking(ours: Torch, inner: Torch, outer: Torch, norm: Torch) -> None:
    for mine, theirs in zip((ours.inner, ours.outer, ours.norm), (inner, outer, norm), strict=True):
        take(mine, theirs)


def block(ids: Ints, sees: dict[str, MaskSpec], segments: Ints | None = None) -> Block:
    positions = np.stack([np.arange(ids.shape[1])[:, None]] * len(ids))
    allowed = {name: np.stack([spec.dense()] * len(ids)) for name, spec in sees.items()}
    none = np.zeros_like(ids) if segments is None else segments
    return Block(ids, positions, none, np.full_like(ids, NO_LOSS), np.ones_like(ids, np.bool_), allowed)


def batch(streams: dict[str, Block], task: int = 0) -> Batch:
    return Batch(streams, np.full(2, NO_LOSS), np.zeros((0, 3), np.int64), task)


def some_ids(n: int = N, seed: int = 1) -> Ints:
    return np.random.default_rng(seed).integers(3, V, (2, n))


def alike(
    what: str, ours: Tensor, theirs: Tensor, within: float = EXACT, *, least: float = LEAST_SCALE
) -> Iterator[Compared]:
    """The largest difference, and that there was something to differ in."""
    yield Compared(f"{what}: shapes", tuple(ours.shape), tuple(theirs.shape))
    yield Compared(f"{what}: a scale of at least {least}", bool(theirs.abs().max() > least), True)
    yield Compared(what, float((ours - theirs).abs().max()), 0.0, within)


def words_head(heads: Torch, dense: Torch, norm: Torch, bias: Tensor) -> None:
    take(heads.words.dense, dense)
    take(heads.words.norm, norm)
    heads.words.bias.copy_(bias)


def bert_layers(run: Torch, layers: Torch) -> None:
    for mine, layer in zip(run.layers, layers, strict=True):
        own, out = layer.attention.self, layer.attention.output
        attention(mine.attend, own.query, own.key, own.value, out.dense, out.LayerNorm)
        thinking(mine.think, layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm)


def bert_input(run: Torch, embeddings: Torch) -> None:
    take(run.words, embeddings.word_embeddings)
    take(run.input.positions[0], embeddings.position_embeddings)
    take(run.input.segments, embeddings.token_type_embeddings)
    take(run.input.norm, embeddings.LayerNorm)


@torch.no_grad()
def bert() -> Iterator[Compared]:
    theirs = stirred(transformers.BertForPreTraining(transformers.BertConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=12, type_vocab_size=2)))  # fmt: skip
    run: Torch = Network(replace(BASE, segments=2)).double().eval()
    heads: Torch = Heads(HeadsConfig(), D, run.words, [OBJECTIVES["bert"]]).double()
    bert_input(run, theirs.bert.embeddings)
    bert_layers(run, theirs.bert.encoder.layer)
    said = theirs.cls.predictions
    words_head(heads, said.transform.dense, said.transform.LayerNorm, said.bias)
    take(heads.pairs["2"].dense, theirs.bert.pooler.dense)
    take(heads.pairs["2"].out, theirs.cls.seq_relationship)

    ids, segments = some_ids(), np.repeat([[0] * 5 + [1] * 4], 2, axis=0)
    for what, mask in (("full", full(N)), ("causal", causal(N)), ("prefix", prefix(N, 4))):
        h = run(batch({"content": block(ids, {"content": mask}, segments)})).hidden["content"]
        right = theirs(
            input_ids=torch.as_tensor(ids),
            token_type_ids=torch.as_tensor(segments),
            attention_mask=mask.additive(torch.float64).expand(2, -1, -1, -1),
        )
        yield from alike(f"words under a {what} mask", heads.words(h, run.words.weight), right.prediction_logits)
        yield from alike(f"pair under a {what} mask", heads.pairs["2"](h[:, 0]), right.seq_relationship_logits)


@torch.no_grad()
def albert() -> Iterator[Compared]:
    theirs = stirred(transformers.AlbertForPreTraining(transformers.AlbertConfig(
        vocab_size=V, embedding_size=8, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=12, type_vocab_size=2, hidden_act="gelu_new")))  # fmt: skip
    run: Torch = Network(replace(BASE, segments=2, embedding=8, shared=True, activation="gelu_tanh")).double().eval()
    heads: Torch = Heads(HeadsConfig(activation="gelu_tanh"), D, run.words, [OBJECTIVES["albert"]]).double()
    bert_input(run, theirs.albert.embeddings)
    take(run.project, theirs.albert.encoder.embedding_hidden_mapping_in)
    layer = theirs.albert.encoder.albert_layer_groups[0].albert_layers[0]
    own = layer.attention
    attention(run.layers[0].attend, own.query, own.key, own.value, own.dense, own.LayerNorm)
    thinking(run.layers[0].think, layer.ffn, layer.ffn_output, layer.full_layer_layer_norm)
    words_head(heads, theirs.predictions.dense, theirs.predictions.LayerNorm, theirs.predictions.bias)
    take(heads.pairs["2"].dense, theirs.albert.pooler)
    take(heads.pairs["2"].out, theirs.sop_classifier.classifier)

    ids = some_ids()
    h = run(batch({"content": block(ids, {"content": full(N)})})).hidden["content"]
    right = theirs(input_ids=torch.as_tensor(ids))
    yield from alike("words", heads.words(h, run.words.weight), right.prediction_logits)
    yield from alike("order", heads.pairs["2"](h[:, 0]), right.sop_logits)


@torch.no_grad()
def electra() -> Iterator[Compared]:
    theirs = stirred(transformers.ElectraForPreTraining(transformers.ElectraConfig(
        vocab_size=V, embedding_size=8, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=12, type_vocab_size=2)))  # fmt: skip
    run: Torch = Network(replace(BASE, segments=2, embedding=8)).double().eval()
    heads: Torch = Heads(HeadsConfig(), D, run.words, [OBJECTIVES["electra"]]).double()
    bert_input(run, theirs.electra.embeddings)
    take(run.project, theirs.electra.embeddings_project)
    bert_layers(run, theirs.electra.encoder.layer)
    take(heads.replaced.dense, theirs.discriminator_predictions.dense)
    take(heads.replaced.out, theirs.discriminator_predictions.dense_prediction)
    ids = some_ids()
    h = run(batch({"content": block(ids, {"content": full(N)})})).hidden["content"]
    yield from alike("judgement", heads.replaced(h), theirs(input_ids=torch.as_tensor(ids)).logits)


@torch.no_grad()
def mpnet() -> Iterator[Compared]:
    n = 30  # far enough for buckets that hold several distances
    theirs = stirred(transformers.MPNetForMaskedLM(transformers.MPNetConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=n + 2)))  # fmt: skip
    run: Torch = Network(replace(BASE, positions="learned_and_buckets", longest=n)).double().eval()
    heads: Torch = Heads(HeadsConfig(), D, run.words, [OBJECTIVES["mpnet"]]).double()
    take(run.words, theirs.mpnet.embeddings.word_embeddings)
    run.input.positions[0].weight.copy_(theirs.mpnet.embeddings.position_embeddings.weight[2:])
    take(run.input.norm, theirs.mpnet.embeddings.LayerNorm)
    take(run.bias, theirs.mpnet.encoder.relative_attention_bias)
    for mine, layer in zip(run.layers, theirs.mpnet.encoder.layer, strict=True):
        own = layer.attention.attn
        attention(mine.attend, own.q, own.k, own.v, own.o, layer.attention.LayerNorm)
        thinking(mine.think, layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm)
    words_head(heads, theirs.lm_head.dense, theirs.lm_head.layer_norm, theirs.lm_head.bias)
    ids = some_ids(n)
    h = run(batch({"content": block(ids, {"content": full(n)})})).hidden["content"]
    yield from alike("words", heads.words(h, run.words.weight), theirs(input_ids=torch.as_tensor(ids)).logits)


@torch.no_grad()
def gpt() -> Iterator[Compared]:
    theirs = stirred(transformers.OpenAIGPTLMHeadModel(transformers.OpenAIGPTConfig(
        vocab_size=V, n_positions=12, n_embd=D, n_layer=LAYERS, n_head=HEADS)))  # fmt: skip
    config = replace(BASE, inner=4 * D, norm_words=False, eps=1e-5, activation="gelu_tanh")
    run: Torch = Network(config).double().eval()
    heads: Torch = Heads(PLAIN, D, run.words, [OBJECTIVES["gpt"]]).double()
    take(run.words, theirs.transformer.tokens_embed)
    take(run.input.positions[0], theirs.transformer.positions_embed)
    for mine, layer in zip(run.layers, theirs.transformer.h, strict=True):
        own = mine.attend.attention
        parts = zip(layer.attn.c_attn.weight.split(D, dim=1), layer.attn.c_attn.bias.split(D), strict=True)
        for linear, (weight, bias) in zip((own.q, own.k, own.v), parts, strict=True):
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)
        for linear, c in ((own.out, layer.attn.c_proj), (mine.think.inner, layer.mlp.c_fc),
                          (mine.think.outer, layer.mlp.c_proj)):  # fmt: skip
            linear.weight.copy_(c.weight.T)
            linear.bias.copy_(c.bias)
        take(mine.attend.norm, layer.ln_1)
        take(mine.think.norm, layer.ln_2)
    ids = some_ids()
    h = run(batch({"content": block(ids, {"content": causal(N)})})).hidden["content"]
    yield from alike("words", heads.words(h, run.words.weight), theirs(input_ids=torch.as_tensor(ids)).logits)


@torch.no_grad()
def boolean_masks() -> Iterator[Compared]:
    """Why masks are floats: eager attention adds a boolean one as 0 and 1, which hides nothing."""
    config = transformers.BertConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=2, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=12, attn_implementation="eager")  # fmt: skip
    model = stirred(transformers.BertModel(config))
    n, ids = 10, torch.as_tensor(some_ids(10)[:1])
    masks = {"floats": causal(n).additive(torch.float64), "booleans": torch.as_tensor(causal(n).dense())[None, None]}
    for kind, mask in masks.items():
        moved = 0
        before = model(input_ids=ids, attention_mask=mask).last_hidden_state[0]
        for cell in range(n):
            other = ids.clone()
            other[0, cell] = (other[0, cell] + 1) % V
            after = model(input_ids=other, attention_mask=mask).last_hidden_state[0]
            moved += int(((after - before).abs().amax(dim=1) > 0)[:cell].sum())
        yield Compared(f"of 45 forbidden pairs move under {kind}", moved, 0 if kind == "floats" else 45)


PARITY: dict[str, tuple[str, Callable[[], Iterator[Compared]]]] = {
    "albert": ("AlbertForPreTraining", albert),
    "bert": ("BertForPreTraining", bert),
    "electra": ("ElectraForPreTraining", electra),
    "gpt": ("OpenAIGPTLMHeadModel", gpt),
    "mpnet": ("MPNetForMaskedLM", mpnet),
}
