"""How to train, and reading and writing recipes. The comments are the help of `factpin train`. No torch."""

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import tomli_w

from factpin.errors import BadInput, did_you_mean
from factpin.files import read_text, write_bytes

BATCH = 16


@dataclass(frozen=True)
class TrainConfig:
    """How to train, whatever the task. Shares are of all optimiser steps."""

    epochs: int | None = None  # passes over the data; default: 5, or as many as make 1,200 steps
    max_steps: int | None = None  # most steps; may end the run before `epochs`, and shortens the schedule
    batch_size: int | None = None  # texts per forward pass and process; default: 16, fewer if they are long
    accumulation: int = 1  # forward passes per step
    learning_rate: float | None = None  # learning rate of the encoder; default: 2e-4; if as wide as BERT: 5e-5
    head_learning_rate: float | None = None  # learning rate of the head; default: ten times that of the encoder
    layer_decay: float = 1.0  # learning rate of an encoder layer, relative to the layer above
    freeze_layers: int = 0  # keep the embeddings and this many of the lowest layers as they are; 0: train all
    weight_decay: float = 0.01  # weight decay of AdamW
    warmup: float = 0.1  # share of the steps in which the learning rate rises
    schedule: Literal["linear", "cosine", "constant"] = "linear"  # how the learning rate falls after the warm-up
    clip: float = 1.0  # largest norm of the gradient; 0: any
    bf16: bool = False  # half precision: faster where the processor supports it
    ema: float = 0.0  # decay of a moving average of the weights, which is evaluated and kept; 0: none
    fgm: float = 0.0  # size of an adversarial step on the word embeddings; 0: none
    rdrop: float = 0.0  # weight of R-Drop, the agreement of two passes under dropout; 0: none
    early_stopping: int | None = None  # stop after this many evaluations without a better metric
    metric: str = "f1"  # metric on dev that picks the best weights: f1, precision, recall, macro_f1, …
    evaluate_every: int | None = None  # steps between evaluations; default: an epoch
    save_every: int | None = None  # steps between checkpoints; default: an epoch
    seed: int = 42  # seed of all random numbers
    tensorboard: bool = False  # write TensorBoard logs

    @property
    def texts(self) -> int:
        """Texts per forward pass and process, where the default depends on nothing or is filled in."""
        return self.batch_size or BATCH

    def __post_init__(self) -> None:
        for name in (
            "epochs",
            "batch_size",
            "accumulation",
            "max_steps",
            "early_stopping",
            "evaluate_every",
            "save_every",
        ):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}; expected at least 1.")
        if self.freeze_layers < 0:
            raise BadInput(f"freeze_layers is {self.freeze_layers}; expected 0 or more.")
        if self.freeze_layers and self.fgm:
            raise BadInput("fgm moves the word embeddings by their gradient, which freeze_layers takes away. Drop one.")
        if not 0 <= self.seed < 2**31:
            raise BadInput(f"seed is {self.seed}; expected 0 or more.")
        for name in ("learning_rate", "head_learning_rate", "layer_decay"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise BadInput(f"{name} is {getattr(self, name)}; expected more than 0.")
        for name in ("warmup", "ema"):
            if not 0 <= getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}; expected 0 or more and less than 1.")


def from_dict(kind: type[Any], record: dict[str, Any], where: str) -> Any:
    """A config of that kind from plain values; an unknown key says what was probably meant."""
    known = {f.name for f in fields(kind)}
    for key in record:
        if key not in known:
            raise BadInput(f"{where}: there is no setting {key!r}.{did_you_mean(key, known)}")
    hints = get_type_hints(kind)
    for key, value in record.items():
        if not _fits(value, hints[key]):
            raise BadInput(f"{where}: {key} is {value!r}; expected {_described(hints[key])}.")
    return kind(**record)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of a TOML file is what a field of that type takes."""
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_args(hint):
        return any(_fits(value, part) for part in get_args(hint))
    if hint in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, int | float) if hint is float else isinstance(value, hint)


def _described(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    names = [part.__name__ for part in get_args(hint) or (hint,) if part is not type(None)]
    return " or ".join(
        {"int": "a whole number", "float": "a number", "str": "a string", "bool": "true or false"}.get(name, name)
        for name in names
    )


def chosen(kind: type[Any], recipe: dict[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    """A recipe's settings of one kind, with those choices on top that are of this kind and are made."""
    known = {f.name for f in fields(kind)}
    return {**recipe, **{key: value for key, value in choices.items() if key in known and value is not None}}


def to_dict(config: Any) -> dict[str, Any]:
    """A config as plain values, without those that are None."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(config).items() if v is not None}


def write_recipe(path: Path, tables: dict[str, dict[str, Any]]) -> None:
    """All settings of a run as TOML: enough to run it again with `factpin train --recipe`."""
    with write_bytes(path) as stream:
        stream.write(tomli_w.dumps(tables).encode())


def read_recipe(path: Path) -> dict[str, Any]:
    """The tables of a recipe."""
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not TOML ({error}).") from None
