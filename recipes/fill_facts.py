"""Add what a first model is sure of to training documents: relations that a corpus did not ask about.

    python recipes/fill_facts.py runs/en-facts-first runs/data/en-facts --plain ../shared/data/wiki_en/wiki_en.txt.xz

reads train.jsonl.xz of the folder and writes filled.jsonl.xz beside it. In every document the model looks for each
relation that is not annotated there. If nothing is likelier than --low, the document now says that it does not tell the
relation; if everything likelier is at least --high, these facts are added; otherwise the relation stays unknown.
Sentences of plain text are added the same way, with the mentions that a model of entities finds in them: one of each
paragraph of a file, or every document of a .jsonl.xz. With --found-only a relation of which nothing is likely stays
unknown too, as it has to if the model overlooks many facts, and so do relations in plain text that some word hints at;
plain text without a sure fact is left out.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from _mentions import with_mentions, with_spans
from _prepare_facts import Place, Table, Told, annotated, make_meta, pin, read_table, told_of, write

import factpin
from factpin.documents import Document
from factpin.files import lines
from factpin.formats import read
from factpin.language.sentences import split_sentences
from factpin.models.extractor import AHEAD, Extractor
from factpin.tasks.scale import Scale
from factpin.tokens import char_span

LOWEST = -6.0  # scores below are no guess
LENGTHS = range(40, 260)  # characters of a sentence of plain text


def filled(
    documents: Sequence[Document], model: Extractor, low: float, high: float, *, found_only: bool = False
) -> Iterator[Document]:
    """The documents with the relations that the model is sure of."""
    for at in range(0, len(documents), AHEAD):
        group = documents[at : at + AHEAD]
        for doc, guesses in zip(group, guess(group, model), strict=True):
            yield fill(doc, found_alone(guesses, high) if found_only else guesses, low, high)


def found_alone(guesses: dict[str, dict[Told, float]], high: float) -> dict[str, dict[Told, float]]:
    """The guesses of relations of which the model is sure of a fact."""
    return {relation: facts for relation, facts in guesses.items() if facts and max(facts.values()) >= high}


def guess(documents: Sequence[Document], model: Extractor) -> Iterator[dict[str, dict[Told, float]]]:
    """By relation, every fact that a model sees in a document, and how likely it is."""
    labels, scale = model.finder.labels, Scale(model.settings.temperature, model.settings.shift)
    shifts = model.settings.task_config["shifts"]
    windowed = [model.read(doc) for doc in documents]
    for one, found in zip(windowed, model.find(windowed, LOWEST), strict=True):
        places = [Place(*char_span(one.pieces, i, j), labels.type_of(c)) for c, i, j in found.spans()]
        told: dict[str, dict[Told, float]] = {relation: {} for relation in labels.relations}
        for r, s, o, score in zip(found.relation, found.subject, found.object, found.score, strict=True):
            if r < len(labels.relations) and places[s][:2] != places[o][:2]:
                fact = Told(places[s], labels.relations[r], places[o])
                p = scale.probability(float(score) - shifts.get(fact.relation, 0.0))
                told[fact.relation][fact] = max(told[fact.relation].get(fact, 0.0), p)
        yield told


def fill(doc: Document, guesses: dict[str, dict[Told, float]], low: float, high: float) -> Document:
    """One document with its sure relations."""
    known, added, sure = annotated(doc), list[Told](), set[str]()
    silent = {fact.relation for fact in doc.facts}
    for relation, facts in guesses.items():
        if relation in known or relation in silent:
            continue
        likely = {fact: p for fact, p in facts.items() if p >= low}
        if all(p >= high for p in likely.values()):
            sure.add(relation)
            added += likely
    if not sure:
        return doc
    meta = {**doc.meta, "annotated": {**doc.meta["annotated"], "relations": sorted(known | sure)}}
    told = pin(doc.id, doc.text, [*told_of(doc), *added], meta, doc.language or "")
    return with_spans(told, [(m.start, m.end, m.type) for m in doc.mentions])


def sentences(path: Path, count: int, language: str, seed: int = 1) -> list[Document]:
    """Sentences of plain text, drawn at random from all paragraphs."""
    paragraphs = [line.strip() for _, line in lines(path) if len(line.strip()) >= LENGTHS.start]
    found: list[Document] = []
    for paragraph in random.Random(seed).sample(paragraphs, min(len(paragraphs), count)):
        parts = [paragraph[start:end] for start, end in split_sentences(paragraph)]
        good = [part for part in parts if len(part) in LENGTHS]
        if good:
            found.append(Document(f"plain-{len(found)}", good[0], language, meta=make_meta(path.parent.name, [])))
    return found


def unlabelled(path: Path, table: Table | None) -> list[Document]:
    """The documents of a file with nothing annotated in them, or only the relations that no word hints at."""
    return [
        replace(doc, meta=make_meta(doc.meta["source"], unhinted(doc, table) if table else []))
        for doc in read(path, format="jsonl")
    ]


def unhinted(doc: Document, table: Table) -> list[str]:
    """The relations of a table that no word of a document hints at."""
    return [name for name, relation in table.relations.items() if not relation.hinted(doc.text)]


def count(before: Iterable[Document], after: Iterable[Document]) -> None:
    """Print what was added."""
    marks, facts = Counter[str](), Counter[str]()
    for old, new in zip(before, after, strict=True):
        marks.update(annotated(new) - annotated(old))
        facts.update(fact.relation for fact in new.facts)
        facts.subtract(fact.relation for fact in old.facts)
    for relation, number in sorted(marks.items()):
        print(f"  {relation}: now annotated in {number:,} documents more, {facts[relation]:,} facts more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("data", type=Path)
    parser.add_argument("--plain", type=Path, help="a file with a paragraph on each line, or documents")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--found-only", action="store_true", help="relations of which nothing is likely stay unknown")
    parser.add_argument("--low", type=float, default=0.15)
    parser.add_argument("--high", type=float, default=0.9)
    options = parser.parse_args()
    model = factpin.load(options.model)
    documents = list(read(options.data / "train.jsonl.xz", format="jsonl"))
    labelled = len(documents)
    if options.plain:
        language = model.settings.language
        types = {*model.settings.head_config["subjects"], *model.settings.head_config["objects"]}
        if options.plain.name.endswith(".jsonl.xz"):
            table = read_table(language).only(model.finder.labels.relations) if options.found_only else None
            more = unlabelled(options.plain, table)
        else:
            more = sentences(options.plain, options.sentences, language)
        documents += with_mentions(more, factpin.load(f"{language}-entities"), types)
    after = list(filled(documents, model, options.low, options.high, found_only=options.found_only))
    kept = [doc for i, doc in enumerate(after) if i < labelled or doc.facts or not options.found_only]
    write(options.data, "filled", kept)
    count(documents, after)


if __name__ == "__main__":
    main()
