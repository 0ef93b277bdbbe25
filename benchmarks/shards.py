"""Extraction in shards: documents per second and CPU time with one process, with two, and with actors of Ray.

    python benchmarks/shards.py [--data ../shared/data] [--documents 2000] [--rounds 2] [--ray]

Sentences of DuIE are extracted with the shipped models by `factpin extract --engine …`, each run in its own folder, in
turns. The files of all runs must be equal, byte for byte. Other programs slow the runs down: the load of the machine
is printed with every run, and CPU time is what a calculation should start from.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from factpin import formats

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
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "factpin", *map(str, words)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
