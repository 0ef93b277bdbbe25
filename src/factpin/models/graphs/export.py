"""Record a model as an ONNX graph. Needs torch; the result needs only onnxruntime.

A head that reads windows is recorded with its encoder, and the outputs are the tensors of its scores. Of a model that
reads documents the encoder is recorded: its outputs are the token vectors, and where the head asks for attention the
queries and keys of the last layer, from which the rows of a few tokens are computed afterwards.

Before recording, every weight is set to random numbers. So each constant of the graph can be recognised as the weight
that it is (strip.py), also where a model has many equal ones, such as the zeros of biases.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder

OPSET = 18
ITEMS, TOKENS = 2, 9  # of the recorded example; both are open in the graph


@dataclass(frozen=True)
class RecordedModel:
    """A recorded model."""

    model: bytes  # ONNX, with random weights
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: dict[str, Tensor]  # the random ones, by the names of the tensors of the model


class _OutputModule(nn.Module):
    """A module whose outputs have names, which are known after it was run."""

    names: tuple[str, ...] = ()

    def named(self, *inputs: Tensor) -> dict[str, Tensor]:
        """The outputs by name."""
        raise NotImplementedError

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        found = self.named(*inputs)
        self.names = tuple(found)
        return tuple(found.values())


class WindowScores(_OutputModule):
    """Windows in, the scores of a head out."""

    inputs = ("ids", "mask", "real")

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def named(self, *inputs: Tensor) -> dict[str, Tensor]:
        ids, mask, real = inputs
        return dict(flat(self.model.head(self.model.encoder(ids, mask).hidden, real)))


class ReaderOutput(_OutputModule):
    """Questions beside passages in, the scores of a reader's head out."""

    inputs = ("ids", "mask", "real", "segments")

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def named(self, *inputs: Tensor) -> dict[str, Tensor]:
        ids, mask, real, segments = inputs
        return dict(flat(self.model.head(self.model.encoder(ids, mask, segments=segments).hidden, real)))


def flat(scores: Any, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """The tensors of scores by the names of their fields; `real` is an input."""
    for one in fields(scores):
        value = getattr(scores, one.name)
        if is_dataclass(value):
            yield from flat(value, f"{prefix}{one.name}.")
        elif one.name != "real" and isinstance(value, Tensor):
            yield f"{prefix}{one.name}", value


def record(module: Any, encoder: Encoder) -> RecordedModel:
    """Record a module of this encoder; its weights are random afterwards."""
    state = dict(module.model.state_dict())
    randomise(list(state.values()))
    module.eval()
    example = {name: x for name, x in example_inputs(encoder).items() if name in module.inputs}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about shapes that are Python numbers: the check afterwards is by running it
        module(*example.values())
        model = export(module, example, module.names)
    return RecordedModel(model, tuple(example), module.names, state)


def export(module: nn.Module, example: dict[str, Tensor], outputs: Sequence[str]) -> bytes:
    """The module as ONNX; the number of windows and their length stay open."""
    stream = io.BytesIO()
    torch.onnx.export(
        module,
        tuple(example.values()),
        stream,  # type: ignore[arg-type]
        input_names=[*example],
        output_names=[*outputs],
        dynamic_axes={name: {0: "windows", 1: "tokens"} for name in example},
        opset_version=OPSET,
        dynamo=False,  # a smaller and faster graph than that of torch.export, and a tenth of the time
    )
    return stream.getvalue()


@torch.no_grad()
def randomise(weights: Sequence[Tensor]) -> None:
    """Set weights to random numbers that are the same in every run."""
    chance = torch.Generator().manual_seed(0)
    for w in weights:
        if w.is_floating_point():
            w.copy_(torch.randn(w.shape, generator=chance) * 0.05)


def example_inputs(encoder: Encoder) -> dict[str, Tensor]:
    """Two windows, one of them with padding."""
    ids = torch.ones(ITEMS, TOKENS, dtype=torch.int64)
    ids += torch.arange(TOKENS) % (encoder.word_vectors.shape[0] - 1)
    mask = torch.ones(ITEMS, TOKENS, dtype=torch.bool)
    mask[1, TOKENS // 2 :] = False
    real = mask.clone()
    real[:, 0] = False
    return {"ids": ids, "mask": mask, "real": real, "segments": real.long()}
