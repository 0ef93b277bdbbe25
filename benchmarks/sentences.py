"""Compare sentence splitters: factpin, pysbd and, if it is installed, syntok.

Reads the gold set of the tests, prints the share of cases split exactly right and boundary F1 by language, part and
kind, and the speed of each in one interleaved run. Conventions matter in the first table, above all for quotations: the
gold set follows those in factpin/language/sentences.py, which the others do not claim to follow.

    python benchmarks/sentences.py
"""

import argparse
import importlib
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from factpin.language.sentences import split_sentences

Splitter = Callable[[str, str], list[str]]  # (text, language) -> sentences
Case = dict[str, Any]
DEFAULT_GOLD = Path(__file__).parent.parent / "tests" / "documents" / "hard_sentences.jsonl"


def with_factpin(text: str, _language: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def pysbd_splitter() -> Splitter:
    pysbd = importlib.import_module("pysbd")
    segmenters = {name: pysbd.Segmenter(language=name, clean=False) for name in ("en", "zh")}

    def split(text: str, language: str) -> list[str]:
        return list(segmenters["en" if language == "en" else "zh"].segment(text))

    return split


def syntok_splitter() -> Splitter:
    segmenter = importlib.import_module("syntok.segmenter")

    def split(text: str, _language: str) -> list[str]:
        return [
            text[sentence[0].offset : sentence[-1].offset + len(sentence[-1].value)]
            for paragraph in segmenter.analyze(text)
            for sentence in paragraph
        ]

    return split


def splitters() -> dict[str, Splitter]:
    found: dict[str, Splitter] = {"factpin": with_factpin}
    for name, make in (("pysbd", pysbd_splitter), ("syntok", syntok_splitter)):
        if importlib.util.find_spec(name):
            found[name] = make()
    return found


def boundaries(sentences: list[str]) -> set[int]:
    """Inner boundaries counted in visible characters, so that white space at the seams is no difference."""
    ends: set[int] = set()
    at = 0
    for sentence in sentences:
        at += sum(not (character.isspace() or character in "\u200b\ufeff") for character in sentence)
        ends.add(at)
    return ends - {0, at}


def score(cases: list[Case], split: Splitter) -> tuple[float, float]:
    """Share of cases with every boundary right, and F1 over all inner boundaries."""
    exact = hit = found = wanted = 0
    for case in cases:
        gold, ours = boundaries(case["sentences"]), boundaries(split(case["text"], case["language"]))
        exact += gold == ours
        hit += len(gold & ours)
        found += len(ours)
        wanted += len(gold)
    return exact / len(cases), 2 * hit / max(1, found + wanted)


def quality_table(cases: list[Case], candidates: dict[str, Splitter]) -> Table:
    table = Table(title="exactly right / boundary F1, in percent")
    for column in ("cases", "n", *candidates):
        table.add_column(column, justify="left" if column == "cases" else "right")
    parts: dict[str, list[Case]] = {"all": cases}
    parts["tuned on"] = [case for case in cases if not case.get("held")]
    parts["held back"] = [case for case in cases if case.get("held")]
    for key in ("language", "kind"):
        for value in sorted({case[key] for case in cases}):
            parts[f"{key} {value}"] = [case for case in cases if case[key] == value]
    for name, part in parts.items():
        cells = [score(part, split) for split in candidates.values()]
        row = [f"{100 * exact:.1f} / {100 * f1:.1f}" for exact, f1 in cells]
        table.add_row(name, str(len(part)), *row, end_section=name in ("held back", "language zh"))
    return table


def speed_table(cases: list[Case], candidates: dict[str, Splitter], *, characters: int, rounds: int) -> Table:
    """Each round gives every splitter the same piece in turn, so that a busy machine slows all alike."""
    everything = "\n\n".join(case["text"] for case in cases)
    text = ("\n\n".join([everything] * (1 + characters // len(everything))))[:characters]
    spent = dict.fromkeys(candidates, 0.0)
    for _ in range(rounds):
        for name, split in candidates.items():
            began = time.perf_counter()
            split(text, "mixed")
            spent[name] += time.perf_counter() - began
    table = Table(title=f"speed on {len(text)} characters of mixed text, {rounds} interleaved rounds")
    for column in ("splitter", "characters/s", "of factpin"):
        table.add_column(column, justify="left" if column == "splitter" else "right")
    for name, seconds in spent.items():
        table.add_row(name, f"{rounds * len(text) / seconds:,.0f}", f"{spent['factpin'] / seconds:.3f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, default=DEFAULT_GOLD, help="JSONL with text, sentences, kind, language")
    parser.add_argument("--characters", type=int, default=20_000, help="length of the text for the speed table")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cases = [json.loads(line) for line in options.gold.read_text(encoding="utf-8").split("\n") if line]
    candidates = splitters()
    console = Console()
    console.print(quality_table(cases, candidates))
    console.print(speed_table(cases, candidates, characters=options.characters, rounds=options.rounds))
    for name in {"pysbd", "syntok"} - set(candidates):
        console.print(f"{name} is not installed and was left out: pip install {name}")


if __name__ == "__main__":
    main()
