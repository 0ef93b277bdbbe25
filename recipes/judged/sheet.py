"""Sheets for judges: what several versions find in the same passages, pooled so that judges cannot tell them apart.

    python recipes/judged/sheet.py make "old=PYTHONPATH=../old/src python -m factpin" "new=python -m factpin" \
        --output runs/judged/sheets
    python recipes/judged/sheet.py score runs/judged/sheets first.md second.md

`make` runs `VERSION extract --to jsonl --quiet` on the bare texts and writes `sheet.md`, which goes to the judges, and
`key.jsonl`, which does not. A judge fills the last column with right, wrong or unsure, or hands in lines such as
`12 right`. `score` prints how far two judges agree and how many of the entities and facts of each version are right,
and puts the table into README.md.

An entity is a text with a type, counted once in a passage; pronouns are left out. A fact is counted once by the names
of its entities, its relation and its assertion. Types of all versions are shown in one vocabulary.
"""

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from factpin import files
from factpin.errors import BadInput

HERE = Path(__file__).parent
SEED = 24
VERDICTS = ("right", "wrong", "unsure")
LANGUAGES = {"en": "English", "zh": "Chinese"}
KINDS = {"entity": "Entities", "fact": "Facts"}
PRONOUN = re.compile(
    r"(?:i|me|my|we|us|our|you|your|he|him|his|she|hers?|its?|they|them|their|who|whom|whose|which|that|this|these|"
    r"those|(?:him|her|it)self|themselves|[我你您他她它](?:们|們)?|其|自己|本人|该|此|这|那)",
    re.I,
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
ROW = re.compile(r"\|\s*(\d+)\s*\|.*\|([^|]*)\|\s*")
LINE = re.compile(r"(\d+)[\s:,.]+(\w+)\s*")
MARKS = ("<!-- figures -->", "<!-- end of figures -->")
GUIDE = """\
# Judgements

Judge each row by the text above it alone and write right, wrong or unsure into its last column.

- An entity is right if its borders are right (a whole name, title, date or number, nothing more) and its type fits.
- A fact is right if a careful reader concludes it from the text: relation, direction and both ends. "asserted" means
  that the text says so, "negated" that it denies it, any other word that it is possible, planned, reported or the like.
- Types: person; organization; location (countries, cities, buildings, landscapes); date; number (amounts, ages, sums of
  money); work (books, films, songs, games, laws); title (offices and professions); other (anything else with a name:
  events, peoples, languages, products, awards, …).
- Do not look anything up, and do not write unsure where you can decide.
"""


@dataclass(frozen=True, order=True)
class Item:
    """Something a version found: an entity (text, type) or a fact (head, relation, tail, assertion)."""

    kind: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A numbered row of a sheet, with the versions that found it."""

    number: int
    passage: str
    language: str
    kind: str
    cells: tuple[str, ...]
    versions: tuple[str, ...]


def main() -> None:
    """Make a sheet, or score two filled ones."""
    parser = argparse.ArgumentParser(description="Make sheets for judges, and score them.")
    commands = parser.add_subparsers(dest="command", required=True)
    maker = commands.add_parser("make", help="run versions on the passages and write a sheet")
    maker.add_argument("versions", nargs="+", metavar="NAME=COMMAND", help="how a version is called")
    maker.add_argument("--passages", type=Path, default=HERE / "passages.jsonl")
    maker.add_argument("--only", choices=("entity", "fact"), help="leave out rows of the other kind")
    maker.add_argument("--output", type=Path, required=True)
    scorer = commands.add_parser("score", help="score two filled sheets")
    scorer.add_argument("folder", type=Path, help="what make wrote")
    scorer.add_argument("sheets", type=Path, nargs=2, metavar="SHEET")
    scorer.add_argument("--readme", type=Path, default=HERE / "README.md")
    options = parser.parse_args()
    if options.command == "make":
        print(make(options.versions, options.passages, options.output, options.only))
    else:
        print(score(options.folder, options.sheets, options.readme))


# ---- making a sheet -------------------------------------------------------------------------------------------------


def make(versions: Sequence[str], passages: Path, output: Path, only: str | None = None) -> str:
    """Run the versions and write the sheet, its key and what each version found."""
    docs = [json.loads(line) for _, line in files.lines(passages)]
    output.mkdir(parents=True, exist_ok=True)
    bare = output / "texts.jsonl"
    bare.write_text("".join(_line({"id": doc["id"], "text": doc["text"]}) for doc in docs), "utf-8")
    found: dict[str, dict[str, list[Item]]] = {}
    for version in versions:
        name, _, command = version.partition("=")
        if not name or not command:
            raise BadInput(
                f"version {version!r} has no command; expected NAME=COMMAND, such as new='python -m factpin'."
            )
        records = run(command, bare)
        (output / f"{name}.jsonl").write_text("".join(map(_line, records)), "utf-8")
        found[name] = {
            record["id"]: [item for item in items(record) if only in (None, item.kind)] for record in records
        }
    entries = pool(docs, found)
    (output / "key.jsonl").write_text("".join(_line(asdict(entry)) for entry in entries), "utf-8")
    (output / "sheet.md").write_text(render(docs, entries), "utf-8")
    return f"{len(entries)} rows in {output / 'sheet.md'}"


def run(command: str, texts: Path) -> list[dict[str, Any]]:
    """What one version extracts from the texts with its defaults."""
    words, environment = shlex.split(command), dict(os.environ)
    while words and ASSIGNMENT.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    words += ["extract", str(texts), "--to", "jsonl", "--quiet"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise BadInput(f"{shlex.join(words)} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


def items(record: Mapping[str, Any]) -> list[Item]:
    """The entities and facts of a document, each once."""
    mentions = {m["id"]: m for m in record.get("mentions", ())}
    names = {e["id"]: entity_name(e, mentions) for e in record.get("entities", ())}
    found = {
        Item("entity", (tidy(m["text"]), common_type(m.get("type", ""))))
        for m in mentions.values()
        if not PRONOUN.fullmatch(m["text"])
    }
    for fact in record.get("facts", ()):
        cells = (names[fact["head"]], fact["relation"], names[fact["tail"]], fact.get("assertion") or "asserted")
        found.add(Item("fact", cells))
    return sorted(found)


def entity_name(entity: Mapping[str, Any], mentions: Mapping[str, Mapping[str, Any]]) -> str:
    """The name of an entity: the one it has, or else its longest mention."""
    texts = [mentions[id]["text"] for id in entity["mentions"]]
    return tidy(entity.get("name") or max(texts, key=lambda text: (not PRONOUN.fullmatch(text), len(text))))


@cache
def common_type(type: str) -> str:
    """The type in the vocabulary of the shipped models; types that no table knows are `other`."""
    return type if type in _tables()[0] else _tables()[1].get(type, "other")


@cache
def _tables() -> tuple[frozenset[str], dict[str, str]]:
    entities = tomllib.loads((HERE.parent / "entity_types.toml").read_text("utf-8"))
    relations = tomllib.loads((HERE.parent / "relations.toml").read_text("utf-8"))
    labels = {**relations["types"]["duie"], **entities["cluener"]["labels"], **entities["docred"]["labels"]}
    return frozenset(entities["types"]), labels


def tidy(text: str) -> str:
    """A text as one cell of a table."""
    return " ".join(text.replace("|", "/").split())


def pool(docs: Iterable[Mapping[str, Any]], found: Mapping[str, Mapping[str, Sequence[Item]]]) -> list[Entry]:
    """The items of all versions under running numbers: each once, shuffled, entities before facts."""
    entries: list[Entry] = []
    draw = random.Random(SEED)
    for doc in docs:
        finders: dict[Item, set[str]] = defaultdict(set)
        for version, by_passage in found.items():
            for item in by_passage.get(doc["id"], ()):
                finders[item].add(version)
        mixed = draw.sample(sorted(finders), len(finders))
        for item in sorted(mixed, key=lambda item: item.kind):
            row = (doc["id"], doc["language"], item.kind, item.cells, tuple(sorted(finders[item])))
            entries.append(Entry(len(entries) + 1, *row))
    return entries


def render(docs: Sequence[Mapping[str, Any]], entries: Iterable[Entry]) -> str:
    """The sheet as judges get it."""
    rows: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        rows[entry.passage][entry.kind].append(f"| {entry.number} | {' | '.join(entry.cells)} | |")
    heads = {"entity": "| no. | entity | type | verdict |\n|---:|---|---|---|",
             "fact": "| no. | head | relation | tail | assertion | verdict |\n|---:|---|---|---|---|---|"}  # fmt: skip
    parts = [GUIDE]
    for i, doc in enumerate(docs, 1):
        if not rows[doc["id"]]:
            continue
        parts.append(f"## Passage {i}\n\n> {' '.join(doc['text'].split())}\n")
        parts += ["\n".join((heads[kind], *lines)) + "\n" for kind, lines in rows[doc["id"]].items()]
    return "\n".join(parts)


# ---- scoring --------------------------------------------------------------------------------------------------------


def score(folder: Path, sheets: Sequence[Path], readme: Path) -> str:
    """Agreement and shares as markdown, which also replaces the figures of the README."""
    entries = [_entry(json.loads(line)) for _, line in files.lines(folder / "key.jsonl")]
    first, second = (verdicts(sheet, entries) for sheet in sheets)
    report = f"{agreement(first, second)}\n\n{figures(entries, first, second)}"
    text = readme.read_text("utf-8")
    before, opened, rest = text.partition(MARKS[0])
    _, closed, after = rest.partition(MARKS[1])
    if not opened or not closed:
        raise BadInput(f"{readme} has no place for the figures; expected the lines {MARKS[0]} and {MARKS[1]}.")
    readme.write_text(f"{before}{MARKS[0]}\n{report}\n{MARKS[1]}{after}", "utf-8")
    return report


def verdicts(sheet: Path, entries: Sequence[Entry]) -> dict[int, str]:
    """The verdict of each row of a filled sheet, or of its lines `12 right`."""
    found: dict[int, str] = {}
    for _, line in files.lines(sheet):
        row = ROW.fullmatch(line.strip()) or LINE.fullmatch(line.strip())
        if row and row[2].strip():
            found[int(row[1])] = row[2].strip().lower()
    bad = sorted(number for number, verdict in found.items() if verdict not in VERDICTS)
    if bad:
        raise BadInput(f"{sheet}: row {bad[0]} says {found[bad[0]]!r}; expected one of {', '.join(VERDICTS)}.")
    missing = [entry.number for entry in entries if entry.number not in found]
    if missing:
        raise BadInput(f"{sheet}: {len(missing)} rows have no verdict, the first is {missing[0]}. Fill them in.")
    return found


def agreement(first: Mapping[int, str], second: Mapping[int, str]) -> str:
    """How often two judges say the same, and Cohen's kappa."""
    same = sum(first[number] == second[number] for number in first) / max(1, len(first))
    shares = [[list(one.values()).count(verdict) / max(1, len(one)) for verdict in VERDICTS] for one in (first, second)]
    chance = sum(a * b for a, b in zip(*shares, strict=True))
    kappa = (same - chance) / (1 - chance) if chance < 1 else 1.0
    return f"Rows: {len(first)}. Both judges say the same of {same:.1%} (Cohen's kappa {kappa:.2f})."


def figures(entries: Sequence[Entry], first: Mapping[int, str], second: Mapping[int, str]) -> str:
    """A row for each version, language and kind: how many were shown, and the share that is right."""
    lines = [
        "| version | language | kind | shown | right: both judges | right: at least one |",
        "|---|---|---|---:|---:|---:|",
    ]
    versions = sorted({version for entry in entries for version in entry.versions})
    for kind, title in KINDS.items():
        for language, spoken in (*LANGUAGES.items(), ("", "both")):
            for version in versions:
                shown = [
                    e for e in entries if e.kind == kind and version in e.versions and language in (e.language, "")
                ]
                votes = [(first[e.number] == "right") + (second[e.number] == "right") for e in shown]
                both, either = (_share(sum(vote >= least for vote in votes), len(votes)) for least in (2, 1))
                lines.append(f"| {version} | {spoken} | {title.lower()} | {len(shown)} | {both} | {either} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})" if whole else "-"


def _entry(record: Mapping[str, Any]) -> Entry:
    return Entry(**{**record, "cells": tuple(record["cells"]), "versions": tuple(record["versions"])})


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
