"""Document-level relations from raw text: strict F1, and what each stage loses.

    python benchmarks/end_to_end.py --corpus redocred --spans FOLDER --relations FOLDER [--coreference FOLDER]
                                    [--data ../shared/data] [--rename FILE] [--limit N]

    gold mentions, gold entities     only the model of relations
    gold mentions, entities found    by the rules of coreference, and with a scorer if one is given
    nothing gold                     raw text through `extract`: spans, coreference, relations

Two public counting rules, both strict on the relation and on both arguments: an entity is right with exactly its
mentions (all mentions), or with its first mention (first mention); typed: and with its type. The table also has the
earlier stages (strict F1 of mentions, mean F1 of MUC, B-cubed and CEAF-e) and the calibration error of the facts under
both rules. Mentions that are in no entity of the corpus count as entities with one mention, in gold too. Models must
not have seen the test part of the corpus. Their relations must have the names used in gold, or --rename maps them.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

import factpin
from factpin import formats
from factpin.corpora.evaluate import coreference_score
from factpin.corpora.rename import Renaming, read_names
from factpin.documents import Document
from factpin.extraction.extract import extract, group_mentions
from factpin.language.coreference import with_singletons
from factpin.models.extractor import Extractor
from factpin.models.shipped import find_model
from factpin.scoring import Pair, align, calibration, coreference, document_relations, spans
from factpin.scoring.counts import total

FILES = {"redocred": "redocred/test_revised.json.xz", "scierc": "scierc/test.json.xz"}
RULES = ("all_mentions", "first_mention", "all_mentions_typed", "first_mention_typed")


def load(name: str | None) -> list[Extractor]:
    return [factpin.load(find_model(name))] if name else []


def stages(gold: Sequence[Document], models: argparse.Namespace) -> dict[str, list[Document]]:
    """The documents as each stage gives them."""
    finders, scorers, linkers = load(models.spans), load(models.coreference), load(models.relations)
    (relations,) = linkers
    bare = [replace(doc, facts=(), events=(), language=doc.language or "en") for doc in gold]
    texts = [Document(doc.id, doc.text, "en") for doc in gold]
    found = {"gold mentions, gold entities": list(relations.annotate(bare))}
    ways = {"rules": [], "rules and scorer": scorers} if scorers else {"rules": []}
    for name, used in ways.items():
        found[f"gold mentions, {name}"] = list(relations.annotate(group_mentions(bare, used)))
    for name, used in ways.items():
        found[f"nothing gold, {name}"] = list(extract(texts, [*finders, *used, *linkers]))
    return found


def mean_f1(predicted: Sequence[Document], gold: Sequence[Document]) -> float:
    rows = coreference_score(align(predicted, gold).pairs).rows
    return sum(float(coreference.figures(rows[name].sum(axis=0))[2]) for name in coreference.METRICS) / 3


def table(title: str, gold: Sequence[Document], found: dict[str, list[Document]]) -> Table:
    """Each cell: F1 (precision / recall), and from the second row on the difference to the first."""
    result = Table(
        "", "mentions", "entities", *(rule.replace("_", " ") for rule in RULES), "ECE, all / first", title=title
    )
    first: dict[str, float] = {}
    for name, predicted in found.items():
        pairs = align(predicted, gold).pairs
        scores = document_relations.score(pairs)
        rows = scores.rows
        cells = [f"{100 * total(spans.score(pairs).rows['strict']).f1:.2f}", f"{100 * mean_f1(predicted, gold):.2f}"]
        for rule in RULES:
            counts = total(rows[rule])
            lost = f" {100 * (counts.f1 - first[rule]):+.2f}" if rule in first else ""
            cells.append(f"{100 * counts.f1:.2f} ({100 * counts.precision:.1f} / {100 * counts.recall:.1f}){lost}")
            first.setdefault(rule, counts.f1)
        errors = (calibration(outcomes).ece for outcomes in (scores.outcomes, first_mention(pairs)))
        result.add_row(name, *cells, " / ".join(f"{100 * error:.1f}" for error in errors))
    return result


def first_mention(pairs: Sequence[Pair]) -> list[tuple[float, bool]]:
    """The score of every fact, and whether it is right where an entity is its first mention."""
    outcomes = []
    for pair in pairs:
        right = set(by_first_mention(pair.gold))
        outcomes += [(score, fact in right) for fact, score in by_first_mention(pair.predicted).items()]
    return outcomes


def by_first_mention(doc: Document) -> dict[tuple[int, int, str, int, int], float]:
    place = {m.id: (m.start, m.end) for m in doc.mentions}
    first = {entity.id: min(place[id] for id in entity.mentions) for entity in doc.entities}
    return {(*first[fact.head], fact.relation, *first[fact.tail]): fact.score or 0.0 for fact in doc.facts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--corpus", choices=tuple(FILES), required=True)
    parser.add_argument("--spans", required=True, help="a model of spans: a folder, or a shipped one by its name")
    parser.add_argument("--coreference", help="folder of a scorer")
    parser.add_argument("--relations", required=True, help="folder of a model of document relations")
    parser.add_argument("--rename", type=Path, help="names of gold's relations, such as DocRED's rel_info.json")
    parser.add_argument("--limit", type=int, help="first N documents")
    options = parser.parse_args()
    documents = [with_singletons(doc) for doc in formats.read(options.data / FILES[options.corpus])][: options.limit]
    if options.rename:
        names = Renaming(read_names(options.rename), forward=True)
        documents = [names.rename(doc) for doc in documents]
    facts = sum(len(doc.facts) for doc in documents)
    title = (
        f"{options.corpus} test: {len(documents)} documents, {facts:,} facts; F1 (precision / recall) and what is lost"
    )
    Console(width=180).print(table(title, documents, stages(documents, options)))


if __name__ == "__main__":
    main()
