"""Runtimes: what computes a model. torch trains and runs any model; onnxruntime runs those that have a graph.

    settings, network, tokenizer = load_parts(Path("runs/mine"))

Only the chosen runtime is imported. Precisions: float32 in both runtimes; bf16 in torch; int8 in onnxruntime, where a
folder has a graph for it (`factpin onnx --precision int8`). None is used unless it is asked for but float32.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from factpin.errors import BadInput, BadModel, MissingExtra, installed, need_torch, pick
from factpin.models.onnx.graph import FLOAT32, GRAPH, INT8, has_graph, read_graph
from factpin.models.predictor import LatePredictor, Predictor
from factpin.models.settings import Settings, read_task_settings
from factpin.tokens import Tokenizer

Choice = Literal["auto", "onnx", "torch"]
PRECISIONS = ("auto", "bf16", "float32", "int8")
BF16 = "bf16"
Parts = tuple[Settings, Predictor, Tokenizer]
AUTO = "auto"


def _load_onnx(folder: Path, device: str, precision: str) -> Parts:  # noqa: ARG001  (only the CPU)
    from factpin.models.onnx.folder import load_onnx  # noqa: PLC0415

    return load_onnx(folder, INT8 if precision == INT8 else FLOAT32)


def _load_torch(folder: Path, device: str, precision: str) -> Parts:  # noqa: ARG001  (bf16 is chosen when it runs)
    from factpin.models.folder import load_model  # noqa: PLC0415

    settings, model, tokenizer = load_model(folder, plain=True)
    try:
        return settings, model.to(device), tokenizer
    except (RuntimeError, AssertionError) as error:  # torch raises both
        raise BadInput(f"There is no device {device!r} here ({str(error).splitlines()[0]}). Use cpu.") from None


RUNTIMES: dict[str, Callable[[Path, str, str], Parts]] = {"onnx": _load_onnx, "torch": _load_torch}


def load_parts(
    folder: Path, device: str = "cpu", runtime: str = AUTO, precision: str = AUTO, *, late: bool = False
) -> Parts:
    """The parts of a model folder, loaded by a runtime.

    late: encoder and head are loaded when a text comes for them; what is wrong with the folder is found only then.
    """
    chosen = choose_runtime(folder, runtime, device, precision)
    if not late:
        return RUNTIMES[chosen](folder, device, precision)
    settings = read_task_settings(folder)
    if chosen == "onnx":
        from factpin.models.onnx.folder import tuned  # noqa: PLC0415

        settings = tuned(settings, read_graph(folder, INT8 if precision == INT8 else FLOAT32)[0], folder)
    network = LatePredictor(lambda: RUNTIMES[chosen](folder, device, precision)[1])
    return settings, network, Tokenizer.shared(folder)


def choose_runtime(folder: Path, runtime: str = AUTO, device: str = "cpu", precision: str = AUTO) -> str:
    """The runtime for a model folder.

    auto: onnx where the folder has a graph and onnxruntime is installed; torch elsewhere, and where another device or
    half precision is asked for, which only torch has. int8 needs onnx.
    """
    if precision not in PRECISIONS:
        raise BadInput(f"There is no precision {precision!r}. Known: {', '.join(PRECISIONS)}.")
    only_torch = device != "cpu" or precision == BF16
    if precision == INT8:
        _refuse_int8(folder, runtime, only_torch)
        runtime = "onnx"
    if runtime == AUTO:
        runtime = "onnx" if has_graph(folder) and installed("onnxruntime") and not only_torch else "torch"
    elif runtime == "onnx":
        _refuse_onnx(folder, only_torch)
    pick(RUNTIMES, runtime, kind="runtime")
    if runtime == "torch":
        need_torch(
            "--device, --precision bf16 and --runtime torch need torch"
            if has_graph(folder)
            else f"{folder} has no {GRAPH}, so only torch can run it"
        )
    return runtime


def _refuse_int8(folder: Path, runtime: str, only_torch: bool) -> None:
    if runtime == "torch" or only_torch:
        raise BadInput("int8 is computed by the runtime onnx on the CPU. Leave --runtime and --device out.")
    if not has_graph(folder, INT8):
        raise BadModel(
            f"{folder}: it has no graph for int8. Write it, and see what it loses on your data: factpin onnx {folder} "
            f"--precision int8 --tune FILE"
        )


def _refuse_onnx(folder: Path, only_torch: bool) -> None:
    if only_torch:
        raise BadInput(
            "The runtime onnx computes in float32 or int8 on the CPU. For --device or --precision bf16, use --runtime "
            "torch."
        )
    if not has_graph(folder):
        raise BadModel(f"{folder}: there is no {GRAPH} in it. Write it where torch is installed: factpin onnx {folder}")
    if not installed("onnxruntime"):
        raise MissingExtra("onnxruntime is not installed. Install it: pip install onnxruntime")
