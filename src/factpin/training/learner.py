"""What is pretrained: a reader of views, and the heads of all rows that it learns.

on an encoder       what is kept is the encoder: heads, a decoder and ELECTRA's generator are left away
a network of our own    all of it is kept, heads too: network.json, model.safetensors, tokenizer
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.objectives import OBJECTIVES, Batch, Objective
from factpin.objectives.electra import Electra, generator_over
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.network import Network
from factpin.objectives.on_encoder import OnEncoder
from factpin.objectives.parts import NetworkConfig
from factpin.tokens import Tokenizer
from factpin.training.readers import Plain, WithDecoder, cut, plain, says
from factpin.training.shapes import like

NETWORK, WEIGHTS = "network.json", "model.safetensors"
GENERATOR = 0.25  # of the encoder's width


class Learners(nn.Module):
    """Rows on one reader; a batch comes with the name of its row."""

    def __init__(self, learner: Learner, rows: Mapping[str, Objective], generator: Learner | None = None) -> None:
        super().__init__()
        self.learner, self.rows, self.generator = learner, dict(rows), generator

    @property
    def reader(self) -> Plain | OnEncoder | WithDecoder | Network:
        reader = self.learner.encoder
        if not isinstance(reader, Plain | OnEncoder | WithDecoder | Network):
            raise BadInput(f"A reader on an encoder or a Network was expected, got {type(reader).__name__}.")
        return reader

    @property
    def encoder(self) -> Encoder | Network:
        return self.reader if isinstance(self.reader, Network) else self.reader.encoder

    @property
    def head(self) -> nn.Module:
        """All that is not the encoder: heads, a generator, a decoder, a table of second positions."""
        inside = {id(parameter) for parameter in self.encoder.parameters()}
        return nn.ParameterList(parameter for parameter in self.parameters() if id(parameter) not in inside)

    def loss(self, batch: tuple[str, Batch]) -> Tensor:
        """The sum of the row's losses, each a mean over what is asked in the batch."""
        name, views = batch
        row, learner = self.rows[name], self.learner
        if not isinstance(self.encoder, Network):
            views = cut(views, self.encoder.max_length)
        judged = self.generator if _judges(row) else None
        model = learner if judged is None else Electra(learner.encoder, learner.head, judged)
        total: Tensor = model(views, row).total
        return total

    def save(self, folder: Path, tokenizer: Tokenizer) -> None:
        """An encoder as `Encoder.load` and transformers take it; a network as `load_network` does."""
        if isinstance(self.encoder, Encoder):
            return self.encoder.save(folder)
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer.save(folder)
        state = {name: value.detach().cpu().contiguous().clone() for name, value in self.learner.state_dict().items()}
        save_file(state, folder / WEIGHTS, metadata={"format": "pt"})
        heads = self.learner.head.config
        told = {"network": asdict(self.encoder.config), "heads": asdict(heads), "rows": list(self.rows)}
        (folder / NETWORK).write_text(json.dumps(told, indent=1), encoding="utf-8")


@dataclass(frozen=True)
class Beside:
    """What stands beside an encoder."""

    length: int = 128  # cells of a text
    decoder_layers: int = 2


def build_learner(rows: Mapping[str, Objective], encoder: Encoder, seed: int, beside: Beside | None = None) -> Learners:
    """The rows on an encoder; heads, decoder and generator are drawn from the seed."""
    beside = beside or Beside()
    torch.manual_seed(seed)
    kind, each = encoder.config.model_type, tuple(rows.values())
    silent = tuple(row for row in each if not says(row))
    reader: Plain | OnEncoder | WithDecoder
    reader = Plain(encoder) if all(plain(row, kind) for row in each) else OnEncoder(encoder, silent)
    if len(silent) < len(each):
        reader = WithDecoder(reader, like(encoder, beside.length, beside.decoder_layers))
    config = HeadsConfig(word_scale=reader.words.embedding_dim**-0.5 if kind in ("t5", "mt5") else 1.0)
    learner = Learner(reader, Heads(config, reader.width, reader.words, each))
    judged = any(map(_judges, each))
    generator = generator_over(reader, like(encoder, beside.length), config, share=GENERATOR) if judged else None
    return Learners(learner, rows, generator)


def build_network(rows: Mapping[str, Objective], config: NetworkConfig, seed: int) -> Learners:
    """The rows on a network of our own, drawn from the seed."""
    torch.manual_seed(seed)
    network = Network(config)
    return Learners(Learner(network, Heads(HeadsConfig(), network.width, network.words, rows.values())), rows)


def load_network(folder: Path) -> tuple[Learner, Tokenizer]:
    """A network of our own and its heads, as `Learners.save` wrote them: to generate with, or to learn on."""
    try:
        told = json.loads((folder / NETWORK).read_text(encoding="utf-8"))
    except OSError:
        raise BadModel(f"{folder}: has no {NETWORK}. Expected what `factpin pretrain --shape` wrote.") from None
    network = Network(NetworkConfig(**told["network"]))
    heads = Heads(HeadsConfig(**told["heads"]), network.width, network.words, [OBJECTIVES[row] for row in told["rows"]])
    learner = Learner(network, heads)
    learner.load_state_dict(load_file(folder / WEIGHTS))
    return learner.eval(), Tokenizer.load(folder)


def _judges(row: Objective) -> bool:
    return any(loss.head == "replaced" for loss in row.losses)
