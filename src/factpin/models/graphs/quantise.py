"""A graph whose encoder multiplies in int8. Needs the package onnx to write it, and onnxruntime alone to run it.

    y = x W  becomes  y = (x8 - 128) (W8 - 128) / 127 * S * m      x8, m: when it runs; W8, S: when it is loaded

Every row of x, which is a token, is rounded by its own largest number m, so the numbers of a text do not depend on the
texts beside it.
Weights have a scale for each column and are quantised from those of the folder when the graph is loaded, so there is
no second copy of them. Where they are stored as int8 already they do not change: only what is multiplied with them is
rounded. They are unsigned with the zero at 128: signed ones overflow on processors without VNNI.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import onnx
from onnx import TensorProto, helper

from factpin.models.onnx.graph import INT8, LARGEST, NOWHERE, SMALLEST, ZERO, Feed, Graph

ENCODER = "encoder."  # the head stays in float32
DOMAIN = "com.microsoft"  # of the operator that multiplies bytes and gives floats
STEP, LEAST, MIDDLE, LAST = (f"int8.{name}" for name in ("step", "least", "middle", "last"))  # see _numbers


def quantise(graph: Graph, model: bytes) -> tuple[Graph, bytes]:
    """The graph with int8 products in its encoder, without weights as before."""
    whole = onnx.load_from_string(model)
    chosen = {node.input[1] for node in whole.graph.node if _in_encoder(node, graph.weights)}
    nodes: list[Any] = []
    rounded: dict[str, str] = {}  # what is multiplied -> the names of what it was rounded to
    for node in whole.graph.node:
        if _in_encoder(node, graph.weights):
            nodes += _product(node, rounded)
        else:
            nodes.append(node)
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    kept = [tensor for tensor in whole.graph.initializer if tensor.name not in chosen]
    del whole.graph.initializer[:]
    feeds = {name: feed for name, feed in graph.weights.items() if name not in chosen}
    for name in sorted(chosen):
        rows, columns = graph.weights[name].shape
        kept += [
            fed_tensor(f"{name}.int8", TensorProto.UINT8, (rows, columns)),
            fed_tensor(f"{name}.scale", TensorProto.FLOAT, (columns,)),
            helper.make_tensor(f"{name}.zero", TensorProto.UINT8, (), [ZERO]),
        ]
        feeds[f"{name}.int8"] = replace(graph.weights[name], part="int8")
        feeds[f"{name}.scale"] = replace(graph.weights[name], part="scale", shape=(columns,))
    whole.graph.initializer.extend([*kept, *_numbers()])
    whole.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return replace(graph, weights=feeds, precision=INT8), whole.SerializeToString()


def _in_encoder(node: Any, weights: Mapping[str, Feed]) -> bool:
    """Whether a node multiplies with a matrix of the encoder."""
    feed = weights.get(node.input[1]) if node.op_type == "MatMul" else None
    return feed is not None and len(feed.shape) == 2 and feed.tensor.startswith(ENCODER)


def fed_tensor(name: str, kind: int, shape: tuple[int, ...]) -> Any:
    """A weight that is fed."""
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=NOWHERE)
    return tensor


def _product(node: Any, rounded: dict[str, str]) -> Iterator[Any]:
    """The nodes of one product; what is multiplied with several matrices is rounded once."""
    x, name, y = node.input[0], node.input[1], node.output[0]
    if x not in rounded:
        rounded[x] = f"{x}.{len(rounded)}"
        yield from _rounding(x, rounded[x])
    q, largest = f"{rounded[x]}.q", f"{rounded[x]}.largest"
    inputs = [q, f"{name}.int8", STEP, f"{name}.scale", MIDDLE, f"{name}.zero"]
    yield helper.make_node("MatMulIntegerToFloat", inputs, [f"{y}.relative"], domain=DOMAIN)
    yield helper.make_node("Mul", [f"{y}.relative", largest], [y])


def _rounding(x: str, name: str) -> Iterator[Any]:
    """The nodes that round each row of x to whole numbers from 1 to 255: name.q, and the largest of each row."""
    yield helper.make_node("Abs", [x], [f"{name}.abs"])
    yield helper.make_node("ReduceMax", [f"{name}.abs", LAST], [f"{name}.max"], keepdims=1)
    yield helper.make_node("Max", [f"{name}.max", LEAST], [f"{name}.largest"])
    yield helper.make_node("Reciprocal", [f"{name}.largest"], [f"{name}.share"])
    yield helper.make_node("Mul", [x, f"{name}.share"], [f"{name}.shares"])  # from -1 to 1
    yield helper.make_node("QuantizeLinear", [f"{name}.shares", STEP, MIDDLE], [f"{name}.q"])


def _numbers() -> list[Any]:
    """The numbers that rounding needs."""
    return [
        helper.make_tensor(STEP, TensorProto.FLOAT, (), [1 / LARGEST]),
        helper.make_tensor(LEAST, TensorProto.FLOAT, (), [SMALLEST]),
        helper.make_tensor(MIDDLE, TensorProto.UINT8, (), [ZERO]),
        helper.make_tensor(LAST, TensorProto.INT64, (1,), [-1]),
    ]
