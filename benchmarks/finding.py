"""Finding in torch (before) and in numpy (after): whether the cells are the same, and how long finding takes.

    python benchmarks/finding.py --before FOLDER [--only TEXT] [--rounds 15]          speed, at the sizes of the heads
    python benchmarks/finding.py --before FOLDER --models [--only TEXT]               speed, on shipped models
    python benchmarks/finding.py --before FOLDER --corpora ../shared/data [--limit N] cells of whole corpora, compared

FOLDER is a checkout of the earlier version (git worktree add --detach FOLDER a6055aa). Each version runs in a separate
process with one thread, and the two take turns: every round is one call here and one call there, in both orders. The
time is the median of process_time over the rounds, ratio is before / after. Speed counts from the scores that a head
gives (tensors) to the spans or links of every text (arrays).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve()
OWN = HERE.parents[1]
BAR = 0.95


class Side:
    """A version of factpin in a process of its own."""

    def __init__(self, checkout: Path, name: str, models: Path) -> None:
        paths = [str(checkout / "src"), str(HERE.parent)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(HERE.with_name("finding_side.py")), name, str(models)]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words: object) -> dict:
        """The answer to one line."""
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit("The process has no pipes.")
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.process.args}: ended at {words}.")
        return json.loads(answer)


def speed(before: Side, after: Side, kind: str, only: str, rounds: int) -> bool:
    """One row for every case; True where every ratio reaches the bar."""
    cases = [name for name in after.ask("cases", kind)["names"] if only in name]
    table = Table("case", "cells", "before, ms", "after, ms", "ratio", "same cells")
    good = True
    for name in cases:
        one, two = (side.ask("make", kind, name) for side in (before, after))
        times: tuple[list[float], list[float]] = ([], [])
        for k in range(rounds):
            order = ((before, times[0]), (after, times[1]))
            for side, clock in order if k % 2 else order[::-1]:
                clock.append(side.ask("run")["ms"])
        b, a = (statistics.median(clock) for clock in times)
        same = one["cells"] == two["cells"] and one["places"] == two["places"]
        good &= b / a >= BAR and same
        table.add_row(name, f"{two['cells']:,}", f"{b:.3f}", f"{a:.3f}", f"{b / a:.2f}", "yes" if same else "NO")
    Console(width=130).print(table)
    return good


def compare(before: Side, after: Side, data: Path, only: str, limit: int | None) -> bool:
    """One row for every model and corpus; True where no cell differs."""
    table = Table("model", "corpus", "documents", "cells", "cells that differ", "largest difference of a score")
    good = True
    for model, corpus in after.ask("corpora")["pairs"]:
        if only not in f"{model} {corpus}":
            continue
        one, two = (side.ask("find", model, corpus, str(data), limit) for side in (before, after))
        old, new = ({tuple(cell): score for cell, score in side["found"]} for side in (one, two))
        wrong = len(old.keys() ^ new.keys())
        apart = max((abs(old[cell] - new[cell]) for cell in old.keys() & new.keys()), default=0.0)
        good &= not wrong
        table.add_row(model, corpus, str(two["documents"]), f"{len(new):,}", str(wrong), f"{apart:.1e}")
    Console(width=130).print(table)
    return good


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path, required=True, help="A checkout of the version before.")
    parser.add_argument("--models", action="store_true", help="Speed on batches of the shipped models.")
    parser.add_argument("--corpora", type=Path, help="Compare the cells of corpora under this folder.")
    parser.add_argument("--only", default="", help="Rows whose name contains this.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--limit", type=int, help="So many documents of each corpus.")
    options = parser.parse_args()
    checkout = options.before.resolve()
    models = checkout / "src" / "factpin" / "shipped"
    before, after = Side(checkout, "before", models), Side(OWN, "after", models)
    if options.corpora:
        good = compare(before, after, options.corpora, options.only, options.limit)
    else:
        good = speed(before, after, "models" if options.models else "heads", options.only, options.rounds)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
