"""What is pretrained: a reader of views, and the heads of all rows that it learns.

on an encoder           an encoder of transformers; heads, a decoder and a table of second positions are beside it
a network of our own    one of LAYOUTS, with its own decoder and memory
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder, small_electra
from factpin.encoders.own.batch import Batch
from factpin.encoders.own.network import Backbone, Network
from factpin.errors import BadInput
from factpin.objectives import Objective
from factpin.objectives.electra import Electra, generator_over
from factpin.objectives.heads import Activation, Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.on_encoder import OnEncoder
from factpin.pretraining.carried import CarriedMemory
from factpin.pretraining.head_names import CAUSAL
from factpin.pretraining.layouts import ACTIVATIONS, LAYOUTS, PLAIN, network_of
from factpin.pretraining.networks import like
from factpin.pretraining.readers import Plain, WithDecoder, cut, plain, says

GENERATOR = 0.25  # of the encoder's width
LAYERS = 2  # of a decoder beside an encoder, by default


@dataclass(frozen=True)
class Beside:
    """What is beside an encoder."""

    length: int = 128  # cells of a text
    decoder_layers: int = LAYERS


class Learners(nn.Module):
    """Rows on one reader; a batch comes with the name of its row."""

    def __init__(
        self,
        learner: Learner,
        rows: Mapping[str, Objective],
        generator: Learner | None = None,
        beside: Beside | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        """`config`: the config.json of a network of our own."""
        super().__init__()
        self.learner, self.rows, self.generator, self.beside = learner, dict(rows), generator, beside or Beside()
        self.config = dict(config or {})
        self.carried: CarriedMemory | None = None

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

    @property
    def inside(self) -> str:
        """What the names of the encoder's weights begin with among the learner's."""
        return next(f"{name}." for name, module in self.learner.named_modules() if module is self.encoder)

    def loss(self, batch: tuple[str, Batch]) -> Tensor:
        """The sum of the row's losses, each a mean over what is asked in the batch."""
        name, views = batch
        row, learner = self.rows[name], self.learner
        judged = self.generator if judges(row) else None
        model = learner if judged is None else Electra(learner.encoder, learner.head, judged)
        views, carried = cut(views, self.longest), self.carried if "memory" in views.streams else None
        if carried is None:
            total: Tensor = model(views, row).total
            return total
        found = model(views, row, carried.memory(views), keep=carried.keep)
        if found.states.memory is not None:
            carried.keep_of(views, found.states.memory)
        return found.total

    @property
    def longest(self) -> int | None:
        """How many cells can be read at once; None: any."""
        if isinstance(self.encoder, Encoder):
            return self.encoder.max_length
        return self.encoder.config.longest if self.encoder.input.positions else None


def build_learner(
    rows: Mapping[str, Objective], encoder: Encoder, seed: int, beside: Beside | None = None, *, apart: bool = False
) -> Learners:
    """The rows on an encoder; heads, decoder and generator are drawn from the seed.

    `apart`: documents of a text do not see each other.
    """
    torch.manual_seed(seed)
    return on_encoder(rows, encoder, beside or Beside(), apart=apart)


def on_encoder(rows: Mapping[str, Objective], encoder: Encoder, beside: Beside, *, apart: bool = False) -> Learners:
    kind, each = encoder.config.model_type, tuple(rows.values())
    silent = tuple(row for row in each if not says(row))
    reader: Plain | OnEncoder | WithDecoder
    reader = Plain(encoder, apart=apart) if all(plain(row, kind) for row in each) else OnEncoder(encoder, silent)
    if len(silent) < len(each):
        reader = WithDecoder(reader, like(encoder, beside.length, beside.decoder_layers))
    config = heads_of(encoder)
    learner = Learner(reader, Heads(config, reader.width, reader.words, each))
    generator = _generator(reader, encoder, config, beside, apart=apart) if any(map(judges, each)) else None
    return Learners(learner, rows, generator, beside)


def _generator(reader: Backbone, encoder: Encoder, heads: HeadsConfig, beside: Beside, *, apart: bool) -> Learner:
    """Of an ELECTRA, an ELECTRA that shares its vectors of words, positions and segments; else of the words alone."""
    if encoder.config.model_type != "electra":
        return generator_over(reader, like(encoder, beside.length), heads, share=GENERATOR)
    smaller = Plain(small_electra(encoder, GENERATOR), apart=apart)
    return Learner(smaller, Heads(heads, smaller.width, smaller.words, ()))


def heads_of(encoder: Encoder) -> HeadsConfig:
    """The heads that transformers puts on such an encoder."""
    config = encoder.config
    if config.model_type in CAUSAL:
        return PLAIN
    eps = 1e-12 if config.model_type == "distilbert" else getattr(config, "layer_norm_eps", 1e-12)
    return HeadsConfig(activation=head_activation(encoder) or "gelu", eps=eps)


def head_activation(encoder: Encoder) -> Activation | None:
    """Of the head for words that transformers puts on such an encoder; None: one that is not here."""
    match encoder.config.model_type:
        case "albert" | "bert" | "ernie":
            name = encoder.config.hidden_act
        case "distilbert":
            name = encoder.config.activation
        case _:
            name = "gelu"
    return ACTIVATIONS.get(name)


def build_network(
    rows: Mapping[str, Objective], config: Mapping[str, Any], seed: int = 0, *, memory: int | None = None
) -> Learners:
    """The rows on the network that a config describes, drawn from the seed; `memory` in place of the config's."""
    torch.manual_seed(seed)
    network = network_of(config)
    if memory is not None:
        network = replace(network, memory=memory)
    heads = LAYOUTS[config["model_type"]].heads(network)
    reader = Network(network)
    learner = Learner(reader, Heads(heads, reader.width, reader.words, rows.values()))
    return Learners(learner, rows, config=config)


def judges(row: Objective) -> bool:
    """ELECTRA: a generator names pieces, the encoder judges them."""
    return any(loss.head == "replaced" for loss in row.losses)
