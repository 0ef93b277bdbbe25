"""How to initialise the pointer heads: the same training from several initial weights.

    python recipes/first_weights.py --table                         the table of what is done
    python recipes/first_weights.py --seeds 1 2 3                   everything that is not done yet
    python recipes/first_weights.py --only egp-ltp --start torch lecun-b6 --seeds 1

A start is named by its weights, and optionally by a factor on them and a bias: `lecun`, `glorot-b3`, `lecun-x0.5-b6`.

    torch     what nn.Linear does: uniform weights and biases, both up to 1 / sqrt(fan_in)
    lecun     normal weights of standard deviation 1 / sqrt(fan_in), biases 0
    glorot    uniform weights up to sqrt(6 / (fan_in + fan_out)), biases 0
    own       the weights that the head gave itself
    -xS       weights times S
    -bK       the score of every pair starts K lower: K / 2 on the bias of u, K / 2 on that of v. GlobalPointer has no
              bias of a label, so it is left as it is

Each result is appended to recipes/first_weights.jsonl, and a run that is in the file is not repeated. All runs
are in float32: on one core with AVX-512 BF16, 16 sentences of CLUENER take 0.17 s per step with ltp-zh (0.24 s in bf16)
and 0.34 s with simbert-zh (0.46 s).
"""

import argparse
import json
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import torch
from torch import nn

from factpin import formats
from factpin.documents import Document
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer
from factpin.heads.global_pointer import GlobalPointer
from factpin.models.model import torch_model
from factpin.tasks import TASKS
from factpin.training.config import TrainConfig
from factpin.training.defaults import settle
from factpin.training.job import TaskJob
from factpin.training.loop import train
from factpin.training.parallel import join_world
from factpin.training.run import start as new_model

NAME = re.compile(r"(torch|lecun|glorot|own)(?:-x([\d.]+))?(?:-b([\d.]+))?")


def use_start(name: str, model: nn.Module, seed: int) -> None:
    """Give every pointer head of a fresh model its first weights."""
    kind, factor, low = parse(name)
    torch.manual_seed(seed)
    for head in model.modules():
        if not isinstance(head, EfficientGlobalPointer | GlobalPointer):
            continue
        for linear in (layer for layer in head.children() if isinstance(layer, nn.Linear)):
            fill(linear, kind, factor)
        if isinstance(head, EfficientGlobalPointer) and low:
            with torch.no_grad():
                head.bias.bias.sub_(low / 2)  # u is one half of it, v the other


def parse(name: str) -> tuple[str, float, float]:
    """Weights, factor and bias of a start."""
    match = NAME.fullmatch(name)
    if not match:
        raise SystemExit(f"There is no start {name!r}: expected torch, lecun, glorot or own, then -xS, then -bK.")
    return match[1], float(match[2] or 1), float(match[3] or 0)


@torch.no_grad()
def fill(linear: nn.Linear, kind: str, factor: float) -> None:
    match kind:
        case "torch":
            linear.reset_parameters()
        case "lecun":
            nn.init.normal_(linear.weight, std=linear.in_features**-0.5)
            nn.init.zeros_(linear.bias)
        case "glorot":
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
    linear.weight *= factor


# ---- what is trained


@dataclass(frozen=True)
class Experiment:
    """A model and its data. Without dev it learns by heart, and is judged on what it learned."""

    task: str
    head: str
    encoder: str
    format: str
    train: str
    limit: int | None  # first N documents; None: all
    dev: str | None
    judged: int | None  # first N documents of dev; None: all
    epochs: int
    rate: float
    batch: int = 16
    strings: bool = False  # facts are strings, whose places are a guess, and may reach over sentences

    @property
    def metric(self) -> str:
        return "text_f1" if self.strings else "f1"

    @property
    def context(self) -> str:
        return "window" if self.strings else "sentence"


EGP, GP = "efficient_global_pointer", "global_pointer"
CLUENER = "cluener", "cluener/train.json.xz", 1000, "cluener/dev.json.xz", None, 4
WNUT = "conll", "wnut17/wnut17train.conll.xz"
EMERGING = "wnut17/emerging.dev.conll.xz"
DUIE = "duie", "duie/duie2_train_a.json.xz"
WEBNLG = "triples", "webnlg/WebNLG/train_triples.json.xz", 1000, "webnlg/WebNLG/test_triples.json.xz", 400, 8
NYT = "triples", "nyt/NYT/val_triples.json.xz", 1000, "nyt/NYT/test_triples.json.xz", 400, 8
SCIERC = "scierc", "scierc/train.json.xz", None, "scierc/test.json.xz", None, 4
GENIA = "oneie", "genia/dev.jsonlines.xz", 1000, "genia/test.jsonlines.xz", 600, 4
EXPERIMENTS = {
    "egp-ltp": Experiment("spans", EGP, "ltp-zh", *CLUENER, 2e-4),
    "gplinker-heart": Experiment("triples", "gplinker", "simbert-zh", *DUIE, 24, None, None, 40, 3e-4, 8, strings=True),
    "gplinker-2000": Experiment(
        "triples", "gplinker", "simbert-zh", *DUIE, 2000, "duie/duie2_dev.json.xz", 500, 3, 3e-4, strings=True
    ),
    "gp-ltp": Experiment("spans", GP, "ltp-zh", *CLUENER, 2e-4),
    "egp-simbert": Experiment("spans", EGP, "simbert-zh", *CLUENER, 3e-4),
    "egp-minilm": Experiment("spans", EGP, "minilm-en", *WNUT, 1000, EMERGING, 500, 4, 4e-4),
    "gp-simbert": Experiment("spans", GP, "simbert-zh", *CLUENER, 3e-4),
    "crf-ltp": Experiment("spans", "crf", "ltp-zh", *CLUENER, 2e-4),  # not a pointer head: what it is compared with
    "crf-simbert": Experiment("spans", "crf", "simbert-zh", *CLUENER, 3e-4),
    "wnut17": Experiment("spans", EGP, "minilm-en", *WNUT, None, EMERGING, None, 3, 1e-4),
    "genia": Experiment("spans", EGP, "minilm-en", *GENIA, 2e-4),
    "webnlg": Experiment("triples", "gplinker", "minilm-en", *WEBNLG, 2e-4, strings=True),
    "nyt": Experiment("triples", "gplinker", "minilm-en", *NYT, 2e-4, strings=True),
    "scierc": Experiment("triples", "gplinker", "minilm-en", *SCIERC, 2e-4, 8),
}
TABLES = ("scierc", "wnut17", "genia", "webnlg", "nyt")  # of README.md, in small
STARTS = ("torch", "lecun", "glorot", "lecun-b3", "lecun-b6", "lecun-b9", "glorot-b3", "glorot-b6", "torch-b6",
          "lecun-x1.5-b6", "lecun-x2-b6")  # fmt: skip
MAIN = ("torch", "lecun", "lecun-b6", "glorot-b6")
FEW = ("torch", "lecun-b6")  # where a run takes long
ROUNDS = (  # experiments, seeds, starts; what is cheap and decides most comes first
    (("egp-ltp", "gplinker-heart", "egp-simbert", "egp-minilm"), (1, 2, 3), MAIN),
    (("crf-ltp", "crf-simbert"), (1, 2, 3), ("own",)),
    (("gp-ltp", "gp-simbert"), (1, 2, 3), ("torch", "lecun")),
    (TABLES, (1, 2), FEW),
    (("egp-ltp", "gplinker-heart"), (1,), STARTS),
    (("gplinker-2000",), (1, 2, 3), FEW),
)


def read(path: str, format: str, data: Path, count: int | None) -> list[Document]:
    return list(islice(formats.read(data / path, format=format), count))


def run(name: str, start: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Train one experiment from one start; the weights of the last step are judged."""
    it = EXPERIMENTS[name]
    training = read(it.train, it.format, options.data, it.limit)
    dev = read(it.dev, it.format, options.data, options.judged or it.judged) if it.dev else training
    task = TASKS[it.task]
    config = task.options(encoder=it.encoder, head=it.head, context=it.context)
    rate = options.learning_rate or it.rate
    how = TrainConfig(epochs=it.epochs, batch_size=it.batch, learning_rate=rate, seed=seed, metric=it.metric,
                      evaluate_every=1 << 30, save_every=1 << 30)  # fmt: skip
    extractor = new_model(task, config, training, seed)
    model = torch_model(extractor.model)
    use_start(start, model, seed)
    job = TaskJob(extractor, training, dev, config)
    how = settle(how, model.encoder.width, len(job.lengths))
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        outcome = train(job, how, Path(folder), join_world(), quiet=True)
    figures = {key: round(100 * value, 2) for key, value in outcome.scores.items()}
    minutes = round((time.process_time() - began) / 60, 2)
    return {"experiment": name, "start": start, "seed": seed, "rate": rate, "steps": outcome.steps,
            "minutes": minutes, "f1": figures[it.metric], "figures": figures}  # fmt: skip


# ---- the program


def planned(options: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    for names, seeds, starts in ROUNDS:
        for seed, name, start in product(seeds, names, options.start or starts):
            biased = bool(parse(start)[2])
            chosen = seed in options.seeds and name in (options.only or EXPERIMENTS)
            if chosen and not (biased and EXPERIMENTS[name].head == GP):
                yield name, start, seed


def done(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def key(record: dict[str, Any]) -> tuple[str, str, int, float]:
    return record["experiment"], record["start"], record["seed"], record["rate"]


def table(records: Iterable[dict[str, Any]]) -> str:
    """F1 of each start in each experiment: the mean, and in brackets the seeds."""
    cells: dict[tuple[str, float], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda r: r["seed"]):
        cells[record["experiment"], record["rate"]][record["start"]].append(record["f1"])
    columns = sorted(cells, key=lambda c: (list(EXPERIMENTS).index(c[0]), c[1]))
    starts = sorted({s for column in cells.values() for s in column}, key=order)
    lines = [
        "| start | " + " | ".join(f"{name} {rate:g}" for name, rate in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    lines += [
        "| " + " | ".join([start, *(show(cells[column][start]) for column in columns)]) + " |" for start in starts
    ]
    return "\n".join(lines)


def order(start: str) -> tuple[bool, int, str]:
    return (False, STARTS.index(start), "") if start in STARTS else (True, 0, start)


def show(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    return f"{statistics.mean(values):.1f} ({', '.join(f'{value:.1f}' for value in values)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", nargs="+", help="starts to compare, instead of those of the plan")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, help="experiments to run")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--learning-rate", type=float, help="instead of the experiment's own")
    parser.add_argument("--judged", type=int, help="first N documents of dev, instead of the experiment's own")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--table", action="store_true", help="only print the table of what is done")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for name, start, seed in () if options.table else planned(options):
        rate = options.learning_rate or EXPERIMENTS[name].rate
        if (name, start, seed, rate) in map(key, done(options.output)):
            continue
        record = run(name, start, seed, options)
        with options.output.open("a") as stream:
            stream.write(json.dumps(record) + "\n")
        print(f"{name} {start} seed {seed}: {record['f1']:.2f} in {record['minutes']:.1f} minutes", flush=True)
    print(table(done(options.output)))


if __name__ == "__main__":
    main()
