"""StoreLayer: a KAR or an entity memory over the names of a store, as an encoder takes it between two layers.

    (H (B, N, D), ids, mask (B, N))  ->  H' (B, N, D)

It finds the names in the ids by itself, so that it works under any head, and its table of names is saved with the
weights. Entity vectors are the encoded descriptions of entities (name, type and facts), or follow from the facts alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.errors import BadInput, pick
from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig
from factpin.knowledge.kar import Kar, KarConfig
from factpin.knowledge.mentions import FIRST, NameBatch
from factpin.knowledge.names import NameTable, StoreEntities, continuing, name_table
from factpin.knowledge.translate import translated
from factpin.tokens import Tokenizer

KINDS = {"entities": "a table of entities that is learned (EaE)", "kar": "fixed entity vectors behind a linker (KAR)"}
Vectors = Literal["descriptions", "facts"]  # where entity vectors come from
COLUMNS = ("pieces", "starts", "candidates", "priors", "offers")
MOST_TOKENS = 64  # of a description


@dataclass(frozen=True)
class StoreLayerConfig:
    """What a layer is built with; saved in the settings of a model."""

    kind: str
    after: int  # the layer of the encoder whose output it changes, from 1
    rows: int  # of the table of entities
    size: int  # of an entity vector
    columns: tuple[int, ...]  # how long the columns of the table of names are
    store: str = ""  # digest of the store
    loss: Literal["margin", "softmax"] = "margin"  # of a KAR: how it weighs candidates

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**{name: getattr(self, name) for name in ("kind", "after", "rows", "size", "store", "loss")},
                "columns": list(self.columns)}  # fmt: skip

    @staticmethod
    def from_json(record: dict[str, Any]) -> "StoreLayerConfig":
        """Undoes `to_json`."""
        return StoreLayerConfig(**{**record, "columns": tuple(record["columns"])})


class StoreLayer(nn.Module):
    """Names of a store, found in a text, and what is known about them."""

    def __init__(self, width: int, config: StoreLayerConfig, tokenizer: Tokenizer) -> None:
        super().__init__()
        pick(KINDS, config.kind, kind="knowledge")
        self.config, self.inside = config, continuing(tokenizer)
        self.layer: Kar | EntityMemory
        if config.kind == "kar":
            how = KarConfig(heads=_heads(config.size), loss=config.loss)
            self.layer = Kar(width, torch.zeros(config.rows, config.size), how)
        else:
            self.layer = EntityMemory(width, config.rows, EntityMemoryConfig(config.size))
        for name, length in zip(COLUMNS, config.columns, strict=True):
            kind = torch.float if name == "priors" else torch.long
            self.register_buffer(name, torch.zeros(length, dtype=kind))
        self._table: NameTable | None = None
        self._given: NameBatch | None = None
        self.below: Tensor | None = None  # of the last batch, what the layer read, for the loss of detection
        self.scores: Tensor | None = None  # of the last batch, for the loss of linking

    @property
    def names(self) -> NameTable:
        """The table of names; made when it is first needed, after the weights are loaded."""
        if self._table is None:
            self._table = NameTable(*(getattr(self, name).cpu() for name in COLUMNS))
        return self._table

    def know(self, names: NameTable, vectors: Tensor) -> None:
        """Set the names and the vectors of entities (rows, size)."""
        for name in COLUMNS:
            setattr(self, name, getattr(names, name))
        self._table = None
        with torch.no_grad():
            table = self.layer.entities if isinstance(self.layer, Kar) else self.layer.entities.weight
            table.copy_(vectors)

    def forward(self, hidden: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """H (B, N, D) -> H' (B, N, D)."""
        mentions = self.names.find_all(ids, mask, self.inside) if self._given is None else self._given
        changed: Tensor
        changed, self.scores = self.layer(hidden, mentions)
        self.below = hidden
        return changed

    @contextmanager
    def given(self, mentions: NameBatch) -> Iterator[None]:
        """Read these mentions in place of the names that it finds, in training."""
        self._given = mentions
        try:
            yield
        finally:
            self._given = None


def _heads(size: int) -> int:
    return 4 if size % 4 == 0 else 1


def build_layer(
    kind: str,
    encoder: Encoder,
    tokenizer: Tokenizer,
    entities: StoreEntities,
    store: str,
    size: int = 128,
    vectors: Vectors = "descriptions",
) -> StoreLayer:
    """A layer over these entities, for the place where its method reads an encoder."""
    if not entities.keys:
        raise BadInput("The store has no entities. Fill it with `factpin index`.")
    names = name_table(entities.names.items(), tokenizer)
    table = entity_vectors(encoder, entities, size, vectors)
    after = place_of(kind, int(encoder.config.num_hidden_layers))
    columns = tuple(len(getattr(names, name)) for name in COLUMNS)
    layer = StoreLayer(
        encoder.width,
        StoreLayerConfig(
            kind, after, len(table), table.shape[1], columns, store, "softmax"
        ),  # links better: recipes/knowledge
        tokenizer,
    )
    layer.know(names, table)
    return layer


def place_of(kind: str, layers: int) -> int:
    """The layer behind which a layer of knowledge is put: of 12, the tenth for KAR, the fourth for an entity memory."""
    return max(1, 5 * layers // 6 if kind == "kar" else layers // 3)


def entity_vectors(encoder: Encoder, entities: StoreEntities, size: int, vectors: Vectors) -> Tensor:
    """The vectors of all entities (rows, size), those of NULL and MASK first."""
    if vectors == "descriptions":
        return encode_descriptions(encoder, entities.described, size)
    relations = sorted({relation for _, relation, _ in entities.facts})
    facts = [(head, relations.index(relation), tail) for head, relation, tail in entities.facts]
    found = translated(facts, len(entities.keys), len(relations), size)
    return torch.cat([torch.zeros(FIRST, size), found])


@torch.no_grad()
def encode_descriptions(encoder: Encoder, texts: tuple[str, ...], size: int) -> Tensor:
    """Vectors of entities (rows, size): the means of token vectors, reduced to their main directions."""
    encoder.eval()
    tokenizer = encoder.tokenizer
    if tokenizer is None:
        raise BadInput("This encoder has no tokenizer. Give it one: Encoder(model, tokenizer).")
    longest = min(MOST_TOKENS, (encoder.max_length or MOST_TOKENS) - tokenizer.frame_size)
    found = []
    for at in range(0, len(texts), 32):
        framed = [encoder.frame(tokenizer.encode(text).ids[:longest])[0] for text in texts[at : at + 32]]
        ids, mask = encoder.batch(framed)
        hidden = encoder(ids, mask).hidden * mask[..., None]
        found.append(hidden.sum(1) / mask.sum(1, keepdim=True))
    return main_directions(torch.cat(found), size)


def main_directions(whole: Tensor, size: int) -> Tensor:
    """Vectors of entities (n, D) -> (rows, at most size) of unit length along the main directions of all of them."""
    whole = whole - whole.mean(0)
    size = min(size, whole.shape[1])
    directions = torch.linalg.svd(whole, full_matrices=False).Vh[:size]  # (at most size, D)
    vectors = torch.zeros(FIRST + len(whole), size)
    reduced = whole @ directions.T
    vectors[FIRST:, : reduced.shape[1]] = reduced / reduced.norm(dim=1, keepdim=True).clamp_min(1e-6)
    return vectors
