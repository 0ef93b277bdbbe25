"""Long documents of natural text: time per character and memory, each length in a separate process.

    python benchmarks/long_documents.py [--data ../shared/data] [--languages en zh] [--min-score 0] [--json FILE]
    python benchmarks/long_documents.py --relations [--encoder minilm-en]

Texts are the first 10,000, 100,000 and 1,000,000 characters of Wikipedia articles in a row (wiki_en, wiki_zh),
read as one document. Without the data, the sentences of examples/ are repeated, which shows less: they have few names.

Default: all shipped models, and what they show, as `factpin extract` runs them; `--min-score 0` shows everything that
they find. `--relations`: ATLOP with an encoder and 96 relations, with random weights and a threshold that few pairs
pass, between the entities that the shipped models find; up to 100,000 characters; what is measured is `annotate` of
that model alone.

`CPU s` is process time on one thread; `per character` is relative to the shortest text. `above` is the growth of the
peak (VmHWM, Linux) over the loaded models that have read one sentence. `same` compares what is found in the first
10,000 characters with what is found in these alone, up to the last paragraph that both have whole: mentions with their
types and scores (within 1e-4), and facts between mentions with their scores. A fact may differ where the rest of the
text decides: a name that is resolved there, or a better place of birth.
"""

import argparse
import json
import lzma
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import factpin
from factpin.documents import Document, Fact
from factpin.documents.likely import LIKELY

SIZES = (10_000, 100_000, 1_000_000)
EXAMPLES = Path(__file__).parents[1] / "examples"
SENTENCE = "Marie Curie was born in Warsaw. 谷爱凌出生于旧金山。"
RELATIONS = 96  # of DocRED
THRESHOLD = 0.4  # with random weights, few relations are so far above the threshold of their pair
NEAR = 1e-4  # of two scores that count as the same


@dataclass(frozen=True)
class Row:
    """What one text took."""

    language: str
    characters: int
    seconds: float
    model_MiB: float
    above_MiB: float
    mentions: int
    entities: int
    facts: int
    first: list[list[Any]]  # what is found in the first part: places, label, score


def text_of(language: str, size: int, data: Path) -> str:
    """The first characters of the articles of a language."""
    file = data / f"wiki_{language}" / f"wiki_{language}.txt.xz"
    if file.is_file():
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            return stream.read(size)
    names = {"en": ("computing", "curie"), "zh": ("winter-games", "works")}[language]
    sample = "\n".join((EXAMPLES / f"{name}.txt").read_text(encoding="utf-8") for name in names)
    return (sample * (size // len(sample) + 1))[:size]


def highest() -> float:
    """The peak of this process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def found_in(doc: Document, end: int) -> list[list[Any]]:
    """Mentions and facts before a character, in order."""
    at = {m.id: (m.start, m.end) for m in doc.mentions}
    rows = [["mention", m.start, m.end, m.type, m.score] for m in doc.mentions if m.end <= end]
    for fact in doc.facts:
        places = [at[id] for id in (fact.head_mention, fact.tail_mention) if id]
        if len(places) == 2 and all(place[1] <= end for place in places):
            rows.append(["fact", *places[0], *places[1], fact.relation, fact.score])
    return sorted(rows, key=str)


def measure(language: str, size: int, data: Path, min_score: float) -> Row:
    """All shipped models on one text, in this process."""
    text = text_of(language, size, data)
    pipeline = factpin.load()
    pipeline.extract(SENTENCE)
    before, began = highest(), time.process_time()
    (doc,) = pipeline.extract(text, min_score)
    seconds = time.process_time() - began
    return row_of(language, doc, seconds, before)


def measure_relations(language: str, size: int, data: Path, encoder: str) -> Row:
    """A model of document relations on one text, in this process."""
    import torch

    from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
    from factpin.training.run import start

    torch.set_num_threads(1)
    (doc,) = factpin.load(runtime="onnx").extract(text_of(language, size, data))
    facts = tuple(Fact("e0", f"r{r:02}", "e1") for r in range(RELATIONS))
    extractor = start(DOCUMENT_RELATIONS, RelationOptions(encoder), [replace(doc, facts=facts, events=())], 0)
    extractor.settings = replace(extractor.settings, thresholds=dict.fromkeys(extractor.settings.labels, THRESHOLD))
    (short,) = factpin.extract(SENTENCE)
    list(extractor.annotate([short]))
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak of what made the entities
    before, began = highest(), time.process_time()
    (found,) = extractor.annotate([replace(doc, facts=())])
    return row_of(language, found, time.process_time() - began, before)


def row_of(language: str, doc: Document, seconds: float, before: float) -> Row:
    border = doc.text.rfind("\n", 0, SIZES[0])
    counts = (len(doc.mentions), len(doc.entities), len(doc.facts))
    return Row(language, len(doc.text), seconds, before, highest() - before, *counts, found_in(doc, border))


def same(one: Row, other: Row) -> str:
    """How many of the things found in the first part of the shortest text are found in another, alike."""
    shares = []
    for kind in ("mention", "fact"):
        mine, theirs = ({tuple(x[:-1]): x[-1] for x in row.first if x[0] == kind} for row in (one, other))
        equal = sum(key in theirs and abs((score or 0) - (theirs[key] or 0)) <= NEAR for key, score in mine.items())
        shares.append(f"{equal} of {len(mine.keys() | theirs.keys())}")
    return f"{shares[0]}; {shares[1]}"


def apart(language: str, size: int, options: argparse.Namespace) -> Row:
    command = [sys.executable, __file__, "--case", language, str(size), "--data", str(options.data)]
    command += ["--min-score", str(options.min_score)]
    command += ["--relations", "--encoder", options.encoder] if options.relations else []
    return Row(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def show(rows: list[Row]) -> None:
    table = Table("language", title="one thread; same: mentions; facts of the first 10,000 characters")
    heads = ("characters", "mentions", "entities", "facts", "CPU s", "per character", "model MiB", "above MiB", "same")
    for head in heads:
        table.add_column(head, justify="right")
    for row in rows:
        first = next(one for one in rows if one.language == row.language)
        ratio = row.seconds / row.characters / (first.seconds / first.characters)
        counts = (row.characters, row.mentions, row.entities, row.facts)
        sizes = (f"{row.model_MiB:,.0f}", f"{row.above_MiB:,.0f}", same(first, row))
        table.add_row(row.language, *(f"{x:,}" for x in counts), f"{row.seconds:.1f}", f"{ratio:.2f}", *sizes)
    Console(width=140).print(table)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--languages", nargs="+", choices=("en", "zh"))
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--min-score", type=float, default=LIKELY, help="what is shown of what is found")
    parser.add_argument("--relations", action="store_true", help="a model of document relations")
    parser.add_argument("--encoder", default="minilm-en", help="of that model")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        language, size = options.case[0], int(options.case[1])
        row = (
            measure_relations(language, size, options.data, options.encoder)
            if options.relations
            else measure(language, size, options.data, options.min_score)
        )
        print(json.dumps(asdict(row)))
        return
    languages = options.languages or (["en"] if options.relations else ["en", "zh"])
    sizes = options.sizes or [size for size in SIZES if not options.relations or size <= 100_000]
    rows: list[Row] = []
    for language in languages:
        for size in sizes:
            rows.append(apart(language, size, options))
            if options.json:
                options.json.write_text(json.dumps([asdict(row) for row in rows]) + "\n", encoding="utf-8")
    show(rows)


if __name__ == "__main__":
    main()
