"""The layer of `factpin train … --knowledge kar|entities --db kb.db`: built from a store, its linker trained first."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from factpin.documents import Document
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.knowledge.entity_memory import linking_loss
from factpin.knowledge.kar import Kar
from factpin.knowledge.mentions import FIRST, NIL, MentionSpan, collate_mentions
from factpin.knowledge.names import StoreEntities, read_entities
from factpin.knowledge.store_layer import StoreLayer, build_layer
from factpin.knowledge.tables import store_digest
from factpin.memory import Store, open_store
from factpin.memory.names import surface_key
from factpin.tokens import Tokenizer

STEPS = 200  # of the linker, before anything else is trained
BATCH = 16
RATE = 1e-3
LONGEST = 96  # pieces of a text

Taught = tuple[list[int], list[MentionSpan]]


def knowledge_layer(options: Any, encoder: Encoder, tokenizer: Tokenizer) -> StoreLayer | None:
    """Put the layer that the options name into an encoder; None if they name none."""
    kind = getattr(options, "knowledge", "")
    if not kind:
        return None
    if not options.db:
        raise BadInput(f"--knowledge {kind} needs a store. Name it with --db kb.db.")
    with open_store(options.db) as store:
        entities = read_entities(store)
        layer = build_layer(kind, encoder, tokenizer, entities, store_digest(store))
        taught = list(linked_texts(store, entities, layer, tokenizer))
    encoder.put_between(layer, layer.config.after)
    train_linker(encoder, layer, taught)
    return layer


def linked_texts(store: Store, entities: StoreEntities, layer: StoreLayer, tokenizer: Tokenizer) -> Iterator[Taught]:
    """Texts of the store with the names in them, and which of its candidates each one is."""
    row = {key: FIRST + i for i, key in enumerate(entities.keys)}
    by_place = _entities_by_place(store)
    for source in store.sources():
        doc: Document = store.document(source.uri)[0]
        pieces = tokenizer.encode(doc.text)
        for first in range(0, len(pieces), LONGEST):
            part = slice(first, first + LONGEST)
            ids = tokenizer.frame(pieces.ids[part])[0].tolist()
            shift = first - len(tokenizer.prefix)
            found = []
            for span in layer.names.find(ids, layer.inside):
                start, end = int(pieces.start[span.first + shift]), int(pieces.end[span.last + shift])
                entity = row.get(by_place.get((source.uri, start, end), ""))
                if entity is not None:
                    gold = span.candidates.index(entity) if entity in span.candidates else NIL
                    found.append(replace(span, gold=gold, entity=entity))
            if found:
                yield ids, found


def _entities_by_place(store: Store) -> dict[tuple[str, int, int], str]:
    """The entity at each mention of the store."""
    found = {}
    for source in store.sources():
        for mention in store.document(source.uri)[0].mentions:
            if surface_key(mention.text):
                for candidate in store.candidates(mention.text):
                    for pin in store.mentions(candidate.entity.id):
                        found[pin.uri, pin.start, pin.end] = candidate.entity.id
    return found


def train_linker(encoder: Encoder, layer: StoreLayer, taught: list[Taught], steps: int = STEPS) -> float:
    """Train the linker alone; returns its last loss. Then W2 of a KAR is set anew."""
    if not taught:
        return 0.0
    own = layer.layer
    chosen = own.linker() if isinstance(own, Kar) else [*own.ask.parameters(), *own.entities.parameters()]
    optimiser = torch.optim.AdamW(chosen, lr=RATE)
    encoder.eval()
    loss = torch.zeros(())
    for _ in range(steps):
        some = [taught[int(i)] for i in torch.randint(len(taught), (min(BATCH, len(taught)),))]
        loss = _linking(encoder, layer, some)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    if isinstance(own, Kar):
        own.invert()
    return float(loss.detach())


def _linking(encoder: Encoder, layer: StoreLayer, some: list[Taught]) -> Tensor:
    """The loss of linking; the layers above are not needed for it, but they are cheap."""
    ids, mask = encoder.batch([torch.tensor(ids).numpy() for ids, _ in some])
    mentions = collate_mentions([spans for _, spans in some])
    encoder.put_between(_GivenMentions(layer, mentions), layer.config.after)
    try:
        encoder(ids, mask)
    finally:
        encoder.put_between(layer, layer.config.after)
    own, scores = layer.layer, layer.scores
    if scores is None:
        return torch.zeros(())
    return own.loss(scores, mentions) if isinstance(own, Kar) else linking_loss(scores, mentions)


class _GivenMentions(torch.nn.Module):
    """The layer with mentions that are known."""

    def __init__(self, layer: StoreLayer, mentions: Any) -> None:
        super().__init__()
        self._read = (layer, mentions)  # in a tuple, so that it is no part of this module

    def forward(self, hidden: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        layer, mentions = self._read
        return layer.read(hidden, mentions)
