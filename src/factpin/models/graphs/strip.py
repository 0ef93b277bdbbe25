"""Take the weights out of a recorded graph, or put others in. Needs the package onnx.

A constant of the graph is a weight where its numbers are those of a tensor of the model, as they are, transposed, or in
another shape. Recorded weights are random, so this is unambiguous; what is not a weight stays in the graph.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from factpin.errors import BadModel
from factpin.models.graphs.export import RecordedModel
from factpin.models.onnx.graph import NOWHERE, Feed

LARGEST = 1 << 16  # bytes of a constant of floats that is no weight


def strip(recording: RecordedModel) -> tuple[bytes, dict[str, Feed]]:
    """The graph without weights, and which tensor each of them is."""
    model = onnx.load_from_string(recording.model)
    found = match(model, {name: w.numpy() for name, w in recording.weights.items()})
    for tensor in model.graph.initializer:
        if tensor.name in found:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            del tensor.external_data[:]
            tensor.external_data.add(key="location", value=NOWHERE)
        elif tensor.data_type == onnx.TensorProto.FLOAT and len(tensor.raw_data) > LARGEST:
            raise BadModel(
                f"The graph has a constant of {len(tensor.raw_data):,} bytes, {tensor.name}, that is no weight of the "
                f"model. This architecture cannot be written as a graph without weights; use --runtime torch."
            )
    strip_notes(model)
    return model.SerializeToString(), found


def match(model: Any, weights: Mapping[str, NDArray[Any]]) -> dict[str, Feed]:
    """The constants of a graph that are weights, by name."""
    places: dict[bytes, tuple[str, bool]] = {}
    for name, w in weights.items():
        if not np.issubdtype(w.dtype, np.floating):
            continue
        if w.ndim == 2:
            places.setdefault(np.ascontiguousarray(w.T).tobytes(), (name, True))
        places[np.ascontiguousarray(w).tobytes()] = (name, False)
    found = {}
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            place = places.get(numpy_helper.to_array(tensor).tobytes())
            if place is not None:
                found[tensor.name] = Feed(*place, tuple(tensor.dims))
    return found


def fill(model: bytes, feeds: Mapping[str, NDArray[Any]]) -> bytes:
    """A graph with these weights in it, for other programs."""
    whole = onnx.load_from_string(model)
    for tensor in whole.graph.initializer:
        if tensor.name in feeds:
            tensor.CopyFrom(numpy_helper.from_array(feeds[tensor.name], tensor.name))
    return whole.SerializeToString()


def strip_notes(model: Any) -> None:
    """Remove what torch noted about its source, such as paths of this machine."""
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
