"""Compare training without options, training with tuned options and a plain tagger: eight corpora, two sizes each.

    python recipes/defaults.py                                    everything that is not done yet
    python recipes/defaults.py --only cluener --size small --arm default baseline
    python recipes/defaults.py --set learning_rate=2e-4 epochs=10 --label faster     a candidate for new defaults
    python recipes/defaults.py --table [--label faster]           the table of what is done
    python recipes/defaults.py --plan                             what is not done yet, with estimated minutes

    default    factpin train TASK --train F --dev F --encoder E --output D
    tuned      the same with each point of the corpus's grid of rates and epochs; the best on dev is taken
    baseline   spans only: the tagger of benchmarks/baseline.py with the rates, batches and steps of `default`

Every arm is evaluated on a test part that is not used to choose anything (_corpora.py). Each run is a separate process
with one thread and limited memory. Its figures, and its counts for every text of the test part, are a line of --results
as soon as they exist; a run that has a line is not done again. Models are not kept.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from _corpora import CORPORA, PARTS, SIZES, Corpus, Settings, digest, point

from factpin import formats
from factpin.scoring import align, interval, paired_bootstrap
from factpin.scoring.counts import Rows, total
from factpin.tasks import TASKS
from factpin.training.config import TrainConfig
from factpin.training.defaults import EVALUATIONS, settle

BASELINE = Path(__file__).parents[1] / "benchmarks" / "baseline.py"
ARMS = ("default", "tuned", "baseline")
KEPT = ("learning_rate", "head_learning_rate", "batch_size", "epochs", "warmup", "evaluate_every", "seed")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"  # counts of a text, a character each
COLUMNS = {"right": 0, "wrong": 2, "missed": 3}  # of Rows


# ---- one run


@dataclass(frozen=True)
class Place:
    """A corpus at one of its sizes: where its parts and its runs are."""

    name: str
    corpus: Corpus
    size: str
    root: Path
    results: Path

    @property
    def documents(self) -> int:
        return self.corpus.sizes[SIZES.index(self.size)]

    @property
    def grid(self) -> dict[str, Settings]:
        """The runs with tuned settings."""
        points = self.corpus.grids[SIZES.index(self.size)]
        return {f"tuned {name}": self.corpus.tuned | point(name) for name in points}

    def run(self, label: str) -> Path:
        return self.root / f"{self.name}-{self.documents}" / label

    def part(self, part: str) -> Path:
        size = f"-{self.documents}" if part == "train" else ""
        return self.root / "parts" / self.name / f"{part}{size}.jsonl.xz"

    def records(self) -> dict[str, dict[str, Any]]:
        """What is done here, by label; of several lines with one label the last holds."""
        lines = self.results.read_text(encoding="utf-8").splitlines() if self.results.exists() else []
        every = map(json.loads, lines)
        return {r["label"]: r for r in every if (r["corpus"], r["documents"]) == (self.name, self.documents)}

    def record(self, label: str) -> dict[str, Any] | None:
        return self.records().get(label)

    def write_parts(self, data: Path) -> None:
        """The parts as files of documents, once."""
        if all(self.part(part).exists() for part in PARTS):
            return
        found = self.corpus.read(data)
        bounds = dict(zip(PARTS, (self.documents, *self.corpus.judged), strict=True))
        for part in PARTS:  # in an order by chance that is always the same
            short = [doc for doc in found[part] if len(doc.text) <= (self.corpus.longest or len(doc.text))]
            chosen = sorted(short, key=lambda doc: digest(doc.text))[: bounds[part]]
            self.part(part).parent.mkdir(parents=True, exist_ok=True)
            formats.write(chosen, self.part(part), format="jsonl")

    def count(self, predictions: Path) -> Rows:
        """Counts of a run on the test part, a row for each document."""
        predicted = formats.read(predictions, format="jsonl")
        pairs = align(predicted, formats.read(self.part("test"), format="jsonl")).pairs
        return TASKS[self.corpus.task].score(pairs).rows[self.corpus.convention]

    def rows(self, label: str) -> Rows:
        """The same, from the line of the run."""
        return unpacked((self.record(label) or {})["texts"])


def as_options(settings: Settings) -> Iterator[str]:
    """The options of a command for these settings."""
    for name, value in settings.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{option}" if value else f"--no-{option}"
        else:
            yield from (f"--{option}", str(value))


def call(command: Sequence[str], gigabytes: int, log: Path) -> str:
    """Run a program with one thread and bounded memory; gives its standard output."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))

    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("a", encoding="utf-8") as stream:
        done = subprocess.run(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=stream, text=True, env=environment,
            preexec_fn=bound, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: see {log}.")
    return done.stdout


def processor_minutes() -> float:
    """Of all programs that were called so far; the clock would also count what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) / 60


def run_factpin(place: Place, label: str, settings: Settings, gigabytes: int) -> None:
    """`factpin train` with these options and no others, then predictions on test."""
    folder, corpus, began = place.run(label), place.corpus, processor_minutes()
    model, log = folder / "model", folder / "log.txt"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    printed = call(
        ["-m", "factpin", "train", corpus.task, "--train", str(place.part("train")), "--dev", str(place.part("dev")),
         "--encoder", corpus.encoder, "--output", str(model), "--json", *as_options(settings)], gigabytes, log,
    )  # fmt: skip
    minutes = processor_minutes() - began
    report = json.loads(printed)
    call(
        ["-m", "factpin", "predict", str(model), str(place.part("test")), str(folder / "test.jsonl.xz"),
         "--min-score", "0", "--json"], gigabytes, log,
    )  # fmt: skip
    recipe = tomllib.loads((model / "recipe.toml").read_text(encoding="utf-8"))
    train = {name: recipe["train"][name] for name in KEPT if name in recipe["train"]}
    dev = report["scores"][corpus.metric]
    curve = dev_curve(model / "metrics.jsonl", corpus)
    shutil.rmtree(model)
    save(place, label, {"settings": settings, "steps": report["steps"], "best_step": report["best_step"], "dev": dev,
                        "curve": curve, "minutes": round(minutes, 2), "train": train})  # fmt: skip


def dev_curve(file: Path, corpus: Corpus) -> list[tuple[int, float]]:
    """The steps at which a run was evaluated on dev, and F1 there."""
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [(line["step"], round(line[corpus.metric], 4)) for line in lines if corpus.metric in line]


def run_baseline(place: Place, label: str, of: str, gigabytes: int) -> None:
    """The plain tagger, with what the run `of` had."""
    folder, other = place.run(label), place.record(of)
    if other is None:
        raise RuntimeError(f"{place.run(of)} is not done, and the tagger takes its rates and steps from it.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = {name: value for name, value in other["train"].items() if name != "epochs"}
    settings["max_steps"] = other["steps"]
    figures = folder / "figures.json"
    call(
        [str(BASELINE), "--train", str(place.part("train")), "--dev", str(place.part("dev")), "--test",
         str(place.part("test")), "--from", "jsonl", "--encoder", place.corpus.encoder, "--predictions",
         str(folder / "test.jsonl.xz"), "--json", str(figures), *as_options(settings)], gigabytes, folder / "log.txt",
    )  # fmt: skip
    found = json.loads(figures.read_text(encoding="utf-8"))
    save(place, label, {"settings": settings, "steps": found["steps"], "minutes": found["minutes"],
                        "not_taught": found["not_taught"]})  # fmt: skip


def save(place: Place, label: str, record: dict[str, Any]) -> None:
    """Add the figures on test, and keep all."""
    rows = place.count(place.run(label) / "test.jsonl.xz")
    counts, (low, high) = total(rows), interval(rows)
    test = {"f1": counts.f1, "low": low, "high": high, "precision": counts.precision, "recall": counts.recall}
    names = {"corpus": place.name, "documents": place.documents, "label": label}
    place.results.parent.mkdir(parents=True, exist_ok=True)
    with place.results.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(names | record | {"test": rounded(test), "texts": packed(rows)}) + "\n")
    print(f"{place.name} {place.documents} {label}: {100 * counts.f1:.2f}, {record['minutes']:.1f} minutes", flush=True)


def rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 5) for name, value in figures.items()}


def packed(rows: Rows) -> dict[str, str]:
    """The counts of every text as strings of digits."""
    return {name: "".join(DIGITS[int(x)] for x in rows[:, column]) for name, column in COLUMNS.items()}


def unpacked(texts: dict[str, str]) -> Rows:
    rows = np.zeros((len(texts["right"]), 4))
    for name, column in COLUMNS.items():
        rows[:, column] = [DIGITS.index(x) for x in texts[name]]
    return rows


# ---- all runs


class Run(NamedTuple):
    label: str
    arm: str
    settings: Settings


def planned(place: Place, options: argparse.Namespace) -> list[Run]:
    """The runs of a place that are not done, in order: the tagger after the run that it follows."""
    runs = [Run(options.label, "default", options.set)]
    runs += [Run(label, "tuned", settings) for label, settings in place.grid.items()]
    if place.corpus.task == "spans":
        runs.append(Run(tagger(options.label), "baseline", options.set))
    return [run for run in runs if run.arm in options.arm and place.record(run.label) is None]


def tagger(label: str) -> str:
    """The run of the tagger beside a run."""
    return "baseline" if label == "default" else f"baseline {label}"


def do_all(places: Sequence[Place], options: argparse.Namespace) -> None:
    for place in places:
        place.write_parts(options.data)
    for place in places:
        for run in planned(place, options):
            try:
                if run.arm == "baseline":
                    run_baseline(place, run.label, options.label, options.memory)
                else:
                    run_factpin(place, run.label, run.settings, options.memory)
            except RuntimeError as error:  # the other runs can still be done
                print(error, file=sys.stderr, flush=True)


def show_plan(places: Sequence[Place], options: argparse.Namespace) -> None:
    """What is not done, with about the minutes that it takes on one core."""
    whole = 0.0
    for place in places:
        for run in planned(place, options):
            given = {name: run.settings[name] for name in ("epochs", "batch_size") if name in run.settings}
            epochs = settle(TrainConfig(**given), 0, place.documents, tokens=place.corpus.tokens).epochs or 1
            read = epochs * place.documents + 0.3 * min(epochs, EVALUATIONS) * place.corpus.judged[0]
            minutes = 0.5 + read * place.corpus.seconds / 60
            whole += minutes
            print(f"{place.name} {place.documents} {run.label}: {epochs} epochs, about {minutes:.0f} minutes")
    print(f"in all about {whole:.0f} minutes of one core")


# ---- the table


def best_tuned(place: Place) -> str:
    """The run of the grid that is best on dev; an empty name where none is done."""
    done = {label: record["dev"] for label in place.grid if (record := place.record(label))}
    return max(done, key=lambda label: done[label], default="")


def percent(record: dict[str, Any] | None) -> str:
    low, f1, high = (100 * record["test"][name] for name in ("low", "f1", "high")) if record else (0, 0, 0)
    return f"{f1:.1f} ({low:.1f} to {high:.1f})" if record else ""


def compared(place: Place, first: str, second: str) -> str:
    """How far the first run is ahead of the second on the same documents."""
    if not (place.record(first) and place.record(second)):
        return ""
    paired = paired_bootstrap(place.rows(first), place.rows(second))
    low, high = (100 * x for x in paired.interval)
    return f"{100 * paired.difference:+.1f} ({low:+.1f} to {high:+.1f})"


def table_row(place: Place, label: str) -> list[str]:
    """A row of the table, as far as its runs are done."""
    best, plain = best_tuned(place), tagger(label)
    own, tuned, other = place.record(label), place.record(best), place.record(plain)
    steps = str(own["steps"]) if own else ""
    by = f"{best.removeprefix('tuned ')}, {tuned['steps']} steps" if tuned else ""
    took = " / ".join(f"{record['minutes']:.1f}" if record else "-" for record in (own, tuned, other))
    return [
        place.name, place.corpus.encoder, str(place.documents), steps, percent(own), percent(tuned), by,
        compared(place, label, best), percent(other), compared(place, label, plain), took,
    ]  # fmt: skip


def table(places: Sequence[Place], label: str) -> str:
    heads = ["corpus", "encoder", "documents", "steps", f"{label}, test F1 (95 %)", "tuned", "by", f"{label} - tuned",
             "plain tagger", f"{label} - tagger", "minutes"]  # fmt: skip
    return markdown([heads, *(table_row(place, label) for place in places)])


def candidates(places: Sequence[Place]) -> str:
    """Test F1 of everything that was tried in place of the defaults, side by side."""
    found = {label for place in places for label in place.records()}
    labels = sorted(label for label in found if not label.startswith(("tuned ", "baseline")))
    rows = [["corpus", "documents", *labels, "tuned"]]
    for place in places:
        records = [place.record(label) for label in (*labels, best_tuned(place))]
        cells = [f"{100 * record['test']['f1']:.1f}" if record else "" for record in records]
        rows.append([place.name, str(place.documents), *cells])
    return markdown(rows)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---- the program


def setting(text: str) -> tuple[str, Any]:
    """ "epochs=10" -> ("epochs", 10)."""
    name, found, value = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE, such as learning_rate=2e-4")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA), metavar="CORPUS")
    parser.add_argument("--size", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--arm", nargs="+", choices=ARMS, help="default: all; with --set, `default` alone")
    parser.add_argument("--set", nargs="+", type=setting, default=[], metavar="NAME=VALUE", help="in place of defaults")
    parser.add_argument("--label", default="default", help="name of the runs with --set")
    parser.add_argument("--memory", type=int, default=10, help="GiB of address space of a run")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path("runs/defaults"), help="parts and logs")
    parser.add_argument("--results", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--table", action="store_true", help="only print the table of what is done")
    parser.add_argument("--plan", action="store_true", help="only print what is not done, with estimated minutes")
    options = parser.parse_args()
    if options.set and options.label == "default":
        parser.error("--set makes other runs than the defaults: name them with --label")
    options.set = dict(options.set)
    options.arm = options.arm or (("default",) if options.set else ARMS)
    return options


def main() -> None:
    options = arguments()
    places = [
        Place(name, CORPORA[name], size, options.output, options.results)
        for name in options.only
        for size in options.size
    ]
    if options.plan:
        show_plan(places, options)
        return
    if not options.table:
        do_all(places, options)
    print(table(places, options.label), candidates(places), sep="\n\n")


if __name__ == "__main__":
    main()
