"""Assertion status on minimal pairs: accuracy, F1 by status, accuracy by kind, in both languages.

Pairs of odd number are `dev`: cues and scopes were developed on them. Pairs of even number are `held`: scored by their
total only. The table prints the held score of the very first run next to today's, since a held set that has been looked
at often is held no longer. Both halves were written together, short and before the cues, so they are an upper bound:
running text is harder, and there false alarms matter as much as misses. `--text` reads such text instead and shows the
share of each status over random pairs of names, with examples for the eye.

    python benchmarks/assertion.py
    python benchmarks/assertion.py --part held
    python benchmarks/assertion.py --text some.txt --show 20
"""

import argparse
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from factpin.documents.nouns import ASSERTIONS
from factpin.documents.sentences import split_sentences
from factpin.tasks.assertion import assertion

Case = dict[str, Any]
PAIRS = Path(__file__).parent.parent / "tests" / "tasks"
FIRST_HELD = {"en": 0.977, "zh": 1.0}  # accuracy on held when it was scored for the first time
_NAME = re.compile(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*|[\u4e00-\u9fff]{2,4}")


def read_cases(language: str) -> list[Case]:
    lines = (PAIRS / f"minimal_pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def part_of(case: Case) -> str:
    return "dev" if case["pair"] % 2 else "held"


def judge(case: Case, language: str) -> str:
    text = case["text"]
    return assertion(text, (0, len(text)), tuple(case["head"]), tuple(case["tail"]), language).status


def accuracy(right: list[bool]) -> float:
    return sum(right) / max(1, len(right))


def f1(gold: list[str], found: list[str], status: str) -> float:
    both = sum(g == f == status for g, f in zip(gold, found, strict=True))
    total = gold.count(status) + found.count(status)
    return 2 * both / total if total else float("nan")


def score(console: Console, language: str, part: str) -> None:
    cases = [case for case in read_cases(language) if part_of(case) == part]
    gold = [case["status"] for case in cases]
    found = [judge(case, language) for case in cases]
    right = [g == f for g, f in zip(gold, found, strict=True)]
    pairs = {case["pair"] for case in cases}
    wrong = {case["pair"] for case, ok in zip(cases, right, strict=True) if not ok}
    first = f"; first measured {FIRST_HELD[language]:.1%}" if part == "held" else ""
    whole = 1 - len(wrong) / len(pairs)
    title = f"{language} {part}: {accuracy(right):.1%} of {len(cases)}, both of a pair {whole:.1%}"
    table = Table(title=title + first)
    for column in ("status", "F1", "gold", "found"):
        table.add_column(column)
    for status in ASSERTIONS:
        count = (str(gold.count(status)), str(found.count(status)))
        table.add_row(status, f"{f1(gold, found, status):.3f}", *count)
    console.print(table)
    kinds: dict[str, list[bool]] = {}
    for case, ok in zip(cases, right, strict=True):
        kinds.setdefault(case["kind"], []).append(ok)
    console.print(" · ".join(f"{kind} {sum(ok)}/{len(ok)}" for kind, ok in kinds.items()))


def running_text(console: Console, path: Path, size: int, show: int) -> None:
    """Random pairs of names, one pair a sentence; shown by status for the eye."""
    chance = random.Random(7)
    text = path.read_text(encoding="utf-8")
    sentences = split_sentences(text)
    chance.shuffle(sentences)
    shares: Counter[str] = Counter()
    for start, end in sentences:
        names = [match.span() for match in _NAME.finditer(text, start, end)]
        if len(names) < 2 or shares.total() >= size:
            continue
        head, tail = sorted(chance.sample(names, 2))
        status = assertion(text, (start, end), head, tail)
        shares[status.status] += 1
        if status.cue and shares[status.status] <= show:
            cue = text[status.cue.start : status.cue.end]
            named = f"{text[slice(*head)]} | {text[slice(*tail)]}"
            console.print(
                f"{status.status} <{cue}> ({named}) {text[start:end].strip()}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
    console.print({status: f"{count / max(1, shares.total()):.1%}" for status, count in shares.most_common()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("dev", "held", "both"), default="both")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    console = Console()
    if options.text:
        running_text(console, options.text, options.size, options.show)
        return
    for language in ("en", "zh"):
        for part in ("dev", "held") if options.part == "both" else (options.part,):
            score(console, language, part)


if __name__ == "__main__":
    main()
