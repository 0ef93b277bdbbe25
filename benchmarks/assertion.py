"""Assertion status on minimal pairs: accuracy, F1 by status, accuracy by kind, in both languages.

Cues and scopes were developed on `dev`, `dev2` and `dev3`; for the other parts only the total is reported. The table
shows the score of the first run on a part next to the current one, because a part is no longer held out once its
constructions are known:

    dev, held    pairs with odd and even numbers and no part: written together, before the first cues
    dev2, held2  written together; held2 was scored before its constructions had cues, so its current score is too high
    held3        other constructions, written after the cues of dev2, without cues written for them since: the score to
                 expect on new constructions
    dev3         constructions that users missed, written together with their cues; the first score is without them

The sentences are short. Running text is harder, and there false positives matter as much as misses. `--text` reads such
text instead and shows the share of each status over random pairs of names, with examples.

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
from factpin.language.assertion import assertion
from factpin.language.sentences import split_sentences

Case = dict[str, Any]
PAIRS = Path(__file__).parent.parent / "tests" / "tasks"
PARTS = ("dev", "held", "dev2", "held2", "dev3", "held3")
FIRST = {  # accuracy when a part was scored for the first time: (en, zh)
    "held": (0.977, 1.0),
    "held2": (0.693, 0.698),
    "dev3": (0.600, 0.550),
    "held3": (0.700, 0.733),
}
_NAME = re.compile(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*|[\u4e00-\u9fff]{2,4}")


def read_cases(language: str) -> list[Case]:
    lines = (PAIRS / f"minimal_pairs_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def part_of(case: Case) -> str:
    return case.get("part", "dev" if case["pair"] % 2 else "held")


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
    first = f"; first measured {FIRST[part][language == 'zh']:.1%}" if part in FIRST else ""
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
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    console = Console()
    if options.text:
        running_text(console, options.text, options.size, options.show)
        return
    for language in ("en", "zh"):
        for part in PARTS if options.part == "all" else (options.part,):
            score(console, language, part)


if __name__ == "__main__":
    main()
