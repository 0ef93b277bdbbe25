"""What a run shows and writes while it goes: a progress bar, metrics.jsonl, TensorBoard by choice."""

import time
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from factpin.errors import MissingExtra
from factpin.files import lines, write_bytes
from factpin.words import count

PACE = 10  # steps after which the time of a run is estimated


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
        self._first, self._begun = 0, self._start

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

    def say(self, note: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(note, style="dim", highlight=False, markup=False, soft_wrap=True)

    def plan(self, step: int, steps: int) -> None:
        """Say how many steps are ahead; how long they take is said after the first PACE of them."""
        self._first, self._begun = step, time.monotonic()
        self.say(f"{count(steps - step, 'step')} ahead{f' of {steps:,}' if step else ''}, in {self.path.parent}")

    def step(self, step: int, steps: int, loss: float) -> None:
        """Move the bar."""
        if step - self._first == PACE and step < steps:
            minutes = (steps - step) * (time.monotonic() - self._begun) / PACE / 60
            left = f"about {count(round(minutes), 'minute')}" if minutes >= 1 else "less than a minute"
            self.say(f"{left} left at this pace, and the time to score on dev")
        self._progress.update(self._task, completed=step, total=steps, description=f"loss {loss:.4f} {self._words}")

    def record(self, step: int, values: dict[str, Any]) -> None:
        """Write one record, and show its score beside the bar."""
        seconds = round(time.monotonic() - self._start, 2)
        self._stream.write(orjson.dumps({"step": step, **values, "seconds": seconds}) + b"\n")
        self._stream.flush()
        if "f1" in values:
            self._words = f"dev f1 {100 * values['f1']:.2f}"  # as in the table at the end
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
