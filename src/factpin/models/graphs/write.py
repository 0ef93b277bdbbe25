"""Write the graph of a model folder, and check that both runtimes find the same. Needs torch and onnx."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from factpin.documents import Document
from factpin.errors import BadInput, BadModel
from factpin.files import write_bytes
from factpin.models.extractor import Extractor
from factpin.models.folder import load_model
from factpin.models.graphs.check import compare_batches, compare_documents, compare_pairs, compare_trial
from factpin.models.graphs.export import (
    RecordedModel,
    attending_vectors,
    reader_scores,
    record,
    token_vectors,
    window_scores,
)
from factpin.models.graphs.rows import keep_rows
from factpin.models.graphs.strip import fill, strip
from factpin.models.onnx.documents import DOCUMENT_SCORES
from factpin.models.onnx.folder import graph_weights
from factpin.models.onnx.graph import GRAPH, Graph, read_graph, remove_graph, write_graph
from factpin.models.onnx.reader import load_onnx_reader
from factpin.models.onnx.scores import SCORES
from factpin.models.onnx.session import feeds
from factpin.models.reader_folder import load_reader
from factpin.models.settings import read_settings
from factpin.models.shipped import READER

FULL = "model.onnx"


@dataclass(frozen=True)
class GraphReport:
    """What was written, and how far the runtimes are apart."""

    folder: Path
    size: int  # bytes of graph.onnx
    difference: float  # the greatest, of scores of random windows
    documents: int = 0  # that were compared
    full: Path | None = None


def write_onnx(
    folder: Path, output: Path | None = None, documents: Sequence[Document] = (), *, full: bool = False
) -> GraphReport:
    """Write graph.onnx and graph.json into a model folder, or into a copy of it.

    Both runtimes read random windows and the documents; where they differ, no graph is left.
    full: write model.onnx too, an ordinary ONNX file with its weights, for other programs.
    """
    reads = read_settings(folder).task == READER
    if reads and documents:
        raise BadInput(f"{folder} is a reader, which answers questions; leave --check out.")
    target = copied(folder, output) if output else folder
    graph, model = record_reader(folder) if reads else record_graph(folder)
    write_graph(target, graph, model)
    try:
        if reads:
            difference = compare_pairs(load_reader(target), load_onnx_reader(target))
        else:
            one, two = (Extractor.load(target, runtime=name) for name in ("torch", "onnx"))
            compare = compare_trial if one.settings.head in DOCUMENT_SCORES else compare_batches
            difference = compare(one, two)
            compare_documents(one, two, documents)
    except BadModel:
        remove_graph(target)
        raise
    path = write_full(target) if full else None
    return GraphReport(target, len(model), difference, len(documents), path)


def record_graph(folder: Path) -> tuple[Graph, bytes]:
    """The graph of a model folder."""
    settings, model, _ = load_model(folder)
    if settings.head in SCORES:
        return as_stored(folder, *without_weights(record(window_scores(model), model.encoder)))
    if settings.head not in DOCUMENT_SCORES:
        known = ", ".join([*SCORES, *DOCUMENT_SCORES])
        raise BadModel(
            f"{folder}: the head {settings.head} cannot be run by onnxruntime. Known: {known}. Use --runtime torch."
        )
    vectors = attending_vectors if model.head.attends else token_vectors
    return as_stored(folder, *without_weights(record(vectors(model, model.encoder), model.encoder)))


def record_reader(folder: Path) -> tuple[Graph, bytes]:
    """The graph of a reader."""
    model = load_reader(folder).model
    return as_stored(folder, *without_weights(record(reader_scores(model), model.encoder)))


def as_stored(folder: Path, graph: Graph, model: bytes) -> tuple[Graph, bytes]:
    """A graph that reads the vectors of pieces as the folder stores them."""
    return keep_rows(graph, model, graph_weights(folder, read_settings(folder), graph))


def without_weights(recording: RecordedModel) -> tuple[Graph, bytes]:
    """A recorded model without its weights."""
    bare, feeds = strip(recording)
    others = recording.weights.keys() - {feed.tensor for feed in feeds.values()}
    by = f"factpin {version('factpin')}, torch {torch.__version__.split('+')[0]}"
    table = Graph(
        recording.inputs, recording.outputs, feeds, tuple(sorted(others)), scaling=recording.scaling, written_by=by
    )
    return table, bare


def write_full(folder: Path) -> Path:
    """model.onnx: the graph of a folder with its weights."""
    graph, model = read_graph(folder)
    weights = graph_weights(folder, read_settings(folder), graph)
    with write_bytes(folder / FULL) as stream:
        stream.write(fill(model, feeds(graph, weights, folder)))
    return folder / FULL


def copied(folder: Path, output: Path) -> Path:
    """A copy of a model folder, without its checkpoints and graph."""
    if output.exists() and any(output.iterdir()):
        raise BadInput(f"{output} is not empty. Name a new folder for the copy of the model.")
    if (upon := read_settings(folder).upon) and not (output.parent / upon / "model.safetensors").is_file():
        raise BadInput(
            f"{folder} shares weights with {upon!r} beside it. Copy that folder to {output.parent / upon} first, or "
            f"leave --output out to write {GRAPH} into {folder} itself."
        )
    ignored = shutil.ignore_patterns("checkpoints", "graph.*", FULL)
    shutil.copytree(folder, output, ignore=ignored, dirs_exist_ok=True)
    return output
