"""Record a model as an ONNX graph. Needs torch; the result needs only onnxruntime.

A head that reads windows is recorded with its encoder, and the outputs are the tensors of its scores. Of a model that
reads documents, and of an encoder for search, the encoder alone is recorded: its outputs are the token vectors, and
where a head asks for attention the queries and keys of the last layer, from which the rows of a few tokens are computed
afterwards (onnx/rows.py).

Before recording, every weight is set to random numbers. So each constant of the graph can be recognised as the weight
that it is (strip.py), also where a model has many equal ones, such as the zeros of biases.
"""

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn

from factpin.encoders import Encoder
from factpin.encoders.rows import NAME, watching
from factpin.errors import BadModel

OPSET = 18
ITEMS, TOKENS = 2, 9  # of the recorded example; both are open in the graph


@dataclass(frozen=True)
class RecordedModel:
    """A recorded model."""

    model: bytes  # ONNX, with random weights
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: dict[str, Tensor]  # the random ones, by the names of the tensors of the model
    scaling: float | None = None  # of the queries and keys among the outputs


@dataclass(frozen=True)
class Outputs:
    """What a recorded model computes, by name."""

    tensors: dict[str, Tensor]
    scaling: float | None = None  # of the queries and keys among them


Compute = Callable[..., Outputs]  # of the model and its inputs


class GraphModule(nn.Module):
    """A model as it is recorded: the tensors of `inputs` in, what `compute` makes of them out. The names of the
    outputs are known after it was run."""

    def __init__(self, model: nn.Module, inputs: Sequence[str], compute: Compute) -> None:
        super().__init__()
        self.model = model
        self.inputs, self.compute = tuple(inputs), compute
        self.names: tuple[str, ...] = ()
        self.scaling: float | None = None

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        found = self.compute(self.model, *inputs)
        self.scaling = found.scaling
        self.names = tuple(found.tensors)
        return tuple(found.tensors.values())


def window_scores(model: Any) -> GraphModule:
    """Windows in, the scores of a head out."""

    def compute(model: Any, ids: Tensor, mask: Tensor, real: Tensor) -> Outputs:
        return Outputs(dict(flat(model.head(model.encoder(ids, mask).hidden, real))))

    return GraphModule(model, ("ids", "mask", "real"), compute)


def reader_scores(model: Any) -> GraphModule:
    """Questions beside passages in, the scores of a reader's head out."""

    def compute(model: Any, ids: Tensor, mask: Tensor, real: Tensor, segments: Tensor) -> Outputs:
        return Outputs(dict(flat(model.head(model.encoder(ids, mask, segments=segments).hidden, real))))

    return GraphModule(model, ("ids", "mask", "real", "segments"), compute)


def token_vectors(model: Any, encoder: Encoder) -> GraphModule:
    """Windows in, the vectors of their tokens out."""

    def compute(_: Any, ids: Tensor, mask: Tensor) -> Outputs:
        return Outputs({"hidden": encoder(ids, mask).hidden})

    return GraphModule(model, ("ids", "mask"), compute)


def attending_vectors(model: Any, encoder: Encoder) -> GraphModule:
    """Windows in, the vectors of their tokens out, and what the rows of the last layer's attention are made of."""

    def compute(_: Any, ids: Tensor, mask: Tensor) -> Outputs:
        return attended(encoder, ids, mask)

    return GraphModule(model, ("ids", "mask"), compute)


def attended(encoder: Encoder, ids: Tensor, mask: Tensor) -> Outputs:
    """The vectors of tokens, and the last layer's queries, keys and bias of positions."""
    if encoder.config._attn_implementation not in ("sdpa", NAME):
        raise BadModel(
            f"The attention of the architecture {encoder.config.model_type} cannot be recorded. Use --runtime torch."
        )
    encoder.model.set_attn_implementation(NAME)
    with watching() as watch:
        hidden = encoder(ids, mask).hidden
    last = watch.last
    found = {"hidden": hidden, "query": last["query"], "key": last["key"]}
    return Outputs(found if last["bias"] is None else {**found, "bias": last["bias"]}, float(last["scaling"]))


def flat(scores: Any, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """The tensors of scores by the names of their fields; `real` is an input."""
    for one in fields(scores):
        value = getattr(scores, one.name)
        if is_dataclass(value):
            yield from flat(value, f"{prefix}{one.name}.")
        elif one.name != "real" and isinstance(value, Tensor):
            yield f"{prefix}{one.name}", value


def record(module: GraphModule, encoder: Encoder) -> RecordedModel:
    """Record a module of this encoder; its weights are random afterwards."""
    state = dict(module.model.state_dict())
    randomise(list(state.values()))
    module.eval()
    example = {name: x for name, x in example_inputs(encoder).items() if name in module.inputs}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about shapes that are Python numbers: the check afterwards is by running it
        module(*example.values())
        model = export(module, example, module.names)
    return RecordedModel(model, tuple(example), module.names, state, module.scaling)


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
