"""Parity of what has a decoder, a memory or two streams; and of what transformers has no class for any more.

Transformer-XL and NEZHA are compared with slow loops over their formulas, one pair of cells at a time, with sines and
cosines of their own: a wrong table of positions is a difference.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
import transformers

from factpin.encoders.own.network import Memory, Network
from factpin.layers.attention import Attention, RelativePositions
from factpin.layers.masks import Ints, causal, full
from factpin.layers.positions import distances, functional, sinusoid
from factpin.objectives import OBJECTIVES, Batch, collate
from factpin.objectives.heads import Heads
from proofs.compare import Compared
from proofs.parity import (
    BASE,
    EXACT,
    HEADS,
    INNER,
    LAYERS,
    PLAIN,
    SINGLE,
    D,
    Torch,
    V,
    alike,
    attention,
    batch,
    block,
    some_ids,
    stirred,
    take,
    thinking,
)
from proofs.slow import waves
from proofs.world import VOCABULARY, text


def reading(encoder: Ints, decoder: Ints) -> Batch:
    m, n = encoder.shape[1], decoder.shape[1]
    sees = {"decoder": causal(n), "encoder": full(n, m)}
    return batch({"encoder": block(encoder, {"encoder": full(m)}), "decoder": block(decoder, sees)})


def said(theirs: Torch, run: Torch, heads: Torch, within: float) -> Iterator[Compared]:
    """What the decoder says behind six ids, having read eleven."""
    read, told = some_ids(11), some_ids(6, seed=2)
    h = run(reading(read, told)).hidden["decoder"]
    right = theirs(input_ids=torch.as_tensor(read), decoder_input_ids=torch.as_tensor(told)).logits
    yield from alike("words", heads.words(h, run.words.weight), right, within)


@torch.no_grad()
def t5() -> Iterator[Compared]:
    theirs = stirred(transformers.T5ForConditionalGeneration(transformers.T5Config(
        vocab_size=V, d_model=D, d_kv=D // HEADS, d_ff=INNER, num_layers=2, num_decoder_layers=2, num_heads=HEADS,
        feed_forward_proj="relu", tie_word_embeddings=True, decoder_start_token_id=0)))  # fmt: skip
    config = replace(BASE, layers=2, decoder_layers=2, positions="buckets", norm_at="before", norm="rms", eps=1e-6)
    config = replace(config, norm_words=False, activation="relu", attention_bias=False, inner_bias=False, scaled=False)
    run: Torch = Network(config).double().eval()
    heads: Torch = Heads(replace(PLAIN, word_scale=D**-0.5), D, run.words, [OBJECTIVES["t5"]]).double()
    take(run.words, theirs.shared)
    sides = ((run.bias, run.last, theirs.encoder), (run.decoder_bias, run.decoder_last, theirs.decoder))
    for bias, last, stack in sides:
        take(bias, stack.block[0].layer[0].SelfAttention.relative_attention_bias)
        take(last, stack.final_layer_norm)
    both = [*theirs.encoder.block, *theirs.decoder.block]
    for mine, layer in zip([*run.layers, *run.decoder_layers], both, strict=True):
        own = layer.layer[0].SelfAttention
        attention(mine.attend, own.q, own.k, own.v, own.o, layer.layer[0].layer_norm)
        if len(layer.layer) == 3:
            across = layer.layer[1].EncDecAttention
            attention(mine.across, across.q, across.k, across.v, across.o, layer.layer[1].layer_norm)
        ff = layer.layer[-1]
        thinking(mine.think, ff.DenseReluDense.wi, ff.DenseReluDense.wo, ff.layer_norm)
    yield from said(theirs, run, heads, SINGLE)


def bart_layers(run: Torch, encoder: Torch, decoder: Torch) -> None:
    for mine, layer in zip([*run.layers, *run.decoder_layers], [*encoder.layers, *decoder.layers], strict=True):
        own = layer.self_attn
        attention(mine.attend, own.q_proj, own.k_proj, own.v_proj, own.out_proj, layer.self_attn_layer_norm)
        if hasattr(layer, "encoder_attn"):
            own = layer.encoder_attn
            attention(mine.across, own.q_proj, own.k_proj, own.v_proj, own.out_proj, layer.encoder_attn_layer_norm)
        thinking(mine.think, layer.fc1, layer.fc2, layer.final_layer_norm)


def both_sides(config: Torch) -> Torch:
    return config(vocab_size=V, d_model=D, encoder_layers=2, decoder_layers=2, encoder_attention_heads=HEADS,
                  decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=INNER,
                  max_position_embeddings=12, activation_function="relu")  # fmt: skip


@torch.no_grad()
def bart() -> Iterator[Compared]:
    theirs = stirred(transformers.BartForConditionalGeneration(both_sides(transformers.BartConfig)))
    run: Torch = Network(replace(BASE, layers=2, decoder_layers=2, eps=1e-5, activation="relu")).double().eval()
    heads: Torch = Heads(PLAIN, D, run.words, [OBJECTIVES["bart"]]).double()
    take(run.words, theirs.model.shared)
    for mine, side in ((run.input, theirs.model.encoder), (run.decoder_input, theirs.model.decoder)):
        mine.positions[0].weight.copy_(side.embed_positions.weight[2:])
        take(mine.norm, side.layernorm_embedding)
    bart_layers(run, theirs.model.encoder, theirs.model.decoder)
    yield from said(theirs, run, heads, EXACT)


@torch.no_grad()
def pegasus() -> Iterator[Compared]:
    shape = both_sides(transformers.PegasusConfig)
    shape.scale_embedding = True
    made = transformers.PegasusForConditionalGeneration(shape)
    sides = made.model.encoder, made.model.decoder
    waves = [side.embed_positions.weight.clone() for side in sides]
    theirs = stirred(made)
    for side, wave in zip(sides, waves, strict=True):
        side.embed_positions.weight.copy_(wave)
    config = replace(BASE, layers=2, decoder_layers=2, positions="sinusoid", layout="concatenated", norm_at="before")
    config = replace(config, norm_words=False, scale_words=True, eps=1e-5, activation="relu")
    run: Torch = Network(config).double().eval()
    heads: Torch = Heads(PLAIN, D, run.words, [OBJECTIVES["pegasus"]]).double()
    take(run.words, theirs.model.shared)
    take(run.last, theirs.model.encoder.layer_norm)
    take(run.decoder_last, theirs.model.decoder.layer_norm)
    bart_layers(run, *sides)
    yield from said(theirs, run, heads, SINGLE)


def xlnet() -> Iterator[Compared]:
    for remembered in (0, 5):
        yield from _xlnet(remembered)


@torch.no_grad()
def _xlnet(remembered: int) -> Iterator[Compared]:
    v = VOCABULARY.size
    theirs = stirred(transformers.XLNetLMHeadModel(transformers.XLNetConfig(
        vocab_size=v, d_model=D, n_layer=LAYERS, n_head=HEADS, d_inner=INNER,
        ff_activation="gelu"))).float()  # fmt: skip
    config = replace(BASE, vocabulary=v, positions="relative", segments=3, norm_words=False, attention_bias=False)
    run: Torch = Network(config).eval()
    heads: Torch = Heads(replace(PLAIN, word_bias=True), D, run.words, [OBJECTIVES["xlnet"]])
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
    chance = torch.Generator().manual_seed(1)
    kept = [torch.randn(1, remembered, D, generator=chance) for _ in range(LAYERS)]
    memory = Memory(tuple(kept), torch.ones(1, remembered, dtype=torch.bool)) if remembered else None
    ours = heads.words(run(made, memory).hidden["query"], run.words.weight)

    n, b = content.ids.shape[1], query.ids.shape[1]
    blocked = ~content.sees["content"] | np.eye(n, dtype=np.bool_)  # the query of a cell does not see it
    mapping = np.zeros((1, b, n))
    mapping[0, np.arange(b), query.positions[0, :, 0]] = 1
    right = theirs(
        input_ids=torch.as_tensor(content.ids),
        token_type_ids=torch.as_tensor(content.segments),
        perm_mask=torch.as_tensor(blocked, dtype=torch.float32),
        target_mapping=torch.as_tensor(mapping, dtype=torch.float32),
        mems=[one.transpose(0, 1) for one in kept] if remembered else None,
    ).logits
    other = np.arange(v) != VOCABULARY.mask  # its row is the queries' vector here, a word's there
    within = SINGLE * max(1, math.ceil(float(right.abs().max()) / 10))
    yield from alike(f"words, memory of {remembered}", ours[..., other], right[..., other], within)


@torch.no_grad()
def transformer_xl() -> Iterator[Compared]:
    """[(q + u) k + (q + v) W_r R_{i-j}] / √d over every pair, behind a memory of 4."""
    torch.manual_seed(0)
    Q, K, d = 5, 9, D // HEADS
    own: Torch = Attention(D, HEADS, kind="relative", bias=False).double()
    for parameter in own.parameters():
        parameter.normal_(std=0.5)
    x, keys = torch.randn(1, Q, D).double(), torch.randn(1, K, D).double()
    allowed = torch.ones(1, Q, K).tril(K - Q).bool()
    table = sinusoid(distances(Q, K, "left"), D, "concatenated", torch.float64)
    ours, _ = own(x, keys, allowed, RelativePositions(table=table, ways="left"))

    heads = [one.view(-1, HEADS, d) for one in (own.q(x), own.k(keys), own.v(keys))]
    mixed = torch.zeros(Q, HEADS, d).double()
    for h in range(HEADS):
        for i in range(Q):
            s = torch.full((K,), -torch.inf).double()
            for j in range(K):
                if allowed[0, i, j]:
                    sines, cosines = waves(i + K - Q - j, D)  # all sines, then all cosines
                    r = own.r(torch.tensor(sines + cosines, dtype=torch.float64)).view(HEADS, d)
                    q = heads[0][i, h]
                    s[j] = ((q + own.u[h, 0]) @ heads[1][j, h] + (q + own.v_r[h, 0]) @ r[h]) / d**0.5
            mixed[i, h] = torch.softmax(s, 0) @ heads[2][:, h]
    yield from alike("attention", ours[0], own.out(mixed.flatten(1)), EXACT)


@torch.no_grad()
def nezha() -> Iterator[Compared]:
    """q (k + a_{j-i}) / √d, out Σ p (v + a_{j-i}) over every pair, distances cut at 3."""
    torch.manual_seed(0)
    n, d, limit = 9, D // HEADS, 3
    own: Torch = Attention(D, HEADS, kind="functional").double()
    for parameter in own.parameters():
        parameter.normal_(std=0.5)
    x = torch.randn(1, n, D).double()
    index = (torch.arange(n)[None] - torch.arange(n)[:, None]).clamp(-limit, limit) + limit
    ours, _ = own(
        x,
        x,
        torch.ones(1, n, n).bool(),
        RelativePositions(table=functional(d, limit, torch.float64), index=index[None]),
    )

    q, k, v = (one.view(n, HEADS, d) for one in (own.q(x), own.k(x), own.v(x)))
    mixed = torch.zeros(n, HEADS, d).double()
    for h in range(HEADS):
        for i in range(n):
            pairs = [zip(*waves(max(-limit, min(limit, j - i)) + limit, d), strict=True) for j in range(n)]
            a = [
                torch.tensor([w for pair in one for w in pair], dtype=torch.float64) for one in pairs
            ]  # sin, cos, sin, …
            s = torch.stack([q[i, h] @ (k[j, h] + a[j]) / d**0.5 for j in range(n)])
            p = torch.softmax(s, 0)
            mixed[i, h] = sum(p[j] * (v[j, h] + a[j]) for j in range(n))
    yield from alike("attention", ours[0], own.out(mixed.flatten(1)), EXACT)


PARITY_MORE: dict[str, tuple[str, Callable[[], Iterator[Compared]]]] = {
    "bart": ("BartForConditionalGeneration", bart),
    "nezha": ("a loop over the formula", nezha),
    "pegasus": ("PegasusForConditionalGeneration", pegasus),
    "t5": ("T5ForConditionalGeneration", t5),
    "transformer_xl": ("a loop over the formula", transformer_xl),
    "xlnet": ("XLNetLMHeadModel", xlnet),
}
