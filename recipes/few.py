"""Thirty sentences of a new set of labels: on top of a shipped model (--initial) against from its plain encoder.

    python recipes/few.py                      both corpora, three seeds, 30 other sentences each; minutes of a core
    python recipes/few.py --sentences 100      more of them
    python recipes/few.py --table              only print the table of what is done

    re3d     reports on security: organisations, places, people, weapons, platforms, documents … (10 labels, English)
    youku    titles of videos: series, people, others (3 labels, Chinese)

No shipped model was trained on either. Both arms have the same head, sentences, steps and rates and no dev set; the
weights of the last step are evaluated on test sentences, strict. Each run is a line of --results as soon as it is done,
and a run that has a line is not done again.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factpin import formats
from factpin.documents import Document
from factpin.scoring import align, spans
from factpin.scoring.counts import total

STEPS, BATCH = 200, 8
HEAD = "efficient_global_pointer"
TESTED = 400  # sentences of test, at most


@dataclass(frozen=True)
class Corpus:
    """Where the sentences are, and the two things that a run can start from."""

    format: str
    train: str
    test: str
    initial: str
    encoder: str


CORPORA = {
    "re3d": Corpus("conll", "re3d/re3d-train.conll.xz", "re3d/re3d-test.conll.xz", "en-entities", "minilm-en"),
    "youku": Corpus("conll", "youku_ner/train.txt.xz", "youku_ner/test.txt.xz", "zh-entities", "simbert-zh"),
}
ARMS = ("initial", "encoder")


def chosen(documents: Sequence[Document], count: int, seed: int) -> list[Document]:
    """Sentences by chance that have a mention."""
    return random.Random(seed).sample([doc for doc in documents if doc.mentions], count)


def run(name: str, arm: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Train, predict and score."""
    corpus = CORPORA[name]
    training = chosen(list(formats.read(options.data / corpus.train, format=corpus.format)), options.sentences, seed)
    gold = list(formats.read(options.data / corpus.test, format=corpus.format))[:TESTED]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        formats.write(training, folder / "train.jsonl")
        formats.write(gold, folder / "test.jsonl")
        start = f"--{arm}", getattr(corpus, arm), "--head", HEAD  # with --initial, the default is the head of the model
        factpin("train", "spans", "--train", folder / "train.jsonl", *start, "--max-steps", STEPS,
                "--batch-size", BATCH, "--seed", seed, "--output", folder / "model")  # fmt: skip
        factpin("predict", folder / "model", folder / "test.jsonl", folder / "found.jsonl")
        found = list(formats.read(folder / "found.jsonl", format="jsonl"))
    counts = total(spans.score(align(found, gold).pairs).rows["strict"])
    figures = {"f1": counts.f1, "precision": counts.precision, "recall": counts.recall}
    what = {"corpus": name, "arm": arm, "seed": seed, "sentences": options.sentences, "tested": len(gold)}
    minutes = round((time.monotonic() - began) / 60, 2)
    return what | {"minutes": minutes} | {name: round(100 * value, 2) for name, value in figures.items()}


def factpin(*words: object) -> None:
    command = [sys.executable, "-m", "factpin", *map(str, words), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def done(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def key(record: dict[str, Any]) -> tuple[Any, ...]:
    return record["corpus"], record["arm"], record["seed"], record["sentences"]


def table(records: Sequence[dict[str, Any]]) -> str:
    """Mean F1 of the seeds, and each of them."""
    lines = ["| corpus | sentences | on top of | F1 | from | F1 |", "|---|---|---|---|---|---|"]
    for name, count in sorted({(r["corpus"], r["sentences"]) for r in records}):
        cells = []
        for arm in ARMS:
            found = [r["f1"] for r in records if (r["corpus"], r["sentences"], r["arm"]) == (name, count, arm)]
            each = ", ".join(f"{f1:.1f}" for f1 in found)
            cells += [getattr(CORPORA[name], arm), f"{statistics.mean(found):.1f} ({each})" if found else ""]
        lines.append(f"| {name} | {count} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--sentences", type=int, default=30)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--results", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    plan = [(seed, name, arm) for seed in options.seeds for name in options.only for arm in ARMS]
    for seed, name, arm in () if options.table else plan:
        if (name, arm, seed, options.sentences) in map(key, done(options.results)):
            continue
        record = run(name, arm, seed, options)
        with options.results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
        print(f"{name} {arm} seed {seed}: {record['f1']:.1f}, {record['minutes']:.1f} minutes", flush=True)
    print(table(done(options.results)))


if __name__ == "__main__":
    main()
