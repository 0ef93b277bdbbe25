"""Coreference on gold mentions: MUC, B-cubed, CEAF-e and their mean F1, by rules, each switched off in turn.

    python benchmarks/coreference.py [--data ../shared/data] [--part dev|test] [--corpus scierc …] [--model FOLDER]

With the folder of a trained scorer (`factpin train coreference`) there is one more row: rules and scorer, as in
`factpin predict`. A scorer has seen the dev part of its corpus, so it is evaluated on test.
There are two baselines: each mention is an entity, and all mentions with the same text (ignoring case and spaces) and
type are one entity. The rules were developed on `dev`: SciERC train and dev, Re-DocRED dev, CDR train and dev. `test`
was scored after that. A mention that is in no cluster of the corpus counts as a cluster, in gold too; MUC ignores
those. Clusters of CDR are concepts and contain synonyms that no rule can know; those of SciERC leave out many mentions
with the same words, which a rule cannot know either.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

import factpin
from factpin import formats
from factpin.documents import Document, Entity
from factpin.language.coreference import RULES, resolve, with_singletons
from factpin.scoring import Pair, coreference

FILES = {
    "scierc": {"dev": ("scierc/train.json.xz", "scierc/dev.json.xz"), "test": ("scierc/test.json.xz",)},
    "redocred": {"dev": ("redocred/dev_revised.json.xz",), "test": ("redocred/test_revised.json.xz",)},
    "cdr": {
        "dev": ("cdr/CDR_TrainingSet.PubTator.txt.xz", "cdr/CDR_DevelopmentSet.PubTator.txt.xz"),
        "test": ("cdr/CDR_TestSet.PubTator.txt.xz",),
    },
}


def read(data: Path, corpus: str, part: str) -> list[Document]:
    """The documents with every mention in an entity, and without facts."""
    return [
        replace(with_singletons(doc), facts=()) for file in FILES[corpus][part] for doc in formats.read(data / file)
    ]


def same_string(doc: Document) -> Document:
    groups: dict[tuple[str, str], list[str]] = {}
    for mention in doc.mentions:
        groups.setdefault((" ".join(mention.text.casefold().split()), mention.type), []).append(mention.id)
    return replace(doc, entities=tuple(Entity(f"e{i}", tuple(ids)) for i, ids in enumerate(groups.values())))


def f1(gold: Sequence[Document], predict: Callable[[Document], Document]) -> list[tuple[float, float, float]]:
    """Precision, recall, F1 of each metric."""
    rows = coreference.score([Pair(doc, predict(doc)) for doc in gold])
    figures = [coreference.figures(rows[metric].sum(axis=0)) for metric in coreference.METRICS]
    return [(float(p), float(r), float(f)) for p, r, f in figures]


def systems(model: Path | None) -> dict[str, Callable[[Document], Document]]:
    def without(rule: str) -> Callable[[Document], Document]:
        return lambda doc: resolve(doc, rules=[name for name in RULES if name != rule])

    scorer = factpin.load(model) if model else None
    learned = {"rules and scorer": lambda doc: next(scorer.annotate([doc]))} if scorer else {}
    return {
        "every mention alone": lambda doc: resolve(doc, rules=()),
        "same string": same_string,
        "all rules": resolve,
        **learned,
        **{f"without {rule}": without(rule) for rule in RULES},
    }


def show(console: Console, corpus: str, part: str, gold: Sequence[Document], model: Path | None) -> None:
    mentions = sum(len(doc.mentions) for doc in gold)
    table = Table(title=f"{corpus} {part}: {len(gold)} documents, {mentions:,} mentions (precision / recall / F1)")
    for column in ("", *coreference.METRICS, "mean F1"):
        table.add_column(column)
    start = time.process_time()
    seconds = 0.0
    for name, predict in systems(model).items():
        scores = f1(gold, predict)
        cells = [f"{100 * p:.1f} / {100 * r:.1f} / {100 * f:.1f}" for p, r, f in scores]
        table.add_row(name, *cells, f"{100 * sum(f for _, _, f in scores) / len(scores):.2f}")
        if name == "all rules":
            seconds = time.process_time() - start
        start = time.process_time()
    console.print(table)
    console.print(f"all rules, with the scoring: {1e6 * seconds / mentions:.0f} µs a mention")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--corpus", nargs="+", choices=tuple(FILES), default=list(FILES))
    parser.add_argument("--model", type=Path, help="folder of a scorer")
    options = parser.parse_args()
    console = Console()
    for corpus in options.corpus:
        show(console, corpus, options.part, read(options.data, corpus, options.part), options.model)


if __name__ == "__main__":
    main()
