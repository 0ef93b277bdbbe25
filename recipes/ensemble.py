"""An ensemble of seeds: what several models of document relations find together, and how much that helps.

    python recipes/ensemble.py runs/cdr/cdr-{1,2,3} --dev ../shared/data/cdr/CDR_DevelopmentSet.PubTator.txt.xz \
        --gold ../shared/data/cdr/CDR_TestSet.PubTator.txt.xz --from pubtator --output runs/cdr/ensemble.jsonl.xz

The scores of the members above their thresholds are averaged before the decision (factpin.models.ensemble). The output
is the F1 of every member and of the ensemble on gold, with a paired test of the ensemble against each member. With
--dev the scale of the scores is fitted again, so that they are probabilities; what is found does not change.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import factpin
from factpin import formats
from factpin.documents import Document
from factpin.models.ensemble import ensemble
from factpin.models.extractor import Extractor
from factpin.scoring import align, document_relations, paired_bootstrap
from factpin.scoring.counts import total
from factpin.tasks.document_relations.tune import relation_candidates
from factpin.tasks.fit import fit_scale


def read(path: Path, format: str | None) -> list[Document]:
    return list(formats.read(path, format=format))


def scaled(extractor: Extractor, dev: list[Document]) -> Extractor:
    """With a scale that fits dev."""
    cut = torch.as_tensor(extractor.threshold()).expand(len(extractor.settings.labels)).double().numpy()
    scale = fit_scale(relation_candidates(extractor, dev), np.asarray(cut))
    return replace(extractor, settings=replace(extractor.settings, temperature=scale.temperature, shift=scale.shift))


def judged(members: list[Path], together: list[Document], gold: list[Document]) -> Iterator[tuple[str, ...]]:
    """A row for every member, and one for all together."""
    best = document_relations.score(align(together, gold).pairs).rows["strict"]
    for folder in members:
        found = factpin.load(folder).annotate(gold)
        rows = document_relations.score(align(found, gold).pairs).rows["strict"]
        test = paired_bootstrap(best, rows, samples=2000, seed=0)
        yield folder.name, *figures(rows), f"{100 * test.difference:+.2f}", f"{test.p_value:.3f}"
    yield "together", *figures(best), "", ""


def figures(rows: np.ndarray) -> tuple[str, str, str]:
    counts = total(rows)
    return f"{100 * counts.f1:.2f}", f"{100 * counts.precision:.2f}", f"{100 * counts.recall:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, help="model folders of one recipe with other seeds")
    parser.add_argument("--gold", type=Path, required=True, help="documents with entities and facts")
    parser.add_argument("--dev", type=Path, help="documents to fit the scale of the scores on")
    parser.add_argument("--from", dest="format", help="format of the corpora; guessed where it can be")
    parser.add_argument("--output", type=Path, help="write what all find together here")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    gold = read(options.gold, options.format)
    extractor = ensemble([factpin.load(folder) for folder in options.models])
    if options.dev:
        extractor = scaled(extractor, read(options.dev, options.format))
    together = list(extractor.annotate(gold))
    table = Table("model", "F1", "precision", "recall", "together against it", "p")
    for row in judged(options.models, together, gold):
        table.add_row(*row)
    Console().print(table)
    if options.output:
        formats.write(together, options.output)


if __name__ == "__main__":
    main()
