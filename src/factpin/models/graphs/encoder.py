"""Write the graph of an encoder whose vectors search uses (`--vectors`). Needs torch and onnx."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from torch import Tensor

from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.models.embedders import load_mean
from factpin.models.graphs.check import near
from factpin.models.graphs.export import record, token_vectors
from factpin.models.graphs.write import GraphReport, without_weights
from factpin.models.onnx.graph import remove_graph, write_graph
from factpin.models.weights import Weights, stored_weights
from factpin.tokens import Tokenizer

WEIGHTS = "model.safetensors"
LENGTHS = (1, 5, 40, 400)  # pieces of the texts on which the runtimes are compared


def is_encoder(folder: Path) -> bool:
    """Whether a folder holds an encoder, and no model that extracts."""
    return (folder / "config.json").is_file() and not (folder / "factpin.json").is_file()


def write_encoder(folder: Path, output: Path | None = None) -> GraphReport:
    """Write graph.onnx and graph.json into the folder of an encoder, or into a copy of it."""
    if output and output.exists() and any(output.iterdir()):
        raise BadInput(f"{output} is not empty. Name a new folder for the copy of the encoder.")
    if not (folder / WEIGHTS).is_file():
        raise BadModel(f"{folder}: it has no {WEIGHTS}, from which a graph reads its weights. Save it in this format.")
    encoder = Encoder.load(folder).eval()
    names = names_in(stored_weights(folder), encoder.state_dict())
    graph, model = without_weights(record(token_vectors(encoder, encoder), encoder))
    if strange := [feed.tensor for feed in graph.weights.values() if feed.tensor not in names]:
        raise BadModel(f"{folder / WEIGHTS}: it does not hold {strange[0]}. Use --runtime torch.")
    weights = {name: replace(feed, tensor=names[feed.tensor]) for name, feed in graph.weights.items()}
    target = Path(shutil.copytree(folder, output, dirs_exist_ok=True)) if output else folder
    write_graph(target, replace(graph, weights=weights, others=(), longest=encoder.max_length), model)
    try:
        apart = compare_vectors(target)
    except BadModel:
        remove_graph(target)
        raise
    return GraphReport(target, len(model), apart)


def names_in(stored: Weights, state: Mapping[str, Tensor]) -> dict[str, str]:
    """The tensors of an encoder by their names in its file, where they may have another prefix, as in bert.…"""
    found = {}
    for name, w in state.items():
        own = name.removeprefix("model.")
        for other in stored:
            if f".{other}".endswith(f".{own}") and np.array_equal(stored[other], w.float().numpy()):
                found[name] = other
    return found


def compare_vectors(folder: Path) -> float:
    """The greatest difference of the vectors of random texts; an error where it is not small."""
    chance, tokenizer = np.random.default_rng(0), Tokenizer.load(folder)
    ids = [chance.integers(0, tokenizer.vocab_size, n).astype(np.int32) for n in LENGTHS]
    texts = [tokenizer.decode(one) or "a" for one in ids]
    one, two = (load_mean(str(folder), runtime).embed(texts) for runtime in ("torch", "onnx"))
    return near("a vector", one, two)
