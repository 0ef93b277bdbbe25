"""graph.onnx and graph.json: the computation of a model without its weights, and which weight goes where.

    graph.onnx    encoder and head, or the encoder alone; its weights are declared as external and are in no file
    graph.json    the tensor of model.safetensors that each of them is

The weights of a folder are fed when it is loaded, so there is one copy of them, whatever runtime is used.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from factpin.errors import BadModel
from factpin.files import open_bytes, write_bytes
from factpin.models.checks import list_graph

GRAPH, TABLE = "graph.onnx", "graph.json"
VERSION = 1
AGAIN = "Write it again where torch is installed: factpin onnx FOLDER"


@dataclass(frozen=True)
class Feed:
    """A weight of the graph: which tensor of the folder it is."""

    tensor: str
    transposed: bool
    shape: tuple[int, ...]  # in the graph


@dataclass(frozen=True)
class Graph:
    """What graph.json says about graph.onnx."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: dict[str, Feed]  # by their names in the graph
    others: tuple[str, ...] = ()  # tensors of the model that are not in the graph
    scaling: float | None = None  # of the queries and keys that the graph gives
    precision: str = "float32"  # int8: weights of linear layers are inside the graph, quantised
    sha256: str = ""  # of graph.onnx
    written_by: str = ""
    version: int = field(default=VERSION)

    @property
    def tensors(self) -> set[str]:
        """The names of all tensors of the model."""
        return {feed.tensor for feed in self.weights.values()} | {*self.others}


def has_graph(folder: Path) -> bool:
    """Whether a folder has a graph for onnxruntime."""
    return (folder / GRAPH).is_file() and (folder / TABLE).is_file()


def write_graph(folder: Path, graph: Graph, model: bytes) -> Graph:
    """Write both files, graph.json last; returns it with the digest of graph.onnx."""
    remove_graph(folder)
    with write_bytes(folder / GRAPH) as stream:
        stream.write(model)
    record = {**asdict(graph), "sha256": hashlib.sha256(model).hexdigest()}
    with write_bytes(folder / TABLE) as stream:
        stream.write(orjson.dumps(record, option=orjson.OPT_INDENT_2) + b"\n")
    list_graph(folder)
    return parse_graph(record)


def remove_graph(folder: Path) -> None:
    """Remove the graph of a folder, if it has one: of a model that changes it would compute another."""
    if has_graph(folder):
        (folder / TABLE).unlink()
        list_graph(folder)  # until both are written again, the list names neither
    for name in (TABLE, GRAPH):
        (folder / name).unlink(missing_ok=True)


def read_graph(folder: Path) -> tuple[Graph, bytes]:
    """graph.json and the bytes of graph.onnx, which are those it was written for."""
    try:
        with open_bytes(folder / TABLE) as stream:
            graph = parse_graph(orjson.loads(stream.read()))
    except (orjson.JSONDecodeError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise BadModel(f"{folder / TABLE}: cannot be read ({error}). {AGAIN}") from None
    if graph.version > VERSION:
        raise BadModel(f"{folder / TABLE}: written by a newer factpin. Upgrade factpin, or write it again.")
    with open_bytes(folder / GRAPH) as stream:
        model = stream.read()
    if hashlib.sha256(model).hexdigest() != graph.sha256:
        raise BadModel(f"{folder / GRAPH}: damaged, or not the file that {TABLE} describes. {AGAIN}")
    return graph, model


def parse_graph(record: Mapping[str, Any]) -> Graph:
    """From the record of graph.json."""
    feeds = {
        name: Feed(str(feed["tensor"]), bool(feed["transposed"]), tuple(map(int, feed["shape"])))
        for name, feed in record["weights"].items()
    }
    names = {key: tuple(map(str, record[key])) for key in ("inputs", "outputs", "others")}
    return Graph(**{**record, **names, "weights": feeds})
