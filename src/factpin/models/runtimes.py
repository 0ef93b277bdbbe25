"""Runtimes: what computes a model. torch trains and runs any model; onnxruntime runs those that have a graph.

    settings, network, tokenizer = load_parts(Path("runs/mine"))

Only the chosen runtime is imported.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from factpin.errors import BadInput, BadModel, MissingExtra, installed, need_torch, pick
from factpin.models.onnx.graph import GRAPH, has_graph
from factpin.models.predictor import Predictor
from factpin.models.settings import Settings
from factpin.tokens import Tokenizer

Choice = Literal["auto", "onnx", "torch"]
Parts = tuple[Settings, Predictor, Tokenizer]
AUTO = "auto"


def _load_onnx(folder: Path, device: str) -> Parts:  # noqa: ARG001  (only the CPU)
    from factpin.models.onnx.folder import load_onnx  # noqa: PLC0415

    return load_onnx(folder)


def _load_torch(folder: Path, device: str) -> Parts:
    from factpin.models.folder import load_model  # noqa: PLC0415

    settings, model, tokenizer = load_model(folder)
    try:
        return settings, model.to(device), tokenizer
    except (RuntimeError, AssertionError) as error:  # torch raises both
        raise BadInput(f"There is no device {device!r} here ({str(error).splitlines()[0]}). Use cpu.") from None


RUNTIMES: dict[str, Callable[[Path, str], Parts]] = {"onnx": _load_onnx, "torch": _load_torch}


def load_parts(folder: Path, device: str = "cpu", runtime: str = AUTO, *, bf16: bool = False) -> Parts:
    """The parts of a model folder, loaded by a runtime."""
    return RUNTIMES[choose_runtime(folder, runtime, device, bf16=bf16)](folder, device)


def choose_runtime(folder: Path, runtime: str = AUTO, device: str = "cpu", *, bf16: bool = False) -> str:
    """The runtime for a model folder.

    auto: onnx where the folder has a graph and onnxruntime is installed; torch elsewhere, and where another device or
    half precision is asked for, which only torch has.
    """
    only_torch = device != "cpu" or bf16
    if runtime == AUTO:
        runtime = "onnx" if has_graph(folder) and installed("onnxruntime") and not only_torch else "torch"
    elif runtime == "onnx":
        _refuse_onnx(folder, only_torch)
    pick(RUNTIMES, runtime, kind="runtime")
    if runtime == "torch":
        need_torch(
            "--device, --bf16 and --runtime torch need torch"
            if has_graph(folder)
            else f"{folder} has no {GRAPH}, so only torch can run it"
        )
    return runtime


def _refuse_onnx(folder: Path, only_torch: bool) -> None:
    if only_torch:
        raise BadInput("The runtime onnx computes in float32 on the CPU. For --device or --bf16, use --runtime torch.")
    if not has_graph(folder):
        raise BadModel(f"{folder}: there is no {GRAPH} in it. Write it where torch is installed: factpin onnx {folder}")
    if not installed("onnxruntime"):
        raise MissingExtra("onnxruntime is not installed. Install it: pip install onnxruntime")
