"""On an encoder: rows that read one stream, or content and queries, learn on a transformers encoder as it is.

    content           one row of cells with its mask, positions and segments
    content, query    [content; query] as one row; nobody sees a query cell, so both are as in two streams
    memory            none: an encoder keeps nothing from its last step

Relations that an encoder does not know (buckets, distances) are left to its own positions. GLM's second position gets a
table of its own here, whose first row stays zero: so the encoder alone reads a text as it did in training, and
`encoder.save` is the whole result.
"""

from pathlib import Path

import numpy as np
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.encoders.own.batch import Batch, Block
from factpin.encoders.own.network import Memory, States
from factpin.encoders.own.parts import FIRST_SPREAD
from factpin.encoders.views import read_cells, refuse_relative
from factpin.errors import BadInput
from factpin.objectives.objective import Objective

READ = {"content", "query", "memory"}


class OnEncoder(nn.Module):
    """A Reader, as Network is."""

    def __init__(self, encoder: Encoder, objectives: tuple[Objective, ...]) -> None:
        super().__init__()
        refuse_relative(encoder)
        for objective in objectives:
            streams = {loss.stream for loss in objective.losses} - READ
            if streams:
                raise BadInput(
                    f"An encoder reads content and queries, this row asks its {' and '.join(sorted(streams))}. "
                    "Take a row without a decoder, such as 'unilm_sequence', or a network of our own."
                )
        self.encoder = encoder
        self.second: nn.Embedding | None = None
        if any(objective.positions == "two_learned" for objective in objectives):
            self.second = nn.Embedding(int(encoder.config.max_position_embeddings), self.words.embedding_dim, 0)
            nn.init.normal_(self.second.weight[1:], std=FIRST_SPREAD)
            nn.init.zeros_(self.second.weight[0])

    @property
    def words(self) -> nn.Embedding:
        words: nn.Embedding = self.encoder.model.get_input_embeddings()
        return words

    @property
    def width(self) -> int:
        return self.encoder.width

    def forward(
        self,
        batch: Batch,
        memory: Memory | None = None,
        *,
        keep: int | None = None,
        weigh: bool = False,
        encoded: Tensor | None = None,
    ) -> States:
        """All but the batch is for a Network, which has a memory and a decoder."""
        kept = batch.streams.get("memory")
        remembers = memory is not None or keep is not None or (kept is not None and kept.ids.shape[1] > 0)
        if remembers or weigh or encoded is not None:
            raise BadInput("An encoder has no memory and no decoder. Give texts without `before`, or take a Network.")
        content, query = batch.streams["content"], batch.streams.get("query")
        if query is None:
            return States({"content": self._read(content)})
        hidden, n = self._read(in_one_row(content, query)), content.ids.shape[1]
        return States({"content": hidden[:, :n], "query": hidden[:, n:]})

    def save(self, folder: Path) -> None:
        """The encoder alone, as `Encoder.load` takes it."""
        self.encoder.save(folder)

    def _read(self, block: Block) -> Tensor:
        first, *more = np.moveaxis(block.positions, -1, 0)
        extra = None
        if more and self.second is not None:
            extra = self.second(self.second.weight.new_tensor(more[0]).long())
        return read_cells(self.encoder, block.ids, first, block.segments, block.sees["content"], extra)


def in_one_row(content: Block, query: Block) -> Block:
    """`one_stream` for a batch: (B, n + b) cells, the columns of the queries closed."""
    rows = np.concatenate([content.sees["content"], query.sees["content"]], axis=1)  # (B, n + b, n)
    closed = np.zeros((*rows.shape[:2], query.ids.shape[1]), np.bool_)
    ids, positions, segments, labels, real = (
        np.concatenate([getattr(content, name), getattr(query, name)], axis=1)
        for name in ("ids", "positions", "segments", "labels", "real")
    )
    return Block(ids, positions, segments, labels, real, {"content": np.concatenate([rows, closed], axis=2)})
