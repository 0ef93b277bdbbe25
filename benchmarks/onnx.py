"""The runtimes and precisions of the shipped models: speed, the first answer, and what int8 and bf16 change.

    python benchmarks/onnx.py [--data ../shared/data] [--texts 300] [--before FOLDER] [--first 3] [--cards]
        [--tuned] [--json FILE]

Each model reads the first texts of a corpus with onnxruntime in float32 and int8 and with torch in float32 and bf16
(readers: not bf16). They take turns in one process with one thread; times are medians of process_time, and ratios are
to torch in float32. `changed` is the share of texts with another mention, fact or answer, whatever the scores, than
onnxruntime in float32. F1 is strict for mentions, by names for facts, of the types or relations that corpus and model
share: to compare rows, not to rank models. A reader answers the questions of XQuAD, each from its own passage and
three others; F1 is that of the words of its best answer.

`--tuned` measures whether int8 needs thresholds of its own instead: both precisions are fitted on every other text
(readers: on the questions about every other passage), and scored on those between, with the thresholds that ship and
with the fitted ones.

First answer: CPU time (user + system) and peak memory of `factpin extract -` for one English sentence, a fresh process
with all shipped models; `--models` without a name measures nothing else. `--before FOLDER` adds the same of an older
checkout, of which this is the folder src.

`--cards` writes the rows into the section "Precision" of each card.
"""

import argparse
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

sys.path.remove(str(Path(__file__).parent))  # or this file would be taken for the package onnx

import factpin
from factpin import formats
from factpin.answers.reader import Reading
from factpin.documents import Document, Question
from factpin.formats import questions
from factpin.models.extractor import Extractor
from factpin.models.readers import open_reader
from factpin.models.settings import read_settings
from factpin.models.shipped import find_model
from factpin.scoring.answers import figures
from factpin.training.reader_fit import best_readings, given_f1, judge
from factpin.training.reader_int8 import ReaderFit, halves

CORPORA = {  # of each model: path, format, names of the corpus -> those of the model
    "en-entities": ("wikigold/wikigold.conll.txt.xz", "conll", {
        "PER": "person", "ORG": "organization", "LOC": "location"}),
    "en-facts": ("redocred/dev_revised.json.xz", "docred", {}),
    "zh-entities": ("cluener/dev.json.xz", "cluener", {
        "name": "person", "address": "location", "scene": "location", "book": "work", "movie": "work", "game": "work",
        "company": "organization", "government": "organization", "position": "title"}),
    "zh-facts": ("duie/duie2_dev.json.xz", "duie", {}),
}  # fmt: skip
QUESTIONS = {"en-reader": "xquad/xquad.en.json.xz", "zh-reader": "xquad/xquad.zh.json.xz"}
OTHERS = 3  # passages of other questions that a reader is given
SIDES = (("onnx", "float32"), ("onnx", "int8"), ("torch", "float32"), ("torch", "bf16"))
ROUNDS = 3
SENTENCE = "Marie Curie was born in Warsaw."
HEADING, LAST = "## Precision", "Measured by `python benchmarks/onnx.py --cards`."  # of the section of a card


@dataclass(frozen=True)
class TuneOptions:
    """What a task's `tune` asks for."""

    tune_thresholds: bool = True


@dataclass(frozen=True)
class Row:
    """One model in one runtime and precision."""

    model: str
    runtime: str
    precision: str
    texts: int
    seconds: float
    speed: float  # times torch in float32
    changed: float  # share of texts
    f1: float | None


def found_in(doc: Document) -> tuple[object, ...]:
    """What is found, without scores."""
    at = {m.id: (m.start, m.end) for m in doc.mentions}
    facts = {(at.get(f.head_mention or ""), f.relation, at.get(f.tail_mention or "")) for f in doc.facts}
    return {(m.start, m.end, m.type) for m in doc.mentions}, facts


def read_questions(path: Path, count: int) -> list[Question]:
    """Questions from all over a set, each with its own passage and those of others."""
    known = list(questions.read(path))
    passages = list({q.context[0].text: q.context[0] for q in known}.values())
    chosen = known[:: max(1, len(known) // count)][:count]
    return [
        replace(q, context=(q.context[0], *[p for p in _from(passages, i * OTHERS) if p != q.context[0]][:OTHERS]))
        for i, q in enumerate(chosen)
    ]


def _from(passages: list[Document], start: int) -> list[Document]:
    """All passages, from one of them on."""
    start %= len(passages)
    return passages[start:] + passages[:start]


def measure_reader(name: str, data: Path, count: int) -> list[Row]:
    """All sides of a reader."""
    asked = read_questions(data / QUESTIONS[name], count)
    sides = [side for side in SIDES if side[1] != "bf16"]
    readers = [open_reader(find_model(name), runtime=runtime, precision=precision) for runtime, precision in sides]
    times: list[list[float]] = [[] for _ in sides]
    best: list[list[Reading | None]] = [[] for _ in sides]
    for _ in range(ROUNDS):
        for i, reader in enumerate(readers):
            began = time.process_time()
            best[i] = best_readings(reader, asked)
            times[i].append(time.process_time() - began)
    seconds = [statistics.median(one) for one in times]
    rows = []
    for i, (runtime, precision) in enumerate(sides):
        answers = [[r and (r.document, r.span, r.kind) for r in side] for side in (best[0], best[i])]
        changed = sum(a != b for a, b in zip(*answers, strict=True)) / len(asked)
        f1 = figures(judge(asked, best[i]))["f1"]
        speed = seconds[-1] / seconds[i]
        rows.append(Row(name, runtime, precision, len(asked), seconds[i], speed, changed, f1))
    return rows


def f1_of(documents: list[Document], gold: list[Document], names: dict[str, str], *, facts: bool) -> float | None:
    """F1 of mentions with a type, or facts with a relation, that corpus and model share."""

    def things(doc: Document, names: dict[str, str]) -> set[tuple[object, object, str]]:
        if facts:
            return {(f.head.name, f.tail.name, names.get(f.relation, f.relation)) for f in doc.facts}
        return {(m.start, m.end, names.get(m.type, m.type)) for m in doc.mentions}

    ours, theirs = [things(doc, {}) for doc in documents], [things(doc, names) for doc in gold]
    shared = {x[2] for doc in theirs for x in doc} & {x[2] for doc in ours for x in doc}
    ours, theirs = ([{x for x in doc if x[2] in shared} for doc in side] for side in (ours, theirs))
    right = sum(len(a & b) for a, b in zip(ours, theirs, strict=True))
    total = sum(map(len, ours)) + sum(map(len, theirs))
    return 2 * right / total if total else None


def read_gold(name: str, data: Path, texts: int) -> tuple[list[Document], dict[str, str]]:
    """The corpus of a model, and its names as the model has them."""
    path, format, names = CORPORA[name]
    if format == "docred":
        with lzma.open(data / "redocred/rel_info.json.xz", "rt", encoding="utf-8") as stream:
            names = {code: relation["name"] for code, relation in json.load(stream).items()}
    return [doc for doc, _ in zip(formats.read(data / path, format=format), range(texts), strict=False)], names


def measure(name: str, data: Path, texts: int) -> list[Row]:
    """All sides of one model."""
    gold, names = read_gold(name, data, texts)
    plain = [Document(doc.id, doc.text) for doc in gold]
    models = [Extractor.load(find_model(name), runtime=runtime, precision=precision) for runtime, precision in SIDES]
    times: list[list[float]] = [[] for _ in SIDES]
    found: list[list[Document]] = [[] for _ in SIDES]
    for _ in range(ROUNDS):
        for i, model in enumerate(models):
            began = time.process_time()
            found[i] = list(model.annotate(plain))
            times[i].append(time.process_time() - began)
    seconds = [statistics.median(one) for one in times]
    rows = []
    for i, (runtime, precision) in enumerate(SIDES):
        changed = sum(found_in(a) != found_in(b) for a, b in zip(found[0], found[i], strict=True)) / len(gold)
        f1 = f1_of(found[i], gold, names, facts=name.endswith("facts"))
        rows.append(Row(name, runtime, precision, len(gold), seconds[i], seconds[2] / seconds[i], changed, f1))
    return rows


def tuned(name: str, data: Path, texts: int) -> dict[str, float]:
    """F1 of float32 and int8 with the thresholds that ship, and with some that were fitted on other texts."""
    if name in QUESTIONS:
        dev, gold = halves(read_questions(data / QUESTIONS[name], texts))
        fit, found = ReaderFit.of(find_model(name)), {}
        for precision in ("float32", "int8"):
            reader = open_reader(find_model(name), runtime="onnx", precision=precision)
            found[f"{precision}, as shipped"] = given_f1(reader, gold, reader.settings)
            found[f"{precision}, fitted"] = given_f1(reader, gold, fit(reader, dev))
        return found
    documents, names = read_gold(name, data, texts)
    labels = set(read_settings(find_model(name)).labels)
    dev, gold = ([in_words_of(doc, names, labels) for doc in documents[start::2]] for start in (0, 1))
    plain, found = [Document(doc.id, doc.text) for doc in gold], {}
    for precision in ("float32", "int8"):
        model = Extractor.load(find_model(name), runtime="onnx", precision=precision)
        own = replace(model, settings=model.task.tune(model, dev, TuneOptions()))
        for how, one in (("as shipped", model), ("fitted", own)):
            f1 = f1_of(list(one.annotate(plain)), gold, {}, facts=name.endswith("facts"))
            found[f"{precision}, {how}"] = f1 or 0.0
    return found


def in_words_of(doc: Document, names: dict[str, str], labels: set[str]) -> Document:
    """A gold document with the types and relations of a model; what it does not know is left out."""
    mentions = [replace(m, type=names.get(m.type, m.type)) for m in doc.mentions]
    facts = [replace(f, relation=names.get(f.relation, f.relation)) for f in doc.facts]
    if not facts:
        mentions = [m for m in mentions if m.type in labels]
    return replace(doc, mentions=tuple(mentions), facts=tuple(f for f in facts if f.relation in labels))


def first_answer(words: list[str], source: Path, bytecode: str) -> tuple[float, float]:
    """CPU seconds and peak MiB of a fresh process that reads one sentence. Its modules are compiled, as pip does."""
    here = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
    command = [sys.executable, "-m", "factpin", "extract", "-", "--quiet", *words]
    with tempfile.TemporaryFile() as sentence:
        sentence.write(SENTENCE.encode())
        sentence.seek(0)
        process = subprocess.Popen(command, stdin=sentence, stdout=subprocess.DEVNULL, env={**os.environ, **here})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}.")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def first_answers(before: Path | None, count: int) -> dict[str, list[tuple[float, float]]]:
    """Of all sides, in turns; the first run of each compiles modules and does not count."""
    here = Path(factpin.__file__).parents[1]
    sides = {name: (["--runtime", name], here) for name in ("onnx", "torch")}
    if before:
        sides["before"] = ([], before)
    with tempfile.TemporaryDirectory() as bytecode:
        rounds = [
            {name: first_answer(words, source, bytecode) for name, (words, source) in sides.items()}
            for _ in range(1 + count)
        ]
    return {name: [one[name] for one in rounds[1:]] for name in sides}


def print_first(answers: dict[str, list[tuple[float, float]]]) -> None:
    """The medians and their ratios to onnxruntime."""
    print("| first answer | CPU s | peak MiB | times the CPU of onnx | times its memory |\n|---|---|---|---|---|")
    middle = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in answers.items()}
    for name, (cpu, peak) in middle.items():
        ratios = [value / base for value, base in zip((cpu, peak), middle["onnx"], strict=True)]
        print(f"| {name} | {cpu:.2f} | {peak:.0f} | {ratios[0]:.1f} | {ratios[1]:.2f} |")
    print(flush=True)


def section(rows: list[Row]) -> str:
    """The section of a card."""
    table = ["| runtime | precision | speed | F1 | texts that change |", "|---|---|---|---|---|"]
    for r in rows:
        f1 = "" if r.f1 is None else f"{r.f1:.4f}"
        table.append(f"| {r.runtime} | {r.precision} | {r.speed:.2f}x | {f1} | {r.changed:.1%} |")
    name, texts = rows[0].model, rows[0].texts
    about = "Speed is relative to torch in float32, on one thread; int8 has the thresholds of float32. "
    if name in QUESTIONS:
        about += (
            f"A text is a question, which changes if its best answer does. F1 is that of the best answer in its own "
            f"passage and {OTHERS} others ({QUESTIONS[name]}, {texts} questions)."
        )
    else:
        about += (
            f"A text changes if any mention or fact does. F1 is strict, of the labels that the corpus shares "
            f"({CORPORA[name][0]}, {texts} documents)."
        )
    about += f" {LAST}"
    return "\n".join([HEADING, "", *table, "", about, ""])


def write_card(rows: list[Row]) -> None:
    """Put the section into the card of a shipped model: over the old one, whose remarks stay, or before training."""
    card = find_model(rows[0].model) / "card.md"
    card.write_text(with_section(card.read_text(encoding="utf-8"), section(rows)), encoding="utf-8")


def with_section(text: str, new: str) -> str:
    """The text of a card with the new section."""
    before, heading, rest = text.partition(f"{HEADING}\n")
    if heading:
        _, last, after = rest.partition(f"{LAST}\n")
        if not last:
            raise SystemExit(f"The section {HEADING!r} of a card does not end with {LAST!r}.")
        return before + new + after
    at = text.find("## Training")
    at = len(text) if at < 0 else at
    return f"{text[:at].rstrip()}\n\n{new}\n{text[at:]}".rstrip() + "\n"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--models", nargs="*", default=[*CORPORA, *QUESTIONS])
    parser.add_argument("--cards", action="store_true", help="write the rows into the cards of the models")
    parser.add_argument("--before", type=Path, help="the folder src of an older checkout")
    parser.add_argument("--first", type=int, default=3, help="rounds of first answers")
    parser.add_argument("--skip-first", action="store_true", help="leave the first answer out")
    parser.add_argument("--tuned", action="store_true", help="only whether int8 needs thresholds of its own")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)
    if options.tuned:
        print(
            "| model | float32, as shipped | float32, fitted | int8, as shipped | int8, fitted |\n|---|---|---|---|---|"
        )
        for name in options.models:
            f1s = tuned(name, options.data, options.texts)
            print(f"| {name} | {' | '.join(f'{value:.4f}' for value in f1s.values())} |", flush=True)
        return
    answers = {} if options.skip_first else first_answers(options.before, options.first)
    if answers:
        print_first(answers)
    print("| model | runtime | precision | speed | F1 | texts that change |\n|---|---|---|---|---|---|", flush=True)
    everything: list[Row] = []
    for name in options.models:
        rows = (measure_reader if name in QUESTIONS else measure)(name, options.data, options.texts)
        for r in rows:
            f1 = "" if r.f1 is None else f"{r.f1:.4f}"
            print(f"| {r.model} | {r.runtime} | {r.precision} | {r.speed:.2f}x | {f1} | {r.changed:.1%} |", flush=True)
        if options.cards:
            write_card(rows)
        everything += rows
        if options.json:
            record = {"first_answer": answers, "rows": [asdict(row) for row in everything]}
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
