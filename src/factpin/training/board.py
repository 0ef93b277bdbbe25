"""What a run shows and writes while it goes: a progress bar, metrics.jsonl, TensorBoard by choice."""

import time
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from factpin.errors import MissingExtra
from factpin.files import lines, write_bytes


class Board:
    """One line a record in metrics.jsonl, one bar on standard error."""

    def __init__(self, folder: Path, *, quiet: bool, tensorboard: bool, resumed_at: int | None) -> None:
        self.path = folder / "metrics.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        self._keep_until(resumed_at)
        self._stream = open(self.path, "ab")  # noqa: SIM115  (closed in __exit__)
        self._writer = _tensorboard(folder) if tensorboard else None
        self._start = time.monotonic()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=Console(stderr=True, quiet=quiet))
        self._task = self._progress.add_task("training", total=None)
        self._words = ""

    def _keep_until(self, step: int | None) -> None:
        """A resumed run writes the records after its checkpoint again; a fresh one starts with none."""
        old = list(lines(self.path)) if step is not None and self.path.exists() else []
        kept = [line for _, line in old if _step(line) <= (step or 0)]
        with write_bytes(self.path) as stream:
            stream.write("".join(line + "\n" for line in kept).encode())

    def __enter__(self) -> "Board":
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()
        self._stream.close()
        if self._writer is not None:
            self._writer.close()

    def step(self, step: int, steps: int, loss: float) -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=step, total=steps, description=f"loss {loss:.4f} {self._words}")

    def record(self, step: int, values: dict[str, Any]) -> None:
        """Write one record, and show its score beside the bar."""
        seconds = round(time.monotonic() - self._start, 2)
        self._stream.write(orjson.dumps({"step": step, **values, "seconds": seconds}) + b"\n")
        self._stream.flush()
        if "f1" in values:
            self._words = f"dev f1 {values['f1']:.4f}"
        if self._writer is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._writer.add_scalar(name, value, step)


def _step(line: str) -> float:
    """The step of a record; a line that a crash cut off is after everything."""
    try:
        return float(orjson.loads(line)["step"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return float("inf")


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415  (optional)
    except ImportError:
        raise MissingExtra("TensorBoard is not installed. Install it: pip install 'factpin[tensorboard]'.") from None
    return SummaryWriter(str(folder / "tensorboard"))
