"""Choose for each relation the score from which on `factpin extract` shows its facts, and make it 0.5.

    python recipes/show_facts_from.py src/factpin/shipped/zh-facts runs/data/zh-facts/dev.jsonl.xz --with zh-entities \
        --right 0.81

What counts is what `extract` shows in the end, with a model of entities and all rules of extraction/. Facts are counted
as in judge_facts.py. A relation is shown from the score on at which a further fact is still likely enough to be right;
that likelihood is the same for all relations. Of relations with few facts little is known, so the likelihood at their
scores leans on that of all relations together: as many facts of all relations as `together` says count beside those of
the relation. Both numbers are chosen by cross-validation over documents (FOLDS): with them, most right facts are shown
while --right of all that is shown is right, in documents that the scores were not chosen on. The shift of each relation
in factpin.json then moves its score to 0.5. --at moves the scores of some relations that were chosen otherwise, and
reads no gold:

    python recipes/show_facts_from.py src/factpin/shipped/zh-facts --at 主演=0.42 作者=0.38
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from _prepare_facts import read_table
from judge_facts import claims, is_annotated

import factpin
from factpin.documents import Document
from factpin.extraction.extract import extract
from factpin.formats import read
from factpin.models.checks import list_graph, write_sums
from factpin.models.settings import Settings, read_settings, settings_bytes, write_settings

FOLDS = 5
TOGETHER = (20.0, 60.0, 200.0, 1e9)
LOWEST, HIGHEST = 0.2, 0.8  # a score that becomes 0.5
DEFAULT = 0.5


class Outcome(NamedTuple):
    """A fact that `extract` finds: its score, and whether gold has it."""

    score: float
    right: bool
    document: int


def outcomes(models: Sequence[str], gold: Sequence[Document], language: str) -> dict[str, list[Outcome]]:
    """What is found in the texts of annotated documents, by relation; only relations that are annotated count."""
    table = read_table(language)
    bare = [Document(doc.id, doc.text, doc.language) for doc in gold]
    found: dict[str, list[Outcome]] = defaultdict(list)
    guesses = extract(bare, [factpin.load(model) for model in models], min_score=0.0)
    for i, (doc, guess) in enumerate(zip(gold, guesses, strict=True)):
        truth = claims(doc, table)
        for claim in claims(guess, table):
            if is_annotated(doc, claim):
                found[claim.relation].append(Outcome(claim.score, any(claim.agrees(other) for other in truth), i))
    return found


def rising(values: Sequence[float]) -> list[float]:
    """The closest sequence that never falls (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            total, count = total + blocks[-1][0], count + blocks[-1][1]
            blocks.pop()
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]


def cut_of(facts: Sequence[Outcome], expected: Sequence[float], least: float, together: float) -> float:
    """The score from which on a further fact is right with at least this likelihood, on the whole.

    expected: the likelihood at the score of each fact, over all relations.
    """
    own = len(facts) / (len(facts) + together)
    gains = [own * fact.right + (1 - own) * usual - least for fact, usual in zip(facts, expected, strict=True)]
    order = np.argsort([-fact.score for fact in facts], kind="stable")
    sums = np.cumsum([gains[i] for i in order])
    best = int(np.argmax(sums))
    if sums[best] <= 0:
        return HIGHEST
    return min(HIGHEST, max(LOWEST, facts[int(order[best])].score))


def cuts(found: dict[str, list[Outcome]], least: float, together: float, only: Collection[str]) -> dict[str, float]:
    """The score from which on each relation is shown, or only these relations."""
    every = sorted(fact for facts in found.values() for fact in facts)
    scores, likely = [fact.score for fact in every], rising([float(fact.right) for fact in every])
    return {
        relation: cut_of(facts, np.interp([fact.score for fact in facts], scores, likely).tolist(), least, together)
        for relation, facts in sorted(found.items())
        if not only or relation in only
    }


def shown(found: dict[str, list[Outcome]], at: dict[str, float]) -> tuple[int, int]:
    """How many facts are shown, and how many of them are right."""
    kept = [fact for relation, facts in found.items() for fact in facts if fact.score >= at.get(relation, DEFAULT)]
    return len(kept), sum(fact.right for fact in kept)


def part(found: dict[str, list[Outcome]], fold: int, *, inside: bool) -> dict[str, list[Outcome]]:
    """The facts of the documents of a fold, or those of all others."""
    kept = {relation: [f for f in facts if (f.document % FOLDS == fold) == inside] for relation, facts in found.items()}
    return {relation: facts for relation, facts in kept.items() if facts}


def held_out(found: dict[str, list[Outcome]], least: float, together: float, only: Collection[str]) -> tuple[int, int]:
    """How many facts are shown and right with cuts that other documents gave."""
    counts = [
        shown(part(found, fold, inside=True), cuts(part(found, fold, inside=False), least, together, only))
        for fold in range(FOLDS)
    ]
    return sum(count for count, _ in counts), sum(right for _, right in counts)


def choose(found: dict[str, list[Outcome]], share: float, only: Collection[str]) -> dict[str, float]:
    """The cuts with the numbers that show most right facts, of those with which this share of all is right."""
    tried = {
        (float(least), together): held_out(found, float(least), together, only)
        for least in np.arange(0.3, 0.95, 0.01)
        for together in TOGETHER
    }
    good = {numbers: right for numbers, (count, right) in tried.items() if count and right >= share * count}
    if not good:
        raise SystemExit(f"No likelihood makes {share:.0%} right.")
    best = max(good, key=lambda numbers: good[numbers])
    count, right = tried[best]
    print(f"likelihood {best[0]:.2f}, together {best[1]:g}: {count} facts shown where held out, {right} of them right")
    return cuts(found, *best, only)


def shifted(settings: Settings, at: dict[str, float]) -> Settings:
    """The settings with scores that are 0.5 where they were at these cuts."""
    own = settings.task_config
    shifts = dict(own.get("shifts", {}))
    for relation, cut in at.items():
        shifts[relation] = round(shifts.get(relation, 0.0) + settings.temperature * log(cut / (1 - cut)), 4)
    return replace(settings, task_config={**own, "shifts": dict(sorted(shifts.items()))})


def store(settings: Settings, folder: Path) -> None:
    """Write the settings of a model folder and the digests of its files."""
    write_sums(folder, settings_bytes(settings))
    list_graph(folder)
    write_settings(settings, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a model folder of the task triples")
    parser.add_argument("gold", type=Path, nargs="?", help="annotated documents")
    parser.add_argument("--with", dest="entities", help="the model of entities that works beside it")
    parser.add_argument("--sources", nargs="+", default=[], help="only documents of these sources")
    parser.add_argument("--only", nargs="+", default=[], metavar="RELATION", help="leave other relations as they are")
    parser.add_argument("--right", type=float, default=0.8)
    parser.add_argument("--try", dest="dry", action="store_true", help="write nothing")
    parser.add_argument("--at", nargs="+", default=[], metavar="RELATION=SCORE", help="move these scores to 0.5")
    options = parser.parse_args()
    settings = read_settings(options.model)
    if options.at:
        at = {name: float(score) for name, _, score in (one.rpartition("=") for one in options.at)}
        store(shifted(settings, at), options.model)
        mark_card(options.model, sorted(at))
        return
    if options.gold is None or options.entities is None:
        parser.error("annotated documents and --with are missing; or give --at")
    gold = [doc for doc in read(options.gold, format="jsonl")
            if not options.sources or doc.meta["source"] in options.sources]  # fmt: skip
    found = outcomes([options.entities, str(options.model)], gold, settings.language)
    at = choose(found, options.right, options.only)
    for name, chosen in (("before", {}), ("now", at)):
        count, right = shown(found, chosen)
        print(f"{name}: {count} facts are shown, {right} of them right ({right / max(1, count):.1%})")
    if not options.dry:
        store(shifted(settings, at), options.model)
        mark_card(options.model, options.only)
    print(", ".join(f"{relation} {cut:.2f}" for relation, cut in at.items()))


def mark_card(folder: Path, only: Sequence[str]) -> None:
    """Say in the card that scores were shifted; a table of reliability that no longer holds goes."""
    card = (folder / "card.md").read_text(encoding="utf-8")
    if only:
        note = f"The scores of {', '.join(only)} were shifted after that (`python recipes/show_facts_from.py`).\n\n"
        marked = card if note in card else card.replace("## Training\n", f"{note}## Training\n", 1)
    else:
        note = (
            "## Calibration\n\nThe score of each relation is shifted so that facts are shown from 0.5 on "
            "(`python recipes/show_facts_from.py`): scores order facts and say from where on they are shown; they are "
            "no longer fitted as probabilities.\n\n"
        )
        marked = re.sub(r"## Calibration\n.*?(?=## Training)", note, card, flags=re.S)
        (folder / "reliability.svg").unlink(missing_ok=True)
    (folder / "card.md").write_text(marked, encoding="utf-8")


if __name__ == "__main__":
    main()
