"""Read the float weights of a DistilBERT from the bytes of an int8 ONNX file, as a state dict.

Quantised weights are the inputs of DequantizeLinear nodes, w = (q - zero) · scale. Word vectors have their names. The
matrix of a linear layer has none: it is named after the MatMul that uses it, and transposed.
"""

import importlib
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

ROOT = "distilbert."


def read_distil(raw: bytes) -> dict[str, Tensor]:
    """The weights by their names in transformers' DistilBertModel."""
    onnx: Any = importlib.import_module("onnx")  # optional: `fetch` has checked that it is installed
    graph = onnx.load_from_string(raw).graph
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    users: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)

    state = {
        name.removeprefix(ROOT): torch.tensor(value)
        for name, value in values.items()
        if name.startswith(ROOT)
        and value.dtype == np.float32
        and not name.endswith(("scale", "zero_point", "quantized"))
    }
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in values:
            weight = torch.from_numpy(_float(node, values))
            base = node.input[0].replace("_quantized", "")
            if base.startswith(ROOT):
                state[base.removeprefix(ROOT)] = weight
            else:
                for name in _layers(users.get(node.output[0], [])):
                    state[name] = weight.T.contiguous()
    places = state["embeddings.position_embeddings.weight"]
    state["embeddings.position_embeddings.weight"] = places[0] if places.dim() == 3 else places
    return state


def _float(node: Any, values: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """(q - zero) · scale, with one scale for the tensor or one per slice of `axis`."""
    q, scale = values[node.input[0]].astype(np.float32), values[node.input[1]]
    zero = values[node.input[2]].astype(np.float32) if len(node.input) > 2 else np.zeros(1, np.float32)
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
    if scale.size > 1:
        shape = [1] * q.ndim
        shape[axis] = -1
        scale = scale.reshape(shape)
        zero = zero.reshape(shape) if zero.size > 1 else zero
    return ((q - zero) * scale).astype(np.float32)


def _layers(nodes: list[Any]) -> list[str]:
    """/distilbert/transformer/layer.0/ffn/lin1/MatMul -> transformer.layer.0.ffn.lin1.weight"""
    names = [node.name for node in nodes if node.op_type == "MatMul" and node.name.startswith("/distilbert/")]
    return [name.removeprefix("/distilbert/").removesuffix("/MatMul").replace("/", ".") + ".weight" for name in names]
