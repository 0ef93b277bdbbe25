"""The same weights in transformers' own classes give the same numbers: 1e-10 in double precision, 2e-5 in single."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn

from factpin.layers.masks import MaskSpec, causal, full, prefix
from factpin.objectives import OBJECTIVES, Batch, collate
from factpin.objectives.collate import Block
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.network import Memory, Network
from factpin.objectives.parts import Attend, NetworkConfig, Think
from factpin.objectives.view import NO_LOSS
from tests.objectives.world import VOCABULARY, text

V, D, N, HEADS, INNER, LAYERS = 40, 16, 9, 4, 24, 3
EXACT, SINGLE = 1e-10, 2e-5
BASE = NetworkConfig(V, D, LAYERS, HEADS, INNER, longest=12, segments=0, dropout=0.0)
PLAIN = HeadsConfig(transform=False, word_bias=False)


def stirred(model: nn.Module) -> nn.Module:
    """Weights that make every part of the network matter and every cell another."""
    chance = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for module in model.modules():
            norm = "Norm" in type(module).__name__
            for parameter in module.parameters(recurse=False):
                parameter.copy_(torch.randn(parameter.shape, generator=chance) * 0.3 + norm)
    return model.double().eval()


def take(ours: nn.Module, theirs: nn.Module) -> None:
    ours.load_state_dict({k: v for k, v in theirs.state_dict().items() if k in ours.state_dict()})


def block(ids: np.ndarray, sees: dict[str, MaskSpec], segments: np.ndarray | None = None) -> Block:
    positions = np.stack([np.arange(ids.shape[1])[:, None]] * len(ids))
    allowed = {name: np.stack([spec.dense()] * len(ids)) for name, spec in sees.items()}
    none = np.zeros_like(ids) if segments is None else segments
    return Block(ids, positions, none, np.full_like(ids, NO_LOSS), np.ones_like(ids, bool), allowed)


def batch(**streams: Block) -> Batch:
    return Batch(streams, np.full(2, NO_LOSS), np.zeros((0, 3), np.int64))


def some_ids(n: int = N, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(3, V, (2, n))


def far(ours: Tensor, theirs: Tensor) -> float:
    assert ours.shape == theirs.shape
    assert theirs.abs().max() > 0.5  # nothing is proved by small numbers
    return float((ours - theirs).abs().max())


def attention(ours: Attend, q: nn.Module, k: nn.Module, v: nn.Module, out: nn.Module, norm: nn.Module) -> None:
    for mine, theirs in zip(
        (ours.attention.q, ours.attention.k, ours.attention.v, ours.attention.out, ours.norm),
        (q, k, v, out, norm),
        strict=True,
    ):
        take(mine, theirs)


def thinking(ours: Think, inner: nn.Module, outer: nn.Module, norm: nn.Module) -> None:
    for mine, theirs in zip((ours.inner, ours.outer, ours.norm), (inner, outer, norm), strict=True):
        take(mine, theirs)


def bert_layers(run: Network, layers: nn.ModuleList) -> None:
    for mine, layer in zip(run.layers, layers, strict=True):
        own, out = layer.attention.self, layer.attention.output
        attention(mine.attend, own.query, own.key, own.value, out.dense, out.LayerNorm)
        thinking(mine.think, layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm)


def bert_input(run: Network, embeddings: nn.Module) -> None:
    take(run.words, embeddings.word_embeddings)
    take(run.input.positions[0], embeddings.position_embeddings)
    take(run.input.segments, embeddings.token_type_embeddings)
    take(run.input.norm, embeddings.LayerNorm)


@pytest.mark.parametrize("mask", [full(N), causal(N), prefix(N, 4)], ids=["full", "causal", "prefix"])
@torch.no_grad()
def test_bert_with_its_two_heads(mask: MaskSpec) -> None:
    theirs = stirred(transformers.BertForPreTraining(transformers.BertConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=12, type_vocab_size=2)))  # fmt: skip
    run = Network(replace(BASE, segments=2)).double().eval()
    heads = Heads(HeadsConfig(), D, run.words, [OBJECTIVES["bert"]]).double()
    bert_input(run, theirs.bert.embeddings)
    bert_layers(run, theirs.bert.encoder.layer)
    take(heads.words.dense, theirs.cls.predictions.transform.dense)
    take(heads.words.norm, theirs.cls.predictions.transform.LayerNorm)
    heads.words.bias.copy_(theirs.cls.predictions.bias)
    take(heads.pairs["2"].dense, theirs.bert.pooler.dense)
    take(heads.pairs["2"].out, theirs.cls.seq_relationship)

    ids, segments = some_ids(), np.repeat([[0] * 5 + [1] * 4], 2, axis=0)
    h = run(batch(content=block(ids, {"content": mask}, segments))).hidden["content"]
    right = theirs(
        input_ids=torch.as_tensor(ids),
        token_type_ids=torch.as_tensor(segments),
        attention_mask=mask.additive(torch.float64).expand(2, -1, -1, -1),
    )
    assert far(heads.words(h, run.words.weight), right.prediction_logits) < EXACT
    assert far(heads.pairs["2"](h[:, 0]), right.seq_relationship_logits) < EXACT


@torch.no_grad()
def test_albert_with_small_vectors_and_one_layer() -> None:
    theirs = stirred(transformers.AlbertForPreTraining(transformers.AlbertConfig(
        vocab_size=V, embedding_size=8, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=12, type_vocab_size=2, hidden_act="gelu_new")))  # fmt: skip
    run = Network(replace(BASE, segments=2, embedding=8, shared=True, activation="gelu_tanh")).double().eval()
    heads = Heads(HeadsConfig(activation="gelu_tanh"), D, run.words, [OBJECTIVES["albert"]]).double()
    bert_input(run, theirs.albert.embeddings)
    take(run.project, theirs.albert.encoder.embedding_hidden_mapping_in)
    layer = theirs.albert.encoder.albert_layer_groups[0].albert_layers[0]
    own = layer.attention
    attention(run.layers[0].attend, own.query, own.key, own.value, own.dense, own.LayerNorm)
    thinking(run.layers[0].think, layer.ffn, layer.ffn_output, layer.full_layer_layer_norm)
    take(heads.words.dense, theirs.predictions.dense)
    take(heads.words.norm, theirs.predictions.LayerNorm)
    heads.words.bias.copy_(theirs.predictions.bias)
    take(heads.pairs["2"].dense, theirs.albert.pooler)
    take(heads.pairs["2"].out, theirs.sop_classifier.classifier)

    ids = some_ids()
    h = run(batch(content=block(ids, {"content": full(N)}))).hidden["content"]
    right = theirs(input_ids=torch.as_tensor(ids))
    assert far(heads.words(h, run.words.weight), right.prediction_logits) < EXACT
    assert far(heads.pairs["2"](h[:, 0]), right.sop_logits) < EXACT


@torch.no_grad()
def test_electra_and_its_judgement() -> None:
    theirs = stirred(transformers.ElectraForPreTraining(transformers.ElectraConfig(
        vocab_size=V, embedding_size=8, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=12, type_vocab_size=2)))  # fmt: skip
    run = Network(replace(BASE, segments=2, embedding=8)).double().eval()
    heads = Heads(HeadsConfig(), D, run.words, [OBJECTIVES["electra"]]).double()
    bert_input(run, theirs.electra.embeddings)
    take(run.project, theirs.electra.embeddings_project)
    bert_layers(run, theirs.electra.encoder.layer)
    take(heads.replaced.dense, theirs.discriminator_predictions.dense)
    take(heads.replaced.out, theirs.discriminator_predictions.dense_prediction)
    ids = some_ids()
    h = run(batch(content=block(ids, {"content": full(N)}))).hidden["content"]
    assert far(heads.replaced(h), theirs(input_ids=torch.as_tensor(ids)).logits) < EXACT


@torch.no_grad()
def test_mpnet_with_positions_and_buckets() -> None:
    n = 30  # far enough for buckets that hold several distances
    theirs = stirred(transformers.MPNetForMaskedLM(transformers.MPNetConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=LAYERS, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=n + 2)))  # fmt: skip
    run = Network(replace(BASE, positions="learned_and_buckets", longest=n)).double().eval()
    heads = Heads(HeadsConfig(), D, run.words, [OBJECTIVES["mpnet"]]).double()
    take(run.words, theirs.mpnet.embeddings.word_embeddings)
    run.input.positions[0].weight.copy_(theirs.mpnet.embeddings.position_embeddings.weight[2:])
    take(run.input.norm, theirs.mpnet.embeddings.LayerNorm)
    take(run.bias, theirs.mpnet.encoder.relative_attention_bias)
    for mine, layer in zip(run.layers, theirs.mpnet.encoder.layer, strict=True):
        own = layer.attention.attn
        attention(mine.attend, own.q, own.k, own.v, own.o, layer.attention.LayerNorm)
        thinking(mine.think, layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm)
    take(heads.words.dense, theirs.lm_head.dense)
    take(heads.words.norm, theirs.lm_head.layer_norm)
    heads.words.bias.copy_(theirs.lm_head.bias)
    ids = some_ids(n)
    h = run(batch(content=block(ids, {"content": full(n)}))).hidden["content"]
    assert far(heads.words(h, run.words.weight), theirs(input_ids=torch.as_tensor(ids)).logits) < EXACT


@torch.no_grad()
def test_gpt() -> None:
    theirs = stirred(transformers.OpenAIGPTLMHeadModel(transformers.OpenAIGPTConfig(
        vocab_size=V, n_positions=12, n_embd=D, n_layer=LAYERS, n_head=HEADS)))  # fmt: skip
    config = replace(BASE, inner=4 * D, norm_words=False, eps=1e-5, activation="gelu_tanh")
    run = Network(config).double().eval()
    heads = Heads(PLAIN, D, run.words, [OBJECTIVES["gpt"]]).double()
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
    h = run(batch(content=block(ids, {"content": causal(N)}))).hidden["content"]
    assert far(heads.words(h, run.words.weight), theirs(input_ids=torch.as_tensor(ids)).logits) < EXACT


def reading(encoder: np.ndarray, decoder: np.ndarray) -> Batch:
    m, n = encoder.shape[1], decoder.shape[1]
    return batch(
        encoder=block(encoder, {"encoder": full(m)}),
        decoder=block(decoder, {"decoder": causal(n), "encoder": full(n, m)}),
    )


@torch.no_grad()
def test_t5_encoder_and_decoder() -> None:
    """Not closer than single precision: transformers computes T5's norm in it."""
    theirs = stirred(transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=V, d_model=D, d_kv=D // HEADS, d_ff=INNER, num_layers=2, num_decoder_layers=2, num_heads=HEADS,
        feed_forward_proj="relu", tie_word_embeddings=True, decoder_start_token_id=0)))  # fmt: skip
    config = replace(BASE, layers=2, decoder_layers=2, positions="buckets", norm_at="before", norm="rms", eps=1e-6)
    config = replace(config, norm_words=False, activation="relu", attention_bias=False, inner_bias=False, scaled=False)
    run = Network(config).double().eval()
    heads = Heads(replace(PLAIN, word_scale=D**-0.5), D, run.words, [OBJECTIVES["t5"]]).double()
    take(run.words, theirs.shared)
    for bias, last, stack in (
        (run.bias, run.last, theirs.encoder),
        (run.decoder_bias, run.decoder_last, theirs.decoder),
    ):
        take(bias, stack.block[0].layer[0].SelfAttention.relative_attention_bias)
        take(last, stack.final_layer_norm)
    for mine, layer in zip(
        [*run.layers, *run.decoder_layers], [*theirs.encoder.block, *theirs.decoder.block], strict=True
    ):
        own = layer.layer[0].SelfAttention
        attention(mine.attend, own.q, own.k, own.v, own.o, layer.layer[0].layer_norm)
        if len(layer.layer) == 3:
            across = layer.layer[1].EncDecAttention
            attention(mine.across, across.q, across.k, across.v, across.o, layer.layer[1].layer_norm)
        ff = layer.layer[-1]
        thinking(mine.think, ff.DenseReluDense.wi, ff.DenseReluDense.wo, ff.layer_norm)
    read, said = some_ids(11), some_ids(6, seed=2)
    h = run(reading(read, said)).hidden["decoder"]
    right = theirs(input_ids=torch.as_tensor(read), decoder_input_ids=torch.as_tensor(said)).logits
    assert far(heads.words(h, run.words.weight), right) < SINGLE


def bart_layers(run: Network, encoder: nn.Module, decoder: nn.Module) -> None:
    for mine, layer in zip([*run.layers, *run.decoder_layers], [*encoder.layers, *decoder.layers], strict=True):
        own = layer.self_attn
        attention(mine.attend, own.q_proj, own.k_proj, own.v_proj, own.out_proj, layer.self_attn_layer_norm)
        if hasattr(layer, "encoder_attn"):
            own = layer.encoder_attn
            attention(mine.across, own.q_proj, own.k_proj, own.v_proj, own.out_proj, layer.encoder_attn_layer_norm)
        thinking(mine.think, layer.fc1, layer.fc2, layer.final_layer_norm)


def both_sides(config: type[transformers.PretrainedConfig]) -> transformers.PretrainedConfig:
    return config(vocab_size=V, d_model=D, encoder_layers=2, decoder_layers=2, encoder_attention_heads=HEADS,
                  decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=INNER,
                  max_position_embeddings=12, activation_function="relu")  # fmt: skip


@torch.no_grad()
def test_bart_encoder_and_decoder() -> None:
    theirs = stirred(transformers.BartForConditionalGeneration(both_sides(transformers.BartConfig)))
    run = Network(replace(BASE, layers=2, decoder_layers=2, eps=1e-5, activation="relu")).double().eval()
    heads = Heads(PLAIN, D, run.words, [OBJECTIVES["bart"]]).double()
    take(run.words, theirs.model.shared)
    for mine, side in ((run.input, theirs.model.encoder), (run.decoder_input, theirs.model.decoder)):
        mine.positions[0].weight.copy_(side.embed_positions.weight[2:])
        take(mine.norm, side.layernorm_embedding)
    bart_layers(run, theirs.model.encoder, theirs.model.decoder)
    read, said = some_ids(11), some_ids(6, seed=2)
    h = run(reading(read, said)).hidden["decoder"]
    right = theirs(input_ids=torch.as_tensor(read), decoder_input_ids=torch.as_tensor(said)).logits
    assert far(heads.words(h, run.words.weight), right) < EXACT


@torch.no_grad()
def test_pegasus_with_sinusoids() -> None:
    """Not closer than single precision: transformers keeps its sinusoids in it."""
    shape = both_sides(transformers.PegasusConfig)
    shape.scale_embedding = True
    made = transformers.PegasusForConditionalGeneration(shape)
    sides = made.model.encoder, made.model.decoder
    waves = [side.embed_positions.weight.clone() for side in sides]
    theirs = stirred(made)
    for side, wave in zip(sides, waves, strict=True):
        side.embed_positions.weight.copy_(wave)
    config = replace(BASE, layers=2, decoder_layers=2, positions="sinusoid", layout="concatenated", norm_at="before")
    run = Network(replace(config, norm_words=False, scale_words=True, eps=1e-5, activation="relu")).double().eval()
    heads = Heads(PLAIN, D, run.words, [OBJECTIVES["pegasus"]]).double()
    take(run.words, theirs.model.shared)
    take(run.last, theirs.model.encoder.layer_norm)
    take(run.decoder_last, theirs.model.decoder.layer_norm)
    bart_layers(run, *sides)
    read, said = some_ids(11), some_ids(6, seed=2)
    h = run(reading(read, said)).hidden["decoder"]
    right = theirs(input_ids=torch.as_tensor(read), decoder_input_ids=torch.as_tensor(said)).logits
    assert far(heads.words(h, run.words.weight), right) < SINGLE


@pytest.mark.parametrize("remembered", [0, 5])
@torch.no_grad()
def test_xlnet_with_two_streams_segments_and_memory(remembered: int) -> None:
    """In single precision: transformers' two streams cannot be run in double."""
    v = VOCABULARY.size
    theirs = stirred(transformers.XLNetLMHeadModel(transformers.XLNetConfig(
        vocab_size=v, d_model=D, n_layer=LAYERS, n_head=HEADS, d_inner=INNER,
        ff_activation="gelu"))).float()  # fmt: skip
    config = replace(BASE, vocabulary=v, positions="relative", segments=3, norm_words=False, attention_bias=False)
    run = Network(config).eval()
    heads = Heads(replace(PLAIN, word_bias=True), D, run.words, [OBJECTIVES["xlnet"]])
    take(run.words, theirs.transformer.word_embedding)
    run.words.weight[VOCABULARY.mask] = theirs.transformer.mask_emb[0, 0]
    heads.words.bias.copy_(theirs.lm_loss.bias)
    for mine, layer in zip(run.layers, theirs.transformer.layer, strict=True):
        own, rel = mine.attend.attention, layer.rel_attn
        for linear, weight in ((own.q, rel.q), (own.k, rel.k), (own.v, rel.v), (own.r, rel.r)):
            linear.weight.copy_(weight.reshape(D, D).T)
        own.out.weight.copy_(rel.o.reshape(D, D))
        for bias, theirs_bias in ((own.u, rel.r_w_bias), (own.v_r, rel.r_r_bias), (own.w, rel.r_s_bias)):
            bias.copy_(theirs_bias[:, None])
        own.g.copy_(rel.seg_embed.transpose(0, 1))
        take(mine.attend.norm, rel.layer_norm)
        thinking(mine.think, layer.ff.layer_1, layer.ff.layer_2, layer.ff.layer_norm)

    view = OBJECTIVES["xlnet"].view(text(24, 1, before=remembered), VOCABULARY, seed=0, epoch=0, index=0)
    made = collate([view], VOCABULARY.pad)
    content, query = made.streams["content"], made.streams["query"]
    memory = [torch.randn(1, remembered, D) for _ in range(LAYERS)] if remembered else None
    states = run(made, memory and Memory(tuple(memory), torch.ones(1, remembered, dtype=torch.bool)))
    ours = heads.words(states.hidden["query"], run.words.weight)

    n, b = content.ids.shape[1], query.ids.shape[1]
    blocked = ~content.sees["content"] | np.eye(n, dtype=bool)  # the query of a cell does not see it
    mapping = np.zeros((1, b, n))
    mapping[0, np.arange(b), query.positions[0, :, 0]] = 1
    right = theirs(
        input_ids=torch.as_tensor(content.ids),
        token_type_ids=torch.as_tensor(content.segments),
        perm_mask=torch.as_tensor(blocked, dtype=torch.float32),
        target_mapping=torch.as_tensor(mapping, dtype=torch.float32),
        mems=memory and [one.transpose(0, 1) for one in memory],
    ).logits
    other = np.arange(v) != VOCABULARY.mask  # its row is the queries' vector here, a word's there
    assert far(ours[..., other], right[..., other]) < SINGLE * max(1, math.ceil(right.abs().max() / 10))
