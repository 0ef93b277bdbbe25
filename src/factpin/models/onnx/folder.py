"""A model folder, loaded by onnxruntime."""

from dataclasses import replace
from pathlib import Path

from factpin.errors import BadModel
from factpin.models import checks
from factpin.models.onnx.graph import AGAIN, FLOAT32, Graph, read_graph
from factpin.models.onnx.network import WindowNetwork
from factpin.models.onnx.scores import SCORES
from factpin.models.onnx.session import Session
from factpin.models.predictor import Predictor
from factpin.models.settings import Settings, read_task_settings
from factpin.models.weights import PackedWeights, packed_weights, shared_packed
from factpin.tokens import Tokenizer

TUNED = {"shift", "task_config", "temperature", "thresholds"}  # settings that a precision may have of its own


def load_onnx(folder: Path, precision: str = FLOAT32) -> tuple[Settings, Predictor, Tokenizer]:
    """The parts of a model folder, ready to predict. Whatever is wrong with it is a BadModel."""
    with checks.refusing(folder):
        settings = read_task_settings(folder)
        checks.check_folder(folder, checks.weight_files(folder, settings.upon))
        graph, model = read_graph(folder, precision)
        own = tuned(settings, graph, folder)
        tokenizer = Tokenizer.shared(folder)
        weights = graph_weights(folder, settings, graph)
        session = Session(graph, model, weights, folder)
        if own.head in SCORES:
            return own, WindowNetwork.of(own, session, weights), tokenizer
        from factpin.models.onnx.documents import DocumentNetwork  # noqa: PLC0415  (only for such heads)

        return own, DocumentNetwork.of(own, session, weights), tokenizer


def tuned(settings: Settings, graph: Graph, folder: Path) -> Settings:
    """The settings with what was fitted for the precision of a graph."""
    if not graph.tuned.keys() <= TUNED:
        raise BadModel(f"{folder}: its graph has settings of its own for {', '.join(graph.tuned)}. {AGAIN}")
    return replace(settings, **graph.tuned)


def open_session(folder: Path, settings: Settings, precision: str = FLOAT32) -> tuple[Session, PackedWeights]:
    """The graph of a folder with its weights, and these."""
    graph, model = read_graph(folder, precision)
    weights = graph_weights(folder, settings, graph)
    return Session(graph, model, weights, folder), weights


def graph_weights(folder: Path, settings: Settings, graph: Graph) -> PackedWeights:
    """The weights that a graph reads."""
    own = packed_weights(folder)
    return own.together(shared_packed(folder, settings, graph.tensors - own.keys()))
