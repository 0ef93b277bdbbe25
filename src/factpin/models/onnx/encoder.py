"""An encoder whose token vectors are averaged, behind onnxruntime: vectors of texts for search."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from factpin.arrays import Floats32
from factpin.models.checks import refusing
from factpin.models.onnx.graph import read_graph
from factpin.models.onnx.session import Session
from factpin.models.weights import packed_weights
from factpin.tokens import Tokenizer
from factpin.tokens.reading import collate


def load_means(folder: Path, longest: int) -> Callable[[Sequence[str]], Floats32]:
    """Texts -> the means of their token vectors (B, D); at most `longest` tokens of a text are read."""
    with refusing(folder):
        graph, model = read_graph(folder)
        session = Session(graph, model, packed_weights(folder), folder)
        tokenizer = Tokenizer.load(folder)
    most = min(longest, graph.longest or longest) - tokenizer.frame_size  # pieces

    def means(texts: Sequence[str]) -> Floats32:
        batch = collate([pieces.ids[:most] for pieces in tokenizer.encode_batch(texts)], tokenizer)
        hidden = session.run({"ids": batch.ids, "mask": batch.mask})["hidden"]  # (B, N, D)
        total = np.where(batch.mask[..., None], hidden, np.float32(0)).sum(axis=1)
        found: Floats32 = total / batch.mask.sum(axis=1, keepdims=True).astype(np.float32)
        return found

    return means
