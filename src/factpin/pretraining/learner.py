"""What is pretrained: a reader of views, and the heads of all rows that it learns.

on an encoder       the encoder alone makes the folder; heads, a decoder and a table of second positions lie beside it
                    in heads.json and heads.safetensors; ELECTRA's generator is left away
a network of our own    all of it: network.json, model.safetensors, tokenizer

`load_pretrained` reads either folder, and gives what `objectives.generate` needs.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput, BadModel, pick
from factpin.objectives import OBJECTIVES, Batch, Objective, Vocabulary
from factpin.objectives.electra import Electra, generator_over
from factpin.objectives.heads import Activation, Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.on_encoder import OnEncoder
from factpin.pretraining.readers import Plain, WithDecoder, cut, plain, says
from factpin.pretraining.shapes import like
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer

NETWORK, WEIGHTS = "network.json", "model.safetensors"
HEADS, HEAD_WEIGHTS = "heads.json", "heads.safetensors"
ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "relu": "relu"
}  # by the names of transformers  # fmt: skip
GENERATOR = 0.25  # of the encoder's width


@dataclass(frozen=True)
class Beside:
    """What stands beside an encoder."""

    length: int = 128  # cells of a text
    decoder_layers: int = 2


class Learners(nn.Module):
    """Rows on one reader; a batch comes with the name of its row."""

    def __init__(
        self,
        learner: Learner,
        rows: Mapping[str, Objective],
        generator: Learner | None = None,
        beside: Beside | None = None,
    ) -> None:
        super().__init__()
        self.learner, self.rows, self.generator, self.beside = learner, dict(rows), generator, beside or Beside()

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
        if not isinstance(self.encoder, Network):
            views = cut(views, self.encoder.max_length)
        judged = self.generator if judges(row) else None
        model = learner if judged is None else Electra(learner.encoder, learner.head, judged)
        total: Tensor = model(views, row).total
        return total

    def save(self, folder: Path, tokenizer: Tokenizer) -> None:
        """An encoder as `Encoder.load` and transformers take it, what spoke with it beside it; or a network."""
        told, state = {"rows": list(self.rows)}, self.learner.state_dict()
        if isinstance(self.encoder, Encoder):
            self.encoder.save(folder)
            apart = {name: value for name, value in state.items() if not name.startswith(self.inside)}
            _write(folder, HEADS, {**told, "beside": asdict(self.beside)}, HEAD_WEIGHTS, apart)
            return
        folder.mkdir(parents=True, exist_ok=True)
        tokenizer.save(folder)
        heads = asdict(self.learner.head.config)
        _write(folder, NETWORK, {**told, "heads": heads, "network": asdict(self.encoder.config)}, WEIGHTS, state)


def _write(folder: Path, name: str, told: Mapping[str, Any], weights: str, state: Mapping[str, Tensor]) -> None:
    whole = {key: value.detach().cpu().contiguous().clone() for key, value in state.items()}
    save_file(whole, folder / weights, metadata={"format": "pt"})
    (folder / name).write_text(json.dumps(told, indent=1), encoding="utf-8")


def build_learner(rows: Mapping[str, Objective], encoder: Encoder, seed: int, beside: Beside | None = None) -> Learners:
    """The rows on an encoder; heads, decoder and generator are drawn from the seed."""
    torch.manual_seed(seed)
    return _on_encoder(rows, encoder, beside or Beside())


def _on_encoder(rows: Mapping[str, Objective], encoder: Encoder, beside: Beside) -> Learners:
    kind, each = encoder.config.model_type, tuple(rows.values())
    silent = tuple(row for row in each if not says(row))
    reader: Plain | OnEncoder | WithDecoder
    reader = Plain(encoder) if all(plain(row, kind) for row in each) else OnEncoder(encoder, silent)
    if len(silent) < len(each):
        reader = WithDecoder(reader, like(encoder, beside.length, beside.decoder_layers))
    scale = reader.words.embedding_dim**-0.5 if kind in ("t5", "mt5") else 1.0
    config = HeadsConfig(word_scale=scale, activation=head_activation(encoder) or "gelu")
    learner = Learner(reader, Heads(config, reader.width, reader.words, each))
    judged = any(map(judges, each))
    generator = generator_over(reader, like(encoder, beside.length), config, share=GENERATOR) if judged else None
    return Learners(learner, rows, generator, beside)


def head_activation(encoder: Encoder) -> Activation | None:
    """Of the head for words that transformers puts on such an encoder; None: one that is not here."""
    match encoder.config.model_type:
        case "albert" | "bert":
            name = encoder.config.hidden_act
        case "distilbert":
            name = encoder.config.activation
        case _:
            name = "gelu"
    return ACTIVATIONS.get(name)


def build_network(rows: Mapping[str, Objective], config: NetworkConfig, seed: int) -> Learners:
    """The rows on a network of our own, drawn from the seed."""
    torch.manual_seed(seed)
    network = Network(config)
    return Learners(Learner(network, Heads(HeadsConfig(), network.width, network.words, rows.values())), rows)


@dataclass(frozen=True, eq=False)
class Pretrained:
    """What `objectives.generate` asks: a reader with its heads, and the numbers of the pieces."""

    learner: Learner
    tokenizer: Tokenizer
    vocabulary: Vocabulary


def load_pretrained(folder: Path) -> Pretrained:
    """What `factpin pretrain` wrote, with the heads and the decoder that it learned by."""
    if (folder / NETWORK).is_file():
        learner, tokenizer = load_network(folder)
        learner.rows = frozenset(_read(folder, NETWORK)["rows"])
        return Pretrained(learner, tokenizer, vocabulary_of(tokenizer))
    told = _read(folder, HEADS)
    encoder, tokenizer = Encoder.load(folder), Tokenizer.load(folder)
    model = _on_encoder(_rows(told), encoder, Beside(**told["beside"]))
    state = load_file(folder / HEAD_WEIGHTS)
    missing, foreign = model.learner.load_state_dict(state, strict=False)
    missing = [name for name in missing if not name.startswith(model.inside)]
    if missing or foreign:
        raise BadModel(
            f"{folder}: {HEAD_WEIGHTS} does not fit its encoder: {', '.join((*missing, *foreign)[:3])}. Take the "
            f"folder as it was written."
        )
    model.learner.rows = frozenset(told["rows"])
    return Pretrained(model.learner.eval(), tokenizer, vocabulary_of(tokenizer))


def load_network(folder: Path) -> tuple[Learner, Tokenizer]:
    """A network of our own and its heads, as `Learners.save` wrote them: to generate with, or to learn on."""
    told = _read(folder, NETWORK)
    network = Network(NetworkConfig(**told["network"]))
    heads = Heads(HeadsConfig(**told["heads"]), network.width, network.words, _rows(told).values())
    learner = Learner(network, heads)
    learner.load_state_dict(load_file(folder / WEIGHTS))
    return learner.eval(), Tokenizer.load(folder)


def _read(folder: Path, name: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    except OSError:
        raise BadModel(f"{folder}: has no {name}. Expected a folder that `factpin pretrain` wrote.") from None
    return told


def _rows(told: Mapping[str, Any]) -> dict[str, Objective]:
    return {row: pick(OBJECTIVES, row, kind="objective") for row in told["rows"]}


def judges(row: Objective) -> bool:
    """ELECTRA: a generator names pieces, the encoder judges them."""
    return any(loss.head == "replaced" for loss in row.losses)
