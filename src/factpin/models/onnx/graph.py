"""graph.onnx and graph.json: the computation of a model without its weights, and which weight goes where.

    graph.onnx    encoder and head, or the encoder alone; its weights are declared as external and are in no file
    graph.json    the tensor of model.safetensors that each of them is
    graph.int8.*  the same with an encoder that multiplies in int8, and thresholds of its own where they were tuned

The weights of a folder are fed when it is loaded, so there is one copy of them, whatever runtime is used.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from factpin.errors import BadModel
from factpin.files import open_bytes, write_bytes
from factpin.models.checks import list_graph

GRAPH, TABLE = "graph.onnx", "graph.json"
FLOAT32, INT8 = "float32", "int8"
FILES = {FLOAT32: (GRAPH, TABLE), INT8: ("graph.int8.onnx", "graph.int8.json")}  # by precision
NOWHERE = "fed"  # the file of a weight that is fed; it does not exist
ROWS, ROW_SCALES = STORED = ("rows", "row scales")  # parts of a table of vectors that is fed as it is stored
ZERO = 128  # the number that is 0 among unsigned weights
LARGEST, SMALLEST = 127, 1e-12  # of quantised weights, of scales
VERSION = 1
AGAIN = "Write it again where torch is installed: factpin onnx FOLDER"


@dataclass(frozen=True)
class Feed:
    """A weight of the graph: which tensor of the folder it is."""

    tensor: str
    transposed: bool
    shape: tuple[int, ...]  # in the graph
    part: str = ""  # int8, scale: of a matrix that is quantised by columns; rows, row scales: as stored


@dataclass(frozen=True)
class Graph:
    """What graph.json says about graph.onnx."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights: dict[str, Feed]  # by their names in the graph
    others: tuple[str, ...] = ()  # tensors of the model that are not in the graph
    scaling: float | None = None  # of the queries and keys that the graph gives
    longest: int | None = None  # tokens of a text, for an encoder without settings of its own
    precision: str = FLOAT32
    tuned: dict[str, Any] = field(default_factory=dict)  # settings of the model that were fitted for this precision
    sha256: str = ""  # of graph.onnx
    written_by: str = ""
    version: int = field(default=VERSION)

    @property
    def tensors(self) -> set[str]:
        """The names of all tensors of the model."""
        return {feed.tensor for feed in self.weights.values()} | {*self.others}


def has_graph(folder: Path, precision: str = FLOAT32) -> bool:
    """Whether a folder has a graph for onnxruntime."""
    return all((folder / name).is_file() for name in FILES[precision])


def write_graph(folder: Path, graph: Graph, model: bytes) -> Graph:
    """Write both files, graph.json last; returns it with the digest of graph.onnx."""
    name, table = FILES[graph.precision]
    remove_graph(folder, (graph.precision,))
    with write_bytes(folder / name) as stream:
        stream.write(model)
    record = {**asdict(graph), "sha256": hashlib.sha256(model).hexdigest()}
    with write_bytes(folder / table) as stream:
        stream.write(orjson.dumps(record, option=orjson.OPT_INDENT_2) + b"\n")
    list_graph(folder)
    return parse_graph(record)


def remove_graph(folder: Path, precisions: Iterable[str] = tuple(FILES)) -> None:
    """Remove the graphs of a folder, if it has any: of a model that changes they would compute another."""
    for name, table in (FILES[precision] for precision in precisions):
        if (folder / table).is_file():
            (folder / table).unlink()
            (folder / name).unlink(missing_ok=True)
            list_graph(folder)  # until both are written again, the list names neither
        (folder / name).unlink(missing_ok=True)


def read_graph(folder: Path, precision: str = FLOAT32) -> tuple[Graph, bytes]:
    """graph.json and the bytes of graph.onnx, which are those it was written for."""
    name, table = FILES[precision]
    try:
        with open_bytes(folder / table) as stream:
            graph = parse_graph(orjson.loads(stream.read()))
    except (orjson.JSONDecodeError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise BadModel(f"{folder / table}: cannot be read ({error}). {AGAIN}") from None
    if graph.version > VERSION:
        raise BadModel(f"{folder / table}: written by a newer factpin. Upgrade factpin, or write it again.")
    with open_bytes(folder / name) as stream:
        model = stream.read()
    if hashlib.sha256(model).hexdigest() != graph.sha256:
        raise BadModel(f"{folder / name}: damaged, or not the file that {table} describes. {AGAIN}")
    return graph, model


def parse_graph(record: Mapping[str, Any]) -> Graph:
    """From the record of graph.json."""
    feeds = {
        name: Feed(
            str(feed["tensor"]), bool(feed["transposed"]), tuple(map(int, feed["shape"])), str(feed.get("part", ""))
        )
        for name, feed in record["weights"].items()
    }
    names = {key: tuple(map(str, record[key])) for key in ("inputs", "outputs", "others")}
    return Graph(**{**record, **names, "weights": feeds})
