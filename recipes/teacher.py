"""A large teacher for a small model of entities: what the mentions that it marks in further texts are worth.

    python recipes/en-entities/prepare.py
    python recipes/teacher.py --output runs/teacher           minutes are printed; what is there is not trained again

Gold sentences are the first ones of the prepared training data, in an order drawn with a seed; further texts come after
them, without their annotation. Every model has the same steps, so that more data does not mean more training:

    teacher              mpnet-en on the gold sentences (twelve layers, twice as wide)
    gold                 minilm-en on the same
    gold, twice as long  the same for twice the steps: what the student could have had for the teacher's time
    from teacher         minilm-en on these and on further texts, which the teacher has marked
    from itself          the same, which `gold` has marked: what the texts are worth without a teacher

The judges are those of recipes/judge_entities.py. Differences are tested in pairs, over the texts of a judge.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from judge_entities import read_judges

from factpin import formats
from factpin.documents import Document
from factpin.documents.annotated import keep_annotated
from factpin.scoring import Pair, interval, paired_bootstrap, spans
from factpin.scoring.counts import Rows, total

JUDGES = ("worldwide", "wikigold", "uner_ewt")


@dataclass(frozen=True)
class Arm:
    """A model, and which arm has marked its further texts."""

    encoder: str
    marked_by: str = ""
    longer: int = 1


ARMS = {
    "teacher": Arm("mpnet-en"),
    "gold": Arm("minilm-en"),
    "gold, twice as long": Arm("minilm-en", longer=2),
    "from teacher": Arm("minilm-en", "teacher"),
    "from itself": Arm("minilm-en", "gold"),
}


def folder(name: str, options: argparse.Namespace) -> Path:
    return options.output / name.replace(", ", "-").replace(" ", "-")


def train(name: str, options: argparse.Namespace) -> None:
    """Train an arm for its steps; the weights of the last step are kept."""
    arm, place = ARMS[name], folder(name, options)
    texts = options.output / "gold.jsonl.xz"
    if arm.marked_by:
        marked = place.with_suffix(".marked.jsonl.xz")
        factpin("predict", folder(arm.marked_by, options), options.output / "further.jsonl.xz", marked)
        texts = place.with_suffix(".train.jsonl.xz")
        both = [*formats.read(options.output / "gold.jsonl.xz"), *formats.read(marked)]
        formats.write(both, texts)
    factpin("train", "spans", "--train", texts, "--encoder", arm.encoder, "--head", "efficient_global_pointer",
            "--max-length", 160, "--overlap", 48, "--max-steps", options.steps * arm.longer, "--seed", options.seed,
            "--output", place)  # fmt: skip


def factpin(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "factpin", *map(str, words), "--quiet"], check=True)


def write_texts(options: argparse.Namespace) -> None:
    """Gold sentences, and further texts of the same sources without annotation."""
    docs = [doc for doc in formats.read(options.data / "train.jsonl.xz") if doc.meta["source"] == options.source]
    random.Random(options.seed).shuffle(docs)
    gold, rest = docs[: options.gold], docs[options.gold : options.gold + options.further]
    formats.write(gold, options.output / "gold.jsonl.xz")
    bare = [Document(doc.id, doc.text, doc.language, meta=doc.meta) for doc in rest]
    formats.write(bare, options.output / "further.jsonl.xz")


def rows(name: str, judge: str, gold: Sequence[Document], options: argparse.Namespace) -> Rows:
    """The strict counts of an arm for every text of a judge; only types that are marked in full count."""
    source, found = options.output / f"{judge}.jsonl.xz", folder(name, options) / f"{judge}.jsonl.xz"
    if not found.exists():
        formats.write([Document(doc.id, doc.text, doc.language) for doc in gold], source)
        factpin("predict", folder(name, options), source, found)
    pairs = [
        Pair(keep_annotated(doc, doc), keep_annotated(replace(mine, meta=doc.meta), doc))
        for doc, mine in zip(gold, formats.read(found), strict=True)
    ]
    return spans.score(pairs).rows["strict"]


def show(judge: str, gold: Sequence[Document], options: argparse.Namespace) -> None:
    """The rows of the table of one judge."""
    each = {name: rows(name, judge, gold, options) for name in ARMS if folder(name, options).exists()}
    for name, counts in each.items():
        mean, (low, high) = total(counts), interval(counts)
        cells = [judge, name, f"{100 * mean.f1:.1f}", f"{100 * low:.1f} to {100 * high:.1f}"]
        cells += [f"{100 * mean.precision:.1f}", f"{100 * mean.recall:.1f}"]
        if name != "gold" and "gold" in each:
            pair = paired_bootstrap(counts, each["gold"])
            cells += [f"{100 * pair.difference:+.1f}", f"{pair.p_value:.3f}"]
        print("| " + " | ".join(cells + [""] * (8 - len(cells))) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("runs/data/en-entities"))
    parser.add_argument("--source", default="worldwide_newswire", help="the corpus that is taken from it")
    parser.add_argument("--gold", type=int, default=1500, help="sentences with their annotation")
    parser.add_argument("--further", type=int, default=4500, help="texts without")
    parser.add_argument("--steps", type=int, default=400, help="of 16 texts")
    parser.add_argument("--limit", type=int, default=500, help="texts of each judge")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if not (options.output / "further.jsonl.xz").exists():
        write_texts(options)
    for name in options.arms:
        if not (folder(name, options) / "factpin.json").exists():
            began = time.monotonic()
            train(name, options)
            print(f"{name}: {(time.monotonic() - began) / 60:.1f} minutes", file=sys.stderr, flush=True)
    judges = read_judges(options.data)
    print("| judge | arm | F1 | 95 % | precision | recall | against gold | p |\n|---|---|---|---|---|---|---|---|")
    for judge in JUDGES:
        show(judge, judges[judge][: options.limit], options)


if __name__ == "__main__":
    main()
