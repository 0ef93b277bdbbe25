"""Tables of vectors in a graph, read as they are stored: bytes with a scale for each row. Needs the package onnx.

    y = table[ids]  becomes  y = rows[ids] * scales[ids]

The products are those that would be made of the whole table when it is loaded, so the numbers are the same; only the
vectors of a text are made, and the table takes a quarter of the memory.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from factpin.models.graphs.quantise import fed_tensor
from factpin.models.onnx.graph import ROW_SCALES, ROWS, Graph
from factpin.models.weights import PackedWeights


def keep_rows(graph: Graph, model: bytes, stored: PackedWeights) -> tuple[Graph, bytes]:
    """The graph with its tables of vectors as these weights have them."""
    whole = onnx.load_from_string(model)
    uses = Counter(name for node in whole.graph.node for name in node.input)
    tables = {
        node.input[0]
        for node in whole.graph.node
        if _looks_up(node) and uses[node.input[0]] == 1 and _in_rows(graph, node.input[0], stored)
    }
    nodes = [
        new
        for node in whole.graph.node
        for new in (_products(node) if node.input[:1] and node.input[0] in tables else [node])
    ]
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    kept = [tensor for tensor in whole.graph.initializer if tensor.name not in tables]
    feeds = {name: feed for name, feed in graph.weights.items() if name not in tables}
    for name in sorted(tables):
        feed = graph.weights[name]
        scales = (feed.shape[0], 1)
        kept += [
            fed_tensor(f"{name}.rows", TensorProto.INT8, feed.shape),
            fed_tensor(f"{name}.scales", TensorProto.FLOAT, scales),
        ]
        feeds[f"{name}.rows"] = replace(feed, part=ROWS)
        feeds[f"{name}.scales"] = replace(feed, part=ROW_SCALES, shape=scales)
    del whole.graph.initializer[:]
    whole.graph.initializer.extend(kept)
    return replace(graph, weights=feeds), whole.SerializeToString()


def _looks_up(node: Any) -> bool:
    """Whether a node takes rows of a table by their numbers."""
    return node.op_type == "Gather" and all(one.i == 0 for one in node.attribute if one.name == "axis")


def _in_rows(graph: Graph, name: str, stored: PackedWeights) -> bool:
    """Whether a weight is a table that is stored as bytes."""
    feed = graph.weights.get(name)
    if feed is None or feed.transposed or len(feed.shape) != 2 or feed.tensor not in stored:
        return False
    return stored.packed[feed.tensor].dtype == np.int8 and stored.shape(feed.tensor) == feed.shape


def _products(node: Any) -> Iterator[Any]:
    """The nodes of one table."""
    (table, ids), y = node.input, node.output[0]
    yield helper.make_node("Gather", [f"{table}.rows", ids], [f"{y}.rows"], axis=0)
    yield helper.make_node("Cast", [f"{y}.rows"], [f"{y}.bytes"], to=TensorProto.FLOAT)
    yield helper.make_node("Gather", [f"{table}.scales", ids], [f"{y}.scales"], axis=0)
    yield helper.make_node("Mul", [f"{y}.bytes", f"{y}.scales"], [y])
