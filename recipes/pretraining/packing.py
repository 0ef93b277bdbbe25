"""Whole sentences against split ones: two encoders that differ in --packing alone, each fine-tuned on a task.

    python recipes/pretraining/packing.py runs/packing                  all runs, and the table
    python recipes/pretraining/packing.py runs/packing --only filled    one packing
    python recipes/pretraining/packing.py runs/packing --table          the table of what is done

Both learn RoBERTa 2x128 from the same articles with the same vocabulary, first weights, texts per step and schedule, in
float32, and are judged after the same number of steps, before the schedule ends. Then each, and the first weights
(`none`), are fine-tuned on the first 1,000 sentences of CLUENER and scored on its dev set after the last step; nothing
is chosen by it. Runs that are in results.jsonl are not repeated.
"""

import argparse
import json
import shutil
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from factpin.files import write_folder
from factpin.formats import Options
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import Corpus
from factpin.pretraining.folder import save_pretrained
from factpin.pretraining.learner import Learners
from factpin.pretraining.plan import beginning_of, plan_of
from factpin.pretraining.prepare import prepare
from factpin.pretraining.pretrain import pretrain
from factpin.tasks import find_task
from factpin.tokens import Tokenizer
from factpin.training.checkpoint import last_path
from factpin.training.config import TrainConfig, from_dict, read_recipe
from factpin.training.data import read_training
from factpin.training.run import run_training

CORPUS, RECIPE = Path("../shared/data/wiki_zh/wiki_zh.txt.xz"), Path("recipes/cluener/egp.toml")
WHAT = PretrainConfig("roberta", shape="2x128", length=128)
STEPS, SCHEDULE = 900, 2000
SENTENCES, EPOCHS, SEEDS = 1000, 4, (1, 2, 3)
HOW = TrainConfig(max_steps=SCHEDULE, evaluate_every=STEPS, batch_size=16, learning_rate=1e-3, warmup=0.05)
FIRST, PACKINGS = "none", ("full", "filled")


class Reached(Exception):
    """The step at which the encoders are judged."""


def pretrained(packing: str, output: Path) -> dict[str, Any]:
    """Pretrain with one packing, from the first weights up to STEPS."""
    run = output / f"{packing}-run"

    def keep(model: Learners, tokenizer: Tokenizer, step: int, pieces: int) -> None:
        with write_folder(output / packing) as folder:
            save_pretrained(model, folder, tokenizer)
        raise Reached(step, pieces)

    what = replace(WHAT, packing=packing, tokenizer=str(output / "start"))
    try:
        pretrain([CORPUS], what, HOW, run, resume=last_path(run).exists(), quiet=True, at=keep)
    except Reached as reached:
        step, pieces = reached.args
        return {"steps": step, "pieces": pieces}
    raise SystemExit(f"{run} ended before step {STEPS}.")


def fine_tuned(encoder: Path, seed: int, folder: Path) -> dict[str, Any]:
    """F1 after the last step."""
    tables = read_recipe(RECIPE)
    task = find_task(tables["task"]["name"])
    config = replace(from_dict(task.options, tables[task.name], str(RECIPE)), encoder=str(encoder))
    documents, dev = read_training(tables["task"] | {"limit": SENTENCES}, Options(occurrences="nearest"))
    steps = EPOCHS * -(-len(documents) // 16)
    how = TrainConfig(epochs=EPOCHS, evaluate_every=steps, batch_size=16, learning_rate=1e-3, warmup=0.1, seed=seed)
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    report = run_training(task, documents, dev, config, how, folder, quiet=True)
    shutil.rmtree(folder)
    return {"f1": report["scores"][how.metric]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", choices=(FIRST, *PACKINGS))
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    output, kept = options.output, options.output / "results.jsonl"
    if not (output / "start" / "config.json").exists():
        prepare(beginning_of(WHAT, plan_of(WHAT), HOW.seed), Corpus([CORPUS]), output / "start", begun=False)
    for name in [] if options.table else [options.only] if options.only else [*PACKINGS, FIRST]:
        for seed in ((), *((seed,) for seed in SEEDS)):
            key = [name, *seed]
            if any(line["run"] == key for line in lines(kept)) or key == [FIRST]:
                continue
            encoder = output / ("start" if name == FIRST else name)
            found = fine_tuned(encoder, *seed, output / f"fine-{name}") if seed else pretrained(name, output)
            with open(kept, "a", encoding="utf-8") as stream:
                stream.write(json.dumps({"run": key, **found}) + "\n")
    print(table(lines(kept)))


def lines(kept: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []


def table(found: list[dict[str, Any]]) -> str:
    rows = ["| packing | pieces seen | F1, each seed | mean |", "|---" * 4 + "|"]
    for name in (FIRST, *PACKINGS):
        scores = [100 * line["f1"] for line in found if line["run"][0] == name and "f1" in line]
        pieces = next((line["pieces"] for line in found if line["run"] == [name]), 0)
        each, mean = ", ".join(f"{score:.2f}" for score in scores), f"{statistics.mean(scores):.2f}" if scores else ""
        rows.append(f"| {name} | {pieces:,} | {each} | {mean} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
