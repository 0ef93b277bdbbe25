"""StoreLayer: a KAR or an entity memory over the names of a store, as an encoder takes it between two layers.

    (H (B, N, D), ids, mask (B, N))  ->  H' (B, N, D)

It finds the names in the ids by itself, so that it works under any head, and its table of names is saved with the
weights.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.errors import pick
from factpin.knowledge.entity_memory import EntityMemory, EntityMemoryConfig
from factpin.knowledge.kar import Kar, KarConfig
from factpin.knowledge.mentions import NameBatch
from factpin.knowledge.names import NameTable, continuing, name_table
from factpin.knowledge.reading import StoreReading
from factpin.tokens import Tokenizer

KINDS = {"entities": "a table of entities that is learned (EaE)", "kar": "fixed entity vectors behind a linker (KAR)"}
COLUMNS = ("pieces", "starts", "candidates", "priors", "offers")


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
    fitted: bool = True  # of a KAR: whether enough names said what the next two are
    nil: float = 0.0  # of a KAR: a mention whose candidates all score less is NIL
    sharpness: float = 1.0  # of a KAR: what scores are multiplied with to be log probabilities

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "columns": list(self.columns)}

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
        self.keys: tuple[str, ...] = ()  # of the entities in the store, where they are known
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
        """Set the names and the vectors of entities (rows and more, size); a KAR reads more until `trim`."""
        for name in COLUMNS:
            setattr(self, name, getattr(names, name))
        self._table = None
        if isinstance(self.layer, Kar):
            self.layer.entities = vectors
        else:
            with torch.no_grad():
                self.layer.entities.weight.copy_(vectors[: self.config.rows])

    def trim(self) -> None:
        """Forget the rows behind those of the entities, which only the texts of the store were read with."""
        if isinstance(self.layer, Kar):
            self.layer.entities = self.layer.entities[: self.config.rows].clone()

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


def build_layer(encoder: Encoder, tokenizer: Tokenizer, reading: StoreReading) -> StoreLayer:
    """A layer over the entities that were read, put into the encoder where its method reads it."""
    names = name_table(reading.entities.names.items(), tokenizer)
    columns = tuple(len(getattr(names, name)) for name in COLUMNS)
    size = reading.table.shape[1]
    config = StoreLayerConfig(
        reading.kind, reading.after, reading.rows, size, columns, reading.digest, "softmax"
    )  # links better than the margin loss: recipes/knowledge
    layer = StoreLayer(encoder.width, config, tokenizer)
    layer.keys = reading.entities.keys
    layer.know(names, reading.table)
    encoder.put_between(layer, config.after)
    return layer
