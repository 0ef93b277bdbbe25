"""Extraction in shards: documents per second and CPU time with one process, with two, and with actors of Ray.

    python benchmarks/shards.py [--data ../shared/data] [--documents 2000] [--rounds 2] [--ray]

Sentences of DuIE are extracted with the shipped models by `factpin extract --engine …`, each run in its own folder, in
turns. The files of all runs must be equal, byte for byte. Other programs slow the runs down: the load of the machine
is printed with every run, and CPU time, of all processes of a run, is what a calculation should start from.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from factpin import formats

TICKS = os.sysconf("SC_CLK_TCK")
SAMPLE = 0.05  # seconds between looks at what processes have used
RUNS = (("here", 1), ("processes", 1), ("processes", 2))


def write_corpus(data: Path, path: Path, count: int) -> int:
    """Texts as JSONL; returns the number of characters."""
    texts = [doc.text for doc, _ in zip(formats.read(data / "duie/duie2_dev.json.xz", format="duie"), range(count))]  # noqa: B905
    path.write_text("".join(json.dumps({"id": f"t{i}", "text": text}) + "\n" for i, text in enumerate(texts)))
    return sum(map(len, texts))


def run(corpus: Path, output: Path, engine: str, workers: int) -> tuple[float, float]:
    """Wall and CPU seconds of one extraction, with its start and the loading of the models."""
    size = max(1, sum(1 for _ in corpus.open()) // 8)
    words = ["extract", corpus, "--output", output, "--engine", engine, "--shard-size", size, "--quiet"]
    words += ["--workers", workers] if engine != "here" else []
    began, used = time.monotonic(), dict[int, float]()
    process = subprocess.Popen([sys.executable, "-m", "factpin", *map(str, words)])
    while process.poll() is None:
        used |= cpu_below(process.pid)
        time.sleep(SAMPLE)
    if process.returncode:
        raise SystemExit(f"{engine} ended with {process.returncode}.")
    return time.monotonic() - began, sum(used.values())


def cpu_below(root: int) -> dict[int, float]:
    """CPU seconds so far of a process and all below it: nobody waits for the actors of Ray, so they are not counted."""
    parents, cpu = dict[int, int](), dict[int, float]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(folder.name)], cpu[int(folder.name)] = int(words[1]), (int(words[11]) + int(words[12])) / TICKS
    return {pid: seconds for pid, seconds in cpu.items() if pid == root or root in ancestors(pid, parents)}


def ancestors(pid: int, parents: dict[int, int]) -> list[int]:
    """The processes above one."""
    found = []
    while pid := parents.get(pid, 0):
        found.append(pid)
    return found


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ray", action="store_true", help="also two actors of Ray")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder, first = Path(name), None
        characters = write_corpus(options.data, folder / "corpus.jsonl", options.documents)
        print(f"{options.documents} documents, {characters / options.documents:.0f} characters on average")
        print("| engine | workers | s | CPU s | documents/s | documents/CPU s | load |\n|---|---|---|---|---|---|---|")
        for turn in range(options.rounds):
            for engine, workers in (*RUNS, *((("ray", 2),) if options.ray else ())):
                output = folder / f"{engine}-{workers}-{turn}"
                load = os.getloadavg()[0]
                wall, cpu = run(folder / "corpus.jsonl", output, engine, workers)
                rates = f"{options.documents / wall:.1f} | {options.documents / cpu:.1f} | {load:.1f}"
                print(f"| {engine} | {workers} | {wall:.1f} | {cpu:.1f} | {rates} |", flush=True)
                written = {path.name: path.read_bytes() for path in sorted(output.glob("part-*"))}
                first = first or written
                if written != first:
                    raise SystemExit(f"{engine} with {workers} wrote other files.")


if __name__ == "__main__":
    main()
