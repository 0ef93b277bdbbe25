"""Several recipes over several seeds, and one table: mean, range, and a paired test against the first row.

    python recipes/ablation.py recipes/cluener/{egp,egp-norope,gp,gp-norope,crf}.toml --limit 3000 --seeds 1 2 3 \
        --output runs/cluener-3000

Finished runs are not repeated, interrupted ones are resumed. Predictions on dev are kept with each model, so the table
can be printed again at any time, on dev or test, with any convention. The epoch is chosen on dev.
"""

import argparse
import json
import multiprocessing
import re
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import factpin
from factpin import formats
from factpin.formats import Options
from factpin.scoring import align, paired_bootstrap
from factpin.scoring.counts import total
from factpin.tasks import TASKS
from factpin.training.config import TrainConfig, from_dict, read_recipe
from factpin.training.data import read_part, read_training
from factpin.training.run import run_training

GOLD = Options(occurrences="nearest")


def run(recipe: Path, seed: int, options: argparse.Namespace, folder: Path) -> None:
    """Train one recipe with one seed in this process, and keep what it predicts on dev."""
    tables = read_recipe(recipe)
    data = tables["task"]
    task = TASKS[data["name"]]
    config = from_dict(task.options, tables[task.name], str(recipe))
    how = replace(from_dict(TrainConfig, tables["train"], str(recipe)), seed=seed)
    if options.encoder:
        config = replace(config, encoder=options.encoder)
    if options.epochs:
        how = replace(how, epochs=options.epochs)
    if options.learning_rate:
        how = replace(how, learning_rate=options.learning_rate)
    if options.bf16 is not None:
        how = replace(how, bf16=options.bf16)
    settings = {task.name: asdict(config), "train": asdict(how), "limit": options.limit}
    if (folder / "result.json").exists():
        if json.loads((folder / "result.json").read_text())["settings"] != json.loads(json.dumps(settings)):
            raise SystemExit(f"{folder} was made with other settings. Name another --output.")
        return
    torch.set_num_threads(options.threads)
    start = time.monotonic()
    if not (folder / "factpin.json").exists():
        given = data | ({"limit": options.limit} if options.limit else {})
        run_training(task, *read_training(given, reading(tables)), config, how, folder, data=data,
                     resume=True, quiet=True)  # fmt: skip
    minutes = (time.monotonic() - start) / 60
    peak = peak_mib()
    extractor = factpin.load(folder)
    for part in {"dev", "test"} & data.keys():
        formats.write(extractor.annotate(read_part(data, part, GOLD)), folder / f"{part}.jsonl.xz", format="jsonl")
    for file in (folder / "checkpoints").glob("*"):
        file.unlink()
    record = {"minutes": round(minutes, 2), "peak_mib": peak, "threads": options.threads, "settings": settings}
    (folder / "result.json").write_text(json.dumps(record))
    print(f"{name_of(recipe)} seed {seed}: {minutes:.1f} minutes, {peak} MiB", flush=True)


def name_of(recipe: Path) -> str:
    """Of recipes/webnlg/recipe.toml it is webnlg."""
    return recipe.parent.name if recipe.stem == "recipe" else recipe.stem


def peak_mib() -> int:
    """The most memory that this process has held, its own alone (ru_maxrss would begin with its parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) // 1024


def reading(tables: dict[str, Any]) -> Options:
    """How strings of triples are pinned in training. Gold is always read by GOLD, so that rows compare."""
    return Options(occurrences=tables.get("triples", {}).get("occurrences", "nearest"))


def table(recipes: list[Path], options: argparse.Namespace) -> Table:
    """Means, ranges, and the paired test of each row against the first."""
    result = Table("recipe", "F1 mean", "range", "precision", "recall", "against the first", "p", "minutes", "peak MiB")
    first = None
    for recipe in recipes:
        rows, minutes, peaks = [], [], []
        data = read_recipe(recipe)["task"]
        gold = read_part(data, options.part, GOLD)
        for seed in options.seeds:
            folder = options.output / f"{name_of(recipe)}-{seed}"
            if not (folder / "result.json").exists():
                continue
            pairs = align(formats.read(folder / f"{options.part}.jsonl.xz", format="jsonl"), gold).pairs
            rows.append(TASKS[data["name"]].score(pairs).rows[options.convention])
            record = json.loads((folder / "result.json").read_text())
            minutes.append(record["minutes"])
            peaks.append(record["peak_mib"])
        if not rows:
            continue
        counts = [total(r) for r in rows]
        f1 = [100 * c.f1 for c in counts]
        pooled = np.sum(rows, axis=0)  # documents are paired; the counts of a document's seeds are added
        first = pooled if first is None else first
        test = paired_bootstrap(pooled, first, samples=2000, seed=0)
        result.add_row(
            name_of(recipe), f"{statistics.mean(f1):.2f}", f"{min(f1):.2f} to {max(f1):.2f} ({len(f1)})",
            f"{100 * statistics.mean(c.precision for c in counts):.2f}",
            f"{100 * statistics.mean(c.recall for c in counts):.2f}",
            f"{100 * test.difference:+.2f}", f"{test.p_value:.3f}", f"{statistics.mean(minutes):.1f}",
            str(max(peaks)),
        )  # fmt: skip
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="+", type=Path)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--limit", type=int, help="first N training documents")
    parser.add_argument("--encoder", help="instead of the recipes' own")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--bf16", action=argparse.BooleanOptionalAction, help="instead of the recipes' own")
    parser.add_argument("--threads", type=int, default=1, help="of each run")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once, each a process of its own")
    parser.add_argument("--part", default="dev", help="what the table judges: dev or test")
    parser.add_argument("--convention", default="strict", help="how it is judged, as `factpin evaluate` names it")
    parser.add_argument("--table", action="store_true", help="only print the table of what is done")
    options = parser.parse_args()
    if not options.table:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(options.jobs, mp_context=spawn, max_tasks_per_child=1) as pool:
            runs = [
                pool.submit(run, recipe, seed, options, options.output / f"{name_of(recipe)}-{seed}")
                for seed in options.seeds  # a seed of every row first: a run that is cut short still compares
                for recipe in options.recipes
            ]
            for done in runs:
                done.result()
    Console().print(table(options.recipes, options))


if __name__ == "__main__":
    main()
