"""The layer of `factpin train … --knowledge kar|entities --db kb.db`: built from a store, its linker trained first.

An encoder that `factpin pretrain --objective knowbert|eae|linker` made brings its layer along.

A store means most names by one entity only, so half of the mentions get random entities beside their candidates, with
random priors: a linker that sees no choice learns none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.knowledge.entity_memory import linking_loss
from factpin.knowledge.kar import Kar
from factpin.knowledge.layer_folder import has_layer, load_layer
from factpin.knowledge.link_scores import Scored, fit_scores, is_enough
from factpin.knowledge.linked import LONGEST
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan, NameBatch, collate_mentions
from factpin.knowledge.reading import SIZE, EncodedText, StoreReading, Vectors, read_store
from factpin.knowledge.store_layer import StoreLayer, build_layer
from factpin.memory import Store, open_store
from factpin.tokens import Tokenizer

KEPT = 0.2  # share of the documents that say what NIL scores


@dataclass(frozen=True)
class Lessons:
    """How a linker learns, before anything else is trained."""

    steps: int = 200
    batch: int = 32
    rate: float = 1e-3
    others: int = 8  # random candidates


@dataclass(frozen=True)
class LinkerOutcome:
    """What a linker has learned from, and how it did before it learned from the held texts as well."""

    loss: float  # of the last step
    taught: int  # texts that were not held
    held: int
    scored: tuple[Scored, ...] = ()  # the mentions of held texts, by the linker that had not learned from them


def knowledge_layer(
    options: Any, encoder: Encoder, tokenizer: Tokenizer, source: Path | None = None
) -> StoreLayer | None:
    """Put the layer that the options name into an encoder, or the one in its folder; None if there is neither."""
    kind, own = getattr(options, "knowledge", ""), source is not None and has_layer(source)
    if kind and own:
        raise BadInput(f"{source} brings a layer over a store along. Leave --knowledge out, or take another encoder.")
    if source is not None and own:
        return load_layer(source, encoder, tokenizer)
    if not kind:
        return None
    if encoder.insert is not None:
        raise BadInput("The initial model brings a layer over a store along. Leave --knowledge out, or take another.")
    if not options.db:
        raise BadInput(f"--knowledge {kind} needs a store. Name it with --db kb.db.")
    with open_store(options.db) as store:
        layer, reading = layer_over(store, kind, encoder, tokenizer)
    train_linker(layer, reading.texts)
    layer.trim()
    return layer


def layer_over(
    store: Store,
    kind: str,
    encoder: Encoder,
    tokenizer: Tokenizer,
    *,
    size: int = SIZE,
    vectors: Vectors = "",
    longest: int = LONGEST,
    bf16: bool = False,
) -> tuple[StoreLayer, StoreReading]:
    """Build a layer, and put it into the encoder; gives it with what its linker learns from."""
    reading = read_store(store, kind, encoder, tokenizer, size=size, vectors=vectors, longest=longest, bf16=bf16)
    return build_layer(encoder, tokenizer, reading), reading


def train_linker(layer: StoreLayer, texts: Sequence[EncodedText], how: Lessons = Lessons()) -> LinkerOutcome:
    """Train the linker alone. Then W2 of a KAR is set anew.

    What NIL scores for a KAR is fitted on a fifth of the documents by a linker that learned from the others. Then it
    learns anew from all.
    """
    own = layer.layer
    usable = [one for one in texts if one.hidden is not None and linkable(layer, one)]
    if not isinstance(own, Kar):
        return LinkerOutcome(learn_links(layer, usable, how), len(usable), 0)
    if not usable:
        raise BadInput(
            "No name of the store occurs in two documents, so there is nothing to learn from. Add more documents about "
            "the same entities with `factpin index`."
        )
    taught = [one for one in usable if not is_held(one.text.source, KEPT)]
    held = [one for one in usable if is_held(one.text.source, KEPT)]
    found = list[Scored]()
    if taught and held:
        start = {name: weight.clone() for name, weight in own.state_dict().items()}
        learn_links(layer, taught, how)
        found = scored(layer, held)
        own.load_state_dict(start)
    set_decision(layer, found)
    return LinkerOutcome(learn_links(layer, usable, how), len(taught), len(held), tuple(found))


def learn_links(layer: StoreLayer, lessons: Sequence[EncodedText], how: Lessons) -> float:
    """Train the linker on these texts, from the weights that it has; returns its last loss."""
    own, loss = layer.layer, torch.zeros(())
    if not lessons:
        return 0.0
    chance = np.random.default_rng(int(torch.randint(2**31, ())))
    chosen = own.linker() if isinstance(own, Kar) else [*own.ask.parameters(), *own.entities.parameters()]
    optimiser = torch.optim.AdamW(chosen, lr=how.rate)
    layer.train()
    for _ in range(how.steps):
        some = [lessons[int(i)] for i in chance.integers(len(lessons), size=how.batch)]
        loss = linking(layer, *lesson_batch(layer, some, chance, how.others))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    layer.eval()
    if isinstance(own, Kar):
        own.invert()
    return float(loss.detach())


def is_held(source: str, share: float) -> bool:
    """Whether a document is one of those that are not learned from."""
    return int(sha256(source.encode()).hexdigest()[:8], 16) < share * 2**32


def lesson_batch(
    layer: StoreLayer, some: Sequence[EncodedText], chance: np.random.Generator, others: int
) -> tuple[Tensor, NameBatch]:
    """Vectors of texts side by side (B, N, D), and their mentions; those of a KAR with random candidates."""
    hidden = [one.hidden for one in some if one.hidden is not None]
    many = others if isinstance(layer.layer, Kar) else 0
    mentions = [[with_others(span, layer.config.rows, many, chance) for span in linkable(layer, one)] for one in some]
    return torch.nn.utils.rnn.pad_sequence(hidden, batch_first=True), collate_mentions(mentions)


def linkable(layer: StoreLayer, one: EncodedText) -> list[MentionSpan]:
    """The mentions that can be linked: for a KAR, those that have candidates."""
    return [span for span in one.text.mentions if span.candidates or not isinstance(layer.layer, Kar)]


def with_others(span: MentionSpan, rows: int, many: int, chance: np.random.Generator) -> MentionSpan:
    """A mention with so many random candidates, and random priors, for half of the mentions that are not NIL."""
    if not many or span.gold == NIL or chance.random() < 0.5:
        return span
    drawn = {int(row) for row in chance.integers(FIRST, rows, size=many)} - {*span.candidates, span.entity}
    candidates = span.candidates + tuple(sorted(drawn))
    return replace(span, candidates=candidates, priors=tuple(chance.dirichlet(np.ones(len(candidates))).tolist()))


def linking(layer: StoreLayer, hidden: Tensor, mentions: NameBatch) -> Tensor:
    """The loss of linking."""
    own = layer.layer
    if isinstance(own, Kar):
        return own.loss(own.link(hidden, mentions), mentions)
    return linking_loss(own.scores(hidden, mentions), mentions)


@torch.no_grad()
def scored(layer: StoreLayer, texts: Sequence[EncodedText]) -> list[Scored]:
    """The scores of the candidates of all mentions, and which one is right."""
    own, found = layer.layer, list[Scored]()
    if not isinstance(own, Kar):
        return found
    for one in texts:
        spans = linkable(layer, one)
        if one.hidden is not None and spans:
            scores = own.link(one.hidden[None], collate_mentions([spans]))[0].double().numpy()  # (C, M)
            found += [(row[: len(span.candidates)], span.gold) for row, span in zip(scores, spans, strict=True)]
    return found


def set_decision(layer: StoreLayer, found: Sequence[Scored]) -> None:
    """What NIL scores, and how scores become probabilities."""
    nil, sharpness = fit_scores(found)
    layer.config = replace(layer.config, fitted=is_enough(found), nil=nil, sharpness=sharpness)
