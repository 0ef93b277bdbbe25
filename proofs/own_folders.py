"""Folders of networks that transformers does not have, against loops over the formulas (`slow`)."""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from factpin.layers.masks import causal, full
from factpin.objectives import OBJECTIVES, collate
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from proofs.compare import Compared
from proofs.folders import as_encoder, loaded, written
from proofs.parity import alike, batch, block
from proofs.parity_more import reading
from proofs.slow import Slow
from proofs.world import text


@torch.no_grad()
def glm() -> Iterator[Compared]:
    with written("glm") as one:
        v = vocabulary_of(Tokenizer.load(one.folder))
        view = OBJECTIVES["glm_token"].view(text(12, 1, ids=one.ids(12)[0]), v, seed=0, epoch=0, index=0)
        content = collate([view], v.pad).streams["content"]
        h = one.model.learner.encoder(collate([view], v.pad)).hidden["content"]
        sees = content.sees["content"][0]
        right = Slow(one.folder).glm(content.ids[0].tolist(), content.positions[0].tolist(), lambda i, j: sees[i, j])
        yield from alike("words", one.words(h)[0], right)
        ids = one.ids(9)
        positions = np.stack([np.stack([np.arange(9), np.zeros(9, np.int64)], 1)] * 2)
        plain = block(ids, {"content": full(9)})
        plain = type(plain)(ids, positions, plain.segments, plain.labels, plain.real, plain.sees)
        yield from as_encoder(one, one.model.learner.encoder(batch({"content": plain})).hidden["content"], ids)
        yield from loaded("AutoModel", one.folder)[1]


@torch.no_grad()
def nezha() -> Iterator[Compared]:
    with written("nezha") as one:
        ids, segments = one.ids(9), np.repeat([[0] * 4 + [1] * 5], 2, axis=0)
        h = one.model.learner.encoder(batch({"content": block(ids, {"content": full(9)}, segments)})).hidden["content"]
        right = Slow(one.folder).nezha(ids[0].tolist(), segments[0].tolist())
        yield from alike("words", one.words(h)[0], right)
        plain = one.model.learner.encoder(batch({"content": block(ids, {"content": full(9)})})).hidden["content"]
        yield from as_encoder(one, plain, ids)
        yield from loaded("AutoModel", one.folder)[1]


@torch.no_grad()
def transformer_xl() -> Iterator[Compared]:
    """Three segments of four, each behind the memory of those before."""
    with written("transformer_xl") as one:
        ids = one.ids(12)
        memory, h = None, torch.zeros(0)
        for at in range(0, 12, 4):
            kept = block(ids[:, :at], {})
            seen = {"memory": full(4, at), "content": causal(4)}
            kept = type(kept)(kept.ids, kept.positions - at, kept.segments, kept.labels, kept.real, {})
            states = one.model.learner.encoder(
                batch({"memory": kept, "content": block(ids[:, at : at + 4], seen)}), memory
            )
            memory, h = states.memory, states.hidden["content"]
        right = Slow(one.folder).transformer_xl([ids[0, at : at + 4].tolist() for at in range(0, 12, 4)])
        yield from alike("words behind a carried memory", one.words(h)[0], right)
        plain = one.model.learner.encoder(batch({"content": block(ids, {"content": causal(12)})})).hidden["content"]
        yield from as_encoder(one, plain, ids)
        yield from loaded("AutoModel", one.folder)[1]


@torch.no_grad()
def palm() -> Iterator[Compared]:
    with written("palm") as one:
        read, told = one.ids(8), one.ids(6, seed=2)
        made = reading(read, told)
        log_p = [one.model.learner.log_p(made, "decoder", np.full(2, at))[0] for at in range(6)]
        right = Slow(one.folder).palm(read[0].tolist(), told[0].tolist())
        yield from alike("words and copies", torch.stack(log_p), right)
        yield from as_encoder(one, one.model.learner.encoder(made).hidden["encoder"], read)
        yield from loaded("AutoModel", one.folder)[1]


OWN_FOLDERS: dict[str, tuple[str, Callable[[], Iterator[Compared]]]] = {
    "glm": ("a loop over the formulas", glm),
    "nezha": ("a loop over the formulas", nezha),
    "palm": ("a loop over the formulas", palm),
    "transformer_xl": ("a loop over the formulas", transformer_xl),
}
