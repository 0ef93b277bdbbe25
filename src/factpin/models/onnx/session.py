"""Session: a graph that runs in onnxruntime, with the weights of a model folder."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from factpin.errors import BadModel
from factpin.models.onnx.graph import AGAIN, GRAPH, LARGEST, ROWS, SMALLEST, STORED, TABLE, ZERO, Feed, Graph
from factpin.models.weights import SCALE, PackedWeights

MOST_THREADS = 4  # more help little with texts of this size, and other processes want some
QUIET = 3  # errors only
ALIGNED = 16  # numbers: each weight starts at a multiple of 64 bytes


class Session:
    """Arrays in, arrays out, by their names."""

    def __init__(self, graph: Graph, model: bytes, weights: PackedWeights, folder: Path) -> None:
        """The bytes of the graph are read, never a file that it may name; a weight that is not fed is an error."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = QUIET
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        fed = feeds(graph, weights, folder)
        values = [ort.OrtValue.ortvalue_from_numpy(array) for array in fed.values()]
        options.add_external_initializers([*fed], values)
        try:
            self._session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has types of its own, which derive from Exception alone
            raise BadModel(f"{folder / GRAPH}: onnxruntime cannot load it ({_first_line(error)}). {AGAIN}") from None
        self.graph = graph
        given = {one.name for one in self._session.get_inputs()}, {one.name for one in self._session.get_outputs()}
        if given != ({*graph.inputs}, {*graph.outputs}):
            raise BadModel(f"{folder / GRAPH}: its inputs or outputs are not those of {TABLE}. {AGAIN}")

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The outputs by name; inputs that the graph does not read are left out."""
        given = {name: inputs[name] for name in self.graph.inputs}
        return dict(zip(self.graph.outputs, self._session.run(self.graph.outputs, given), strict=True))


def feeds(graph: Graph, weights: PackedWeights, folder: Path) -> dict[str, NDArray[Any]]:
    """The weights as the graph wants them.

    Those in float32 are parts of one array: the system gives out one large array faster than many small ones.
    """
    whole = {name: feed for name, feed in graph.weights.items() if not feed.part}
    for feed in whole.values():
        _refuse_other_size(feed, weights.shape(feed.tensor) if feed.tensor in weights else None, folder)
    rooms = [-(-math.prod(feed.shape) // ALIGNED) * ALIGNED for feed in whole.values()]
    block, at = np.empty(sum(rooms), np.float32), 0
    fed: dict[str, NDArray[Any]] = {}
    for (name, feed), room in zip(whole.items(), rooms, strict=True):
        out, shape = block[at : at + math.prod(feed.shape)], weights.shape(feed.tensor)
        weights.write(feed.tensor, out.reshape(shape[::-1] if feed.transposed else shape), transposed=feed.transposed)
        fed[name] = out.reshape(feed.shape)
        at += room
    return {name: fed[name] if name in fed else part_of(graph.weights[name], weights, folder) for name in graph.weights}


def part_of(feed: Feed, weights: PackedWeights, folder: Path) -> NDArray[Any]:
    """A weight that the graph wants as bytes or scales."""
    part = None
    if feed.part in STORED and feed.tensor in weights:
        part = weights.packed[feed.tensor if feed.part == ROWS else f"{feed.tensor}{SCALE}"]
        part = part if feed.part == ROWS else part.astype(np.float32)
    elif feed.tensor in weights:
        tensor = weights[feed.tensor]
        part = quantised(tensor.T if feed.transposed else tensor)[feed.part == "scale"]
    _refuse_other_size(feed, None if part is None else part.shape, folder)
    return np.ascontiguousarray(part).reshape(feed.shape)


def _refuse_other_size(feed: Feed, shape: tuple[int, ...] | None, folder: Path) -> None:
    if shape is None or math.prod(shape) != math.prod(feed.shape):
        found = "missing" if shape is None else f"of the shape {shape}"
        raise BadModel(
            f"{folder}: the graph reads the weight {feed.tensor} of the shape {feed.shape}, which is {found} in "
            f"model.safetensors. The graph is of another model. {AGAIN}"
        )


def quantised(W: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A matrix (rows, columns) as unsigned bytes, and the scale of each column."""
    scale = np.maximum(np.abs(W).max(axis=0, initial=0.0) / LARGEST, SMALLEST).astype(np.float32)  # (columns,)
    return (np.rint(W / scale) + ZERO).astype(np.uint8), scale


def threads() -> int:
    """Threads of a session: OMP_NUM_THREADS, or the cores that this process may use, but not many."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_THREADS)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
