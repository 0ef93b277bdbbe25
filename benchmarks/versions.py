"""Size and speed of the shipped models in several checkouts of factpin, such as version 0.1 and this one.

    python benchmarks/versions.py 0.1=../v01/src now=src

A side is a name and the source folder of a checkout. Every measurement is a process of its own with one thread, and the
sides take turns. Shown are the size of a model's folder, the CPU time of loading it and of the first answer, the CPU
time for 1,000 characters of Wikipedia in texts of up to 800 characters, and the peak memory of the process: the median
of --rounds, and the ratio to the first side.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MODELS = {"en-entities": "en", "en-facts": "en", "zh-entities": "zh", "zh-facts": "zh"}
LONGEST = 800  # characters of a text


def texts(language: str, count: int, data: Path) -> list[str]:
    """The beginnings of articles."""
    import lzma

    with lzma.open(data / f"wiki_{language}/wiki_{language}.txt.xz", "rt", encoding="utf-8") as stream:
        whole = stream.read(4_000 * count)
    articles = [" ".join(article.split("\n")[1:])[:LONGEST] for article in whole.split("\n\n")]
    return [article for article in articles if len(article) >= LONGEST // 2][:count]


def measure(model: str, count: int, data: Path) -> dict[str, float]:
    """What one side does, in a process of its own."""
    import factpin

    passages = texts(MODELS[model], count, data)
    began = time.process_time()
    extractor: Any = factpin.load(model)
    list(extractor.extract(passages[:1]))
    first = time.process_time()
    list(extractor.extract(passages))
    done = time.process_time()
    characters = sum(map(len, passages))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"first": first - began, "per_1000": 1e6 * (done - first) / characters, "peak": peak}


def size(source: Path, model: str) -> float:
    """MB of a model's folder; 0 if this side has none."""
    for place in ("shipped", "models"):
        folder = source / "factpin" / place / model
        if (folder / "factpin.json").exists():
            return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    return 0.0


def run(source: Path, model: str, options: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", model, "--texts", str(options.texts), "--data", str(options.data)]
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    found: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, env=environment).stdout
    )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sides", nargs="*", metavar="NAME=SOURCE")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--texts", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--measure", choices=MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.texts, options.data)))
        return
    sides = {name: Path(source) for name, _, source in (side.partition("=") for side in options.sides)}
    print("| model | version | MB | load and first answer, CPU s | CPU ms for 1,000 characters | peak MiB |")
    print("|---|---|---|---|---|---|")
    for model in options.models:
        found: dict[str, list[dict[str, float]]] = {name: [] for name, source in sides.items() if size(source, model)}
        for _ in range(options.rounds):
            for name in found:
                found[name].append(run(sides[name], model, options))
        base: dict[str, float] = {}
        for name, rows in found.items():
            cells = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
            base = base or cells
            shown = [f"{cells[key]:.3g} ({cells[key] / base[key]:.2f})" for key in ("first", "per_1000", "peak")]
            print(f"| {model} | {name} | {size(sides[name], model):.1f} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
