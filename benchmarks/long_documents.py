"""Documents that public systems truncate: peak memory and time of reading them whole, each in a separate process.

    python benchmarks/long_documents.py [--encoder minilm-en] [--json FILE]

    20,000 characters    40 entities of three mentions each over the whole text
    300 entities         one mention each, 8,000 characters; all 89,700 ordered pairs are scored

The model is a real encoder with a head for 96 relations, which has the published sizes and random weights; the texts
are generated. What is measured is `annotate`: pieces, markers, windows, merging, pairs, facts with evidence. `peak` is
VmHWM of the process (Linux), `model` the same before the first document, `alone` the growth. If a mention is not read,
the case fails.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from factpin.models.find_relations import prepared
from rich.console import Console
from rich.table import Table

from factpin.documents import Document, Entity, Fact, Mention
from factpin.language.sentences import split_sentences
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.tasks.markers import marker_id
from factpin.training.run import start

RELATIONS = 96  # of DocRED
WORDS = ("the river", "was later", "seen by", "a council", "which met", "near the old", "harbour and", "in that year",
         "its members", "had asked", "for the new", "bridge", "where people", "from other", "towns came")  # fmt: skip
SYLLABLES = ("ka", "ro", "mi", "ten", "ba", "lu", "so", "vi", "ne", "dor")


@dataclass(frozen=True)
class Case:
    name: str
    characters: int
    entities: int
    mentions: int  # of each entity


CASES = {case.name: case for case in (Case("20,000 characters", 20_000, 40, 3), Case("300 entities", 8_000, 300, 1))}


@dataclass(frozen=True)
class Row:
    case: str
    characters: int
    entities: int
    pairs: int
    tokens: int  # with markers
    windows: int
    seconds: float  # CPU
    model_MiB: float
    peak_MiB: float


def made(case: Case) -> Document:
    """Sentences of stock words in which the mentions come at even distances, in an order by chance."""
    chance = random.Random(0)
    names = ["".join(chance.choices(SYLLABLES, k=3)).title() + f" {i}" for i in range(case.entities)]
    order = [e for e in range(case.entities) for _ in range(case.mentions)]
    chance.shuffle(order)
    text, mentions, own = "", [], [[] for _ in names]
    for k, e in enumerate(order):
        own[e].append(f"m{k}")
        mentions.append(Mention(f"m{k}", len(text), len(text) + len(names[e]), names[e], "thing"))
        text += names[e]
        while len(text) < (k + 1) * case.characters // len(order) - 12:
            text += " " + chance.choice(WORDS)
        text += ". " if k % 3 == 2 else " and "
    entities = tuple(
        Entity(f"e{i}", tuple(ids), "thing", name) for i, (name, ids) in enumerate(zip(names, own, strict=True))
    )
    return Document(
        case.name, text, sentences=tuple(split_sentences(text)), mentions=tuple(mentions), entities=entities
    )


def highest() -> float:
    """The peak of this process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def measure(case: Case, encoder: str) -> Row:
    """One case, in this process."""
    doc = made(case)
    facts = tuple(Fact("e0", f"r{r}", "e1") for r in range(RELATIONS))
    example = Document("x", doc.text, mentions=doc.mentions, entities=doc.entities, facts=facts)
    extractor: Any = start(DOCUMENT_RELATIONS, RelationOptions(encoder), [example], 0)
    before, began = highest(), time.process_time()
    (found,) = extractor.annotate([doc])
    seconds = time.process_time() - began
    if found.coverage.unread:
        raise SystemExit(f"{case.name}: {len(found.coverage.unread)} parts were not read.")
    read, marker = extractor.reader.read(doc), marker_id(extractor.tokenizer)
    y, document = prepared(read, extractor.settings, extractor.tokenizer, marker)
    return Row(case.name, len(doc.text), y.entities, len(y.head), len(y.pieces), len(document.windows), seconds, before,
               highest())  # fmt: skip


def apart(case: str, encoder: str) -> Row:
    command = [sys.executable, __file__, "--encoder", encoder, "--case", case]
    return Row(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def show(rows: list[Row]) -> None:
    table = Table("document", title="one thread; MiB: peak of the whole process")
    for head in ("characters", "entities", "pairs", "tokens", "windows", "CPU s", "model MiB", "peak MiB", "alone MiB"):
        table.add_column(head, justify="right")
    for r in rows:
        counts = (r.characters, r.entities, r.pairs, r.tokens, r.windows)
        sizes = (r.model_MiB, r.peak_MiB, r.peak_MiB - r.model_MiB)
        table.add_row(r.case, *(f"{x:,}" for x in counts), f"{r.seconds:.1f}", *(f"{x:,.0f}" for x in sizes))
    Console(width=140).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="minilm-en", help="a name of the catalogue, or a folder")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.case:
        print(json.dumps(asdict(measure(CASES[options.case], options.encoder))))
        return
    rows = [apart(case, options.encoder) for case in CASES]
    show(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
