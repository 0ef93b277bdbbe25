"""Write the int8 graph of a model folder, and fit thresholds for it. Needs the package onnx, and no torch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.models.extractor import Extractor
from factpin.models.graphs.quantise import quantise
from factpin.models.onnx.folder import TUNED
from factpin.models.onnx.graph import GRAPH, INT8, has_graph, read_graph, write_graph
from factpin.scoring import Pair


@dataclass(frozen=True)
class TuneOptions:
    """What a task's `tune` asks for."""

    tune_thresholds: bool = True


@dataclass(frozen=True)
class Int8Report:
    """What was written, and what it loses."""

    folder: Path
    size: int  # bytes of graph.int8.onnx
    documents: int = 0  # that thresholds were fitted on
    before: float = 0.0  # F1 of float32 there
    same: float = 0.0  # F1 of int8 with the thresholds of float32
    after: float = 0.0  # F1 of int8 with its own


def write_int8(folder: Path, dev: Sequence[Document] = ()) -> Int8Report:
    """Write graph.int8.onnx and graph.int8.json; with dev, thresholds and scales are fitted there again."""
    if not has_graph(folder):
        raise BadInput(f"{folder} has no {GRAPH}. Write it first: factpin onnx {folder}")
    graph, model = quantise(*read_graph(folder))
    write_graph(folder, graph, model)
    if not dev:
        return Int8Report(folder, len(model))
    exact, rough = (Extractor.load(folder, runtime="onnx", precision=name) for name in ("float32", INT8))
    settings = rough.task.tune(rough, dev, TuneOptions())
    tuned = {name: getattr(settings, name) for name in sorted(TUNED)}
    write_graph(folder, replace(graph, tuned=tuned), model)
    own = Extractor.load(folder, runtime="onnx", precision=INT8)
    return Int8Report(folder, len(model), len(dev), *(f1(one, dev) for one in (exact, rough, own)))


def f1(extractor: Extractor, gold: Sequence[Document]) -> float:
    """The main metric of a model on these documents."""
    pairs = [Pair(doc, found) for doc, found in zip(gold, extractor.annotate(gold), strict=True)]
    figures: dict[str, Any] = extractor.task.figures(extractor.task.score(pairs))
    return float(figures["f1"])
