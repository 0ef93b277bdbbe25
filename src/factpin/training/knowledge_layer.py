"""The layer of `factpin train … --knowledge kar|entities --db kb.db`: built from a store, its linker trained first.

An encoder that `factpin pretrain --objective knowbert|eae` made brings its layer along.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.knowledge.entity_memory import linking_loss
from factpin.knowledge.kar import Kar
from factpin.knowledge.layer_folder import has_layer, load_layer
from factpin.knowledge.linked import LONGEST, LinkedText, linked_texts
from factpin.knowledge.mentions import collate_mentions
from factpin.knowledge.names import read_entities
from factpin.knowledge.store_layer import StoreLayer, Vectors, build_layer
from factpin.knowledge.tables import store_digest
from factpin.memory import Store, open_store
from factpin.tokens import Tokenizer

STEPS = 200  # of the linker, before anything else is trained
BATCH = 16
RATE = 1e-3


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
    if not options.db:
        raise BadInput(f"--knowledge {kind} needs a store. Name it with --db kb.db.")
    with open_store(options.db) as store:
        layer, texts = layer_over(store, kind, encoder, tokenizer)
    train_linker(encoder, layer, texts)
    return layer


def layer_over(
    store: Store,
    kind: str,
    encoder: Encoder,
    tokenizer: Tokenizer,
    *,
    size: int = 128,
    vectors: Vectors = "descriptions",
    longest: int = LONGEST,
) -> tuple[StoreLayer, list[LinkedText]]:
    """Build a layer, and put it into the encoder; gives it with the texts that its linker learns from."""
    entities = read_entities(store)
    layer = build_layer(kind, encoder, tokenizer, entities, store_digest(store), size, vectors)
    texts = list(linked_texts(store, entities, layer.names, layer.inside, tokenizer, longest))
    encoder.put_between(layer, layer.config.after)
    return layer, texts


def train_linker(encoder: Encoder, layer: StoreLayer, texts: list[LinkedText], steps: int = STEPS) -> float:
    """Train the linker alone; returns its last loss. Then W2 of a KAR is set anew."""
    if not texts:
        return 0.0
    own = layer.layer
    chosen = own.linker() if isinstance(own, Kar) else [*own.ask.parameters(), *own.entities.parameters()]
    optimiser = torch.optim.AdamW(chosen, lr=RATE)
    encoder.eval()
    loss = torch.zeros(())
    learned = [weight for weight in encoder.model.parameters() if weight.requires_grad]
    for weight in learned:
        weight.requires_grad_(False)  # no gradient is computed for what stays as it is
    for _ in range(steps):
        some = [texts[int(i)] for i in torch.randint(len(texts), (min(BATCH, len(texts)),))]
        loss = _linking(encoder, layer, some)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    for weight in learned:
        weight.requires_grad_(True)
    if isinstance(own, Kar):
        own.invert()
    return float(loss.detach())


def _linking(encoder: Encoder, layer: StoreLayer, some: list[LinkedText]) -> Tensor:
    """The loss of linking; the layers above are not needed for it, but they are cheap."""
    ids, mask = encoder.batch([text.ids for text in some])
    mentions = collate_mentions([text.mentions for text in some])
    with layer.given(mentions):
        encoder(ids, mask)
    own, scores = layer.layer, layer.scores
    if scores is None:
        return torch.zeros(())
    return own.loss(scores, mentions) if isinstance(own, Kar) else linking_loss(scores, mentions)
