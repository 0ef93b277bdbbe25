"""What the first answer takes: `factpin extract -` with one sentence, each time in a new process.

    git worktree add --detach ../before 1f227b6
    python benchmarks/start.py [--before ../before] [--rounds 5] [--json FILE]

The sides take turns: this version with each runtime, and an older checkout, if there is one. `CPU s` is the CPU time
(user and system) of the whole command, one thread. `first line` is how much of it has been used when the first
characters come to the terminal; with all cores free, that is also the time that passes. The terminal is a pseudo
terminal for stderr; results go to a pipe. Shown are the median and the range of the rounds.

The model files are in the page cache of the system: a first round that does not count has read them.
"""

import argparse
import json
import os
import pty
import resource
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
TEXTS = {"en": "Marie Curie was born in Warsaw.", "zh": "谷爱凌出生于旧金山。"}
GOALS = {"onnx": "", "torch": "2.5"}  # CPU seconds
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Side:
    """A version of factpin with its options."""

    name: str
    source: Path
    options: tuple[str, ...]
    runtime: str = ""


@dataclass(frozen=True)
class Start:
    """What one process took, in seconds; first_*: until the first characters on the terminal, None without any."""

    cpu: float
    first_cpu: float | None
    first_wall: float | None
    results: int  # lines


def cpu_of(pid: int) -> float:
    """CPU seconds that a process has used so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def run(side: Side, text: str) -> Start:
    """One process from its start to its end."""
    master, terminal = pty.openpty()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "factpin", "extract", "-", *side.options], cwd=ROOT, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=terminal,
        env={**os.environ, "PYTHONPATH": str(side.source), "OMP_NUM_THREADS": "1", "TERM": "xterm"},
    )  # fmt: skip
    first: list[tuple[float, float]] = []

    def watch() -> None:
        try:
            while os.read(master, 4096):
                first.append((cpu_of(process.pid), time.perf_counter() - began))
        except OSError:  # the terminal is closed, or the process has ended
            pass

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = process.communicate(text)
    os.close(terminal)
    watcher.join()
    os.close(master)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{side.name} ended with exit code {process.returncode}.")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Start(cpu, *(first[0] if first else (None, None)), len(output.splitlines()))


def spread(values: list[float]) -> str:
    """The median and the range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})" if values else "none"


def show(found: dict[tuple[str, str], list[Start]], sides: list[Side]) -> None:
    table = Table("text", "side", "CPU s", "goal", "first line: CPU s", "first line: s", title="the first answer")
    for (language, name), starts in found.items():
        runtime = next(side.runtime for side in sides if side.name == name)
        table.add_row(
            TEXTS[language], name, spread([s.cpu for s in starts]), GOALS.get(runtime, ""),
            spread([s.first_cpu for s in starts if s.first_cpu is not None]),
            spread([s.first_wall for s in starts if s.first_wall is not None]),
        )  # fmt: skip
    Console(width=140).print(table)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout of an older version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    options = parser.parse_args()
    sides = [Side(name, ROOT / "src", ("--runtime", name), name) for name in ("onnx", "torch")]
    if options.before is not None:
        sides.append(Side("before", options.before.resolve() / "src", ()))
    found: dict[tuple[str, str], list[Start]] = {(text, side.name): [] for text in TEXTS for side in sides}
    for number in range(options.rounds + 1):
        for language, text in TEXTS.items():
            for side in sides:
                start = run(side, text)
                if number:  # the first round only fills the page cache
                    found[language, side.name].append(start)
    show(found, sides)
    if options.json:
        rows = [{"text": t, "side": name, **asdict(s)} for (t, name), starts in found.items() for s in starts]
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
