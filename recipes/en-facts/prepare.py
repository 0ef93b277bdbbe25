"""The documents of en-facts: passages and sentences with facts under the names of Wikidata.

    python recipes/en-facts/prepare.py --output runs/data/en-facts

The meta of every document lists the relations that are annotated exhaustively in it: those that KnowledgeNet asked
about in a passage, those of Re-DocRED in a sentence (redocred.py), the one that raters of google_re looked for
(google_re.py). Other corpora mark one pair per sentence (pairs.py). In training documents, relations that no word of
the text hints at are added (relations.toml); their names are also in meta["unhinted"].
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from _mentions import with_mentions
from _prepare_facts import (
    DATA,
    Place,
    Table,
    Told,
    count_arguments,
    fraction,
    frequent,
    keep_relations,
    make_meta,
    mark_types,
    mark_unhinted,
    pin,
    print_counts,
    read_lines,
    read_table,
    without_shared,
    write,
)
from google_re import google_re
from pairs import kbp37, tekgen, told, wiki80
from redocred import redocred, whole_documents

import factpin
from factpin.documents import Document
from factpin.files import read_text


def knowledgenet(path: Path, table: Table) -> Iterator[tuple[int, Document]]:
    """(fold, document) of every passage; annotated are the properties that were asked for in it."""
    for row in read_lines(path):
        asked = {fact["predicate"] for fact in row["facts"]} | {*row["annotated_without_fact"]}
        names = [found[0].name for name in asked if (found := table.find(name))]
        facts = [ours for fact in row["facts"] if (ours := knowledgenet_fact(fact, row["text"], table))]
        id = f"knowledgenet-{row['document']}-{row['passage'][0]}"
        meta = make_meta("knowledgenet", names, document=row["document"])
        yield row["fold"], pin(id, row["text"], facts, meta, "en")


def knowledgenet_fact(fact: dict[str, Any], text: str, table: Table) -> Told | None:
    """A fact as ours, if the table has its property."""
    found = table.find(fact["predicate"])
    head, tail = (Place(*trimmed(text, *fact[key]), "") for key in ("subject", "object"))
    return None if found is None else told(found, head, tail)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without white space at its ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def held_out(doc: Document) -> bool:
    """Whether a document of google_re judges: a tenth of those rated yes, half of those rated no and what is denied."""
    return "denied" in doc.meta or fraction(doc.meta["subject"]) < (0.1 if doc.meta["judgment"] == "yes" else 0.5)


def taken(doc: Document) -> bool:
    """Whether a document of google_re, which has three relations, teaches: all rated no, half of those rated yes."""
    return doc.meta["judgment"] == "no" or fraction(doc.text) < 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=Path("runs/data/en-facts"))
    parser.add_argument("--entities", default="en-entities", help="the model that finds mentions of no fact")
    parser.add_argument("--judges-only", action="store_true", help="write dev and the judges, in a minute")
    options = parser.parse_args()
    data, table = options.data, read_table("en")
    names = {code: row["name"] for code, row in orjson.loads(read_text(data / "redocred/rel_info.json.xz")).items()}
    passages = list(knowledgenet(data / "knowledgenet/passages.derived.jsonl.xz", table))
    fourth = [doc for fold, doc in passages if fold == 4]
    rated = list(google_re(data / "google_re", table))
    sentences = list(redocred(data / "redocred/dev_revised.json.xz", names, table))
    judges = {
        "knowledgenet": [doc for doc in fourth if fraction(doc.meta["document"]) >= 0.5],
        "google_re": [doc for doc in rated if held_out(doc)],
        "redocred_test": list(whole_documents(data / "redocred/test_revised.json.xz", names, table)),
    }
    dev = [
        *(doc for doc in fourth if fraction(doc.meta["document"]) < 0.5),
        *(doc for doc in rated if not held_out(doc) and 0.5 <= fraction(doc.meta["subject"]) < 0.58),
        *(doc for title, doc in sentences if fraction(title) < 0.1),
    ]
    train = [
        *(doc for fold, doc in passages if fold < 4),
        *(doc for title, doc in sentences if fraction(title) >= 0.1),
        *(doc for doc in rated if taken(doc) and not held_out(doc) and not 0.5 <= fraction(doc.meta["subject"]) < 0.58),
        *(doc for name in ("dev", "train_0.1") for doc in wiki80(data / f"wiki80_part/{name}.txt.xz", table)),
        *(doc for name in ("train", "dev", "test") for doc in kbp37(data / f"kbp37/{name}.txt.xz", table)),
        *tekgen(data / "text2kgbench/data.tar.xz", table),
    ]
    left: Counter[str] = Counter()
    judged = [doc for documents in judges.values() for doc in documents]
    dev = without_shared(dev, judged, left)
    train = without_shared(train, [*dev, *judged], left)
    kept = frequent(train, table)
    arguments = count_arguments(keep_relations(doc, kept) for doc in train)

    def finished(documents: Iterable[Document]) -> list[Document]:
        return [mark_types(keep_relations(doc, kept), arguments) for doc in documents]

    train = [mark_types(mark_unhinted(keep_relations(doc, kept), kept), arguments) for doc in train]
    train = [doc for doc in train if doc.facts or doc.meta["annotated"]["relations"]]
    write(options.output, "dev", finished(dev))
    whole = list(whole_documents(data / "redocred/test_revised.json.xz", names, kept))
    for name, documents in judges.items():
        write(options.output / "judges", name, whole if name == "redocred_test" else finished(documents))
    if options.judges_only:
        return
    train = list(with_mentions(train, factpin.load(options.entities), [t for t, c in arguments.items() if c]))
    write(options.output, "train", train)
    for reason, count in sorted(left.items()):
        print(f"  left out, {reason}: {count:,}")
    print(f"  relations left out: {', '.join(sorted(set(table.relations) - set(kept.relations)))}")
    print_counts(train)


if __name__ == "__main__":
    main()
