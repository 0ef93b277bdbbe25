"""Readers of a batch on top of a transformers encoder.

    Plain         one stream in which everybody sees everybody, as the encoder always reads, whatever its positions are;
                  or from left to right, by a model that does so by itself (GPT); where documents are apart, those texts
                  that have several are read with the view's mask and positions
    OnEncoder     other masks and positions, two streams                            (objectives/on_encoder.py)
    WithDecoder   either of these, and for rows that say something a decoder on top

    e = encoder(x̃)                                  (B, m, D)
    y = LN(words + positions), projected to D        (B, n, D)
    y = layer(y, e), decoder_layers times            its own cells from left to right, then all of e

The decoder has the encoder's word vectors and width, BERT's order of norms, and is kept beside the encoder.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.encoders.own.batch import Block
from factpin.encoders.own.network import Memory, States
from factpin.encoders.own.parts import DecoderLayer, InputLayer, NetworkConfig, Sight, start
from factpin.encoders.views import read_cells, refuse_relative
from factpin.errors import BadInput
from factpin.objectives import Batch, Objective
from factpin.objectives.cloze import Cloze, everybody
from factpin.objectives.gpt import behind_memory, left_to_right
from factpin.objectives.on_encoder import OnEncoder
from factpin.pretraining.head_names import CAUSAL


def plain(row: Objective, model_type: str) -> bool:
    """Whether an encoder of that type reads a row as it reads everything."""
    if row.declare in (left_to_right, behind_memory):
        return model_type in CAUSAL
    if isinstance(row.declare, Cloze):
        return row.declare.mask is everybody and model_type not in CAUSAL
    return says(row)


def says(row: Objective) -> bool:
    """Whether a row has a decoder."""
    return any(loss.stream == "decoder" for loss in row.losses)


class Plain(nn.Module):
    """Reads with an encoder alone."""

    def __init__(self, encoder: Encoder, *, apart: bool = False) -> None:
        """`apart`: documents of a text do not see each other."""
        super().__init__()
        if apart:
            refuse_relative(encoder)
        self.encoder, self.apart = encoder, apart

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
        """Of one stream; there is no memory to keep and no decoder to weigh."""
        if "content" not in batch.streams:
            raise BadInput(f"A stream of content was expected, got {' and '.join(batch.streams)}. Give views that have "
                           f"one, or pretrain with a row that has a decoder.")  # fmt: skip
        block = batch.streams["content"]
        if self.apart:
            return States({"content": read_apart(self.encoder, block, "content")})
        self._refuse_other_masks(block)
        return States({"content": read_plainly(self.encoder, block, batch.task)})

    def _refuse_other_masks(self, block: Block) -> None:
        """The encoder is given no mask: what the view asks for must be what it does by itself."""
        causal = self.encoder.config.model_type in CAUSAL
        if not _sees_all(block, "content", causal=causal):
            how = "from left to right" if causal else "every cell from every other"
            raise BadInput(
                f"This encoder was pretrained to read {how}, and the view or prompt asks for another mask. Load a "
                f"folder that was pretrained with its objective, such as gpt, glm or unilm."
            )


def read_plainly(encoder: Encoder, block: Block, task: int = 0) -> Tensor:
    """(B, n, D). Segments are given to encoders that have vectors for them, and the task to ERNIE 2.0."""
    device = encoder.word_vectors.device
    ids, real, segments = (torch.from_numpy(x).to(device) for x in (block.ids, block.real, block.segments))
    known = getattr(encoder.config, "type_vocab_size", 0) or 0
    more: dict[str, Tensor] = {}
    if 0 < int(segments.max()) < known:
        more["token_type_ids"] = segments
    if task and getattr(encoder.config, "use_task_id", False):
        more["task_type_ids"] = torch.full_like(ids, task)
    if not more:
        return encoder(ids, real).hidden
    hidden: Tensor = encoder.model(input_ids=ids, attention_mask=real.long(), **more).last_hidden_state
    return hidden


def read_apart(encoder: Encoder, block: Block, name: str) -> Tensor:
    """(B, n, D). A batch in which some text has several documents is read with its mask and positions."""
    if _sees_all(block, name):
        return read_plainly(encoder, block)
    return read_cells(encoder, block.ids, block.positions[..., 0], block.segments, block.sees[name])


def _sees_all(block: Block, name: str, *, causal: bool = False) -> bool:
    """Whether every cell sees every other of its text, or with `causal` every one before it."""
    n = block.real.shape[1]
    sees = block.real[:, None] & np.tri(n, n, 0 if causal else n, np.bool_)  # (B, n, n)
    return not (sees != block.sees[name])[block.real].any()


class WithDecoder(nn.Module):
    """Reads with an encoder and a decoder of our own."""

    def __init__(self, below: Plain | OnEncoder, config: NetworkConfig) -> None:
        super().__init__()
        if below.encoder.config.model_type in CAUSAL:
            raise BadInput(f"{below.encoder.config.model_type} reads from left to right; a decoder needs an encoder.")
        self.below = below
        config = replace(config, positions="learned", segments=0)
        E = config.embedding or config.width
        self.input = InputLayer(config)
        self.project = nn.Linear(E, config.width) if config.width != E else nn.Identity()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        for module in (self.input, self.project, self.layers):
            module.apply(start)

    @property
    def encoder(self) -> Encoder:
        return self.below.encoder

    @property
    def words(self) -> nn.Embedding:
        return self.below.words

    @property
    def width(self) -> int:
        return self.below.width

    def forward(
        self,
        batch: Batch,
        memory: Memory | None = None,
        *,
        keep: int | None = None,
        weigh: bool = False,
        encoded: Tensor | None = None,
    ) -> States:
        """`weigh` and `encoded` as in Network."""
        if "decoder" not in batch.streams:
            states: States = self.below(batch, memory, keep=keep)
            return states
        e = read_apart(self.encoder, batch.streams["encoder"], "encoder") if encoded is None else encoded  # (B, m, D)
        block = batch.streams["decoder"]
        ids, positions, segments, own, across = (
            torch.as_tensor(x, device=e.device)
            for x in (block.ids, block.positions, block.segments, block.sees["decoder"], block.sees["encoder"])
        )
        y, read = self.project(self.input(self.words(ids), positions, segments)), None  # (B, n, D)
        for layer in self.layers:
            y, read = layer(y, Sight(own), e, Sight(across), weigh=weigh and layer is self.layers[-1])
        return States({"encoder": e, "decoder": y}, read=read)


def cut(batch: Batch, cells: int | None) -> Batch:
    """At most so many cells for an encoder: what replaces a piece may be longer than it (PEGASUS, BART)."""
    long = batch.streams.get("encoder")
    if long is None or cells is None or long.ids.shape[1] <= cells:
        return batch
    short = replace(
        long,
        ids=long.ids[:, :cells],
        positions=long.positions[:, :cells],
        segments=long.segments[:, :cells],
        labels=long.labels[:, :cells],
        real=long.real[:, :cells],
        sees={name: seen[:, :cells, :cells] for name, seen in long.sees.items()},
    )
    decoder = batch.streams["decoder"]
    seen = {name: one[:, :, :cells] if name == "encoder" else one for name, one in decoder.sees.items()}
    return replace(batch, streams={**batch.streams, "encoder": short, "decoder": replace(decoder, sees=seen)})
