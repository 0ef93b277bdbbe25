"""What is pretrained: an encoder that reads views, and the heads of all rows that it learns.

    clozes under the full mask    the encoder reads as it always does, whatever its positions are     (Plain)
    other rows                    through the mask and the positions of a view                        (OnEncoder)

Segments are told to encoders that have vectors for them.
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.objectives import Batch, Objective
from factpin.objectives.cloze import Cloze, everybody
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.network import Memory, States
from factpin.objectives.on_encoder import OnEncoder


class Learners(nn.Module):
    """Rows on one encoder; a batch comes with the name of its row."""

    def __init__(self, learner: Learner, rows: Mapping[str, Objective]) -> None:
        super().__init__()
        self.learner, self.rows = learner, dict(rows)

    @property
    def encoder(self) -> Encoder:
        reader = self.learner.encoder
        if not isinstance(reader, Plain | OnEncoder):
            raise BadInput(f"A reader that stands on an encoder was expected, got {type(reader).__name__}.")
        return reader.encoder

    @property
    def head(self) -> nn.Module:
        """The heads, and what the reader has beside the encoder, such as a table of second positions."""
        reader = self.learner.get_submodule("encoder")
        beside = [module for name, module in reader.named_children() if name != "encoder"]
        return nn.ModuleList([self.learner.head, *beside])

    def loss(self, batch: tuple[str, Batch]) -> Tensor:
        """The sum of the row's losses, each a mean over what is asked in the batch."""
        name, views = batch
        total: Tensor = self.learner(views, self.rows[name]).total
        return total

    def save_encoder(self, folder: Path) -> None:
        """As `Encoder.load` and transformers take it."""
        self.encoder.save(folder)


def build_learner(rows: Mapping[str, Objective], source: Encoder | Path, seed: int) -> Learners:
    """The rows on an encoder, with fresh heads from the seed."""
    encoder = source if isinstance(source, Encoder) else Encoder.load(source)
    if any(loss.head == "replaced" for row in rows.values() for loss in row.losses):
        raise BadInput("electra learns with a generator beside the encoder, which cannot be run here yet.")
    torch.manual_seed(seed)
    reader = Plain(encoder) if all(map(plain, rows.values())) else OnEncoder(encoder, tuple(rows.values()))
    heads = Heads(HeadsConfig(), reader.width, reader.words, rows.values())
    return Learners(Learner(reader, heads), rows)


def plain(row: Objective) -> bool:
    """Whether a row reads one stream in which everybody sees everybody."""
    return isinstance(row.declare, Cloze) and row.declare.mask is everybody


class Plain(nn.Module):
    """A Reader: an encoder as it is."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    @property
    def words(self) -> nn.Embedding:
        words: nn.Embedding = self.encoder.model.get_input_embeddings()
        return words

    @property
    def width(self) -> int:
        return self.encoder.width

    def forward(
        self, batch: Batch, memory: Memory | None = None, *, keep: int | None = None, weigh: bool = False
    ) -> States:
        """Of one stream; there is no memory to keep and no decoder to weigh."""
        block, device = batch.streams["content"], self.words.weight.device
        ids, real, segments = (torch.from_numpy(x).to(device) for x in (block.ids, block.real, block.segments))
        known = getattr(self.encoder.config, "type_vocab_size", 0) or 0
        if not 0 < int(segments.max()) < known:
            return States({"content": self.encoder(ids, real).hidden})
        output = self.encoder.model(input_ids=ids, attention_mask=real.long(), token_type_ids=segments)
        return States({"content": output.last_hidden_state})
