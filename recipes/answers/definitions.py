"""How many of the facts that definitions state are right, on documents where all facts are annotated.

    python recipes/answers/definitions.py --most 1000

Re-DocRED, with its own mentions and entities in the place of those that models find: a fact is right if the annotation
has one of the same relation between the same entities. Dates of birth and death count as right if they are there.
"""

import argparse
import lzma
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import orjson

from factpin.documents import Document
from factpin.extraction.definitions import define
from factpin.formats import read

DATA = Path("../shared/data/redocred")
TYPES = {"PER": "person", "LOC": "location", "ORG": "organization", "TIME": "date", "NUM": "number", "MISC": "other"}


def bare(doc: Document) -> Document:
    """The document without facts, with the types of the shipped models."""
    mentions = tuple(replace(m, type=TYPES.get(m.type, m.type)) for m in doc.mentions)
    entities = tuple(replace(e, type=TYPES.get(e.type, e.type)) for e in doc.entities)
    return replace(doc, mentions=mentions, entities=entities, facts=(), language="en")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=500, help="documents of each part")
    parser.add_argument("--wrong", action="store_true", help="print what the annotation does not have")
    options = parser.parse_args()
    with lzma.open(DATA / "rel_info.json.xz") as stream:
        name = {code: row["name"] for code, row in orjson.loads(stream.read()).items()}
    found, right = Counter[str](), Counter[str]()
    for path in sorted(DATA.glob("*_revised.json.xz")):
        for doc in islice(read(path, format="docred"), options.most):
            gold = {(f.head, name.get(f.relation, f.relation), f.tail) for f in doc.facts}
            text = {m.id: m.text for m in doc.mentions}
            for fact in define(bare(doc)).facts:
                found[fact.relation] += 1
                if (fact.head, fact.relation, fact.tail) in gold:
                    right[fact.relation] += 1
                elif options.wrong:
                    print(
                        text.get(fact.head_mention or ""), fact.relation, text.get(fact.tail_mention or ""), sep=" | "
                    )
    print("| relation | found | annotated |\n|---|---|---|")
    for relation, count in found.most_common():
        print(f"| {relation} | {count} | {right[relation]} ({100 * right[relation] / count:.0f} %) |")


if __name__ == "__main__":
    main()
