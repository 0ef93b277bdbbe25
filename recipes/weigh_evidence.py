"""Fit how much the features of extraction/evidence.py say about the facts of a model, and store the weights in it.

    python recipes/weigh_evidence.py src/factpin/shipped/zh-facts runs/data/zh-facts/dev.jsonl.xz --with zh-entities
    python recipes/weigh_evidence.py src/factpin/shipped/en-facts runs/data/en-facts/dev.jsonl.xz --with en-entities \
        --least 0.76

The facts are those that `extract` finds in dev, where gold says which are right, and in the passages of judged/dev,
where a reader said so (dev/facts.jsonl). Gold is not complete, so one of its facts counts half; what a definition
states (definitions.py) has a score of its own and does not count. A logistic regression with a small penalty gives each
fact a likelihood; --least becomes the score 0.5, from which on facts are shown. Before it stores anything it prints,
for each set of passages, what weights that were fitted on all other sets show there. The scores of the model must be
those of show_facts_from.py.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "judged"))

import numpy as np
from _prepare_facts import Table, read_table
from judge_facts import Claim, claims, is_annotated
from sheet import tidy
from show_facts_from import DEFAULT, store

import factpin
from factpin import files
from factpin.documents import Document
from factpin.extraction.definitions import define
from factpin.extraction.evidence import LEAST, features
from factpin.extraction.extract import Team, find, functional_relations, link, loose, merge
from factpin.extraction.scene import Scene
from factpin.extraction.settle import settle
from factpin.formats import read
from factpin.models.settings import read_settings

HERE = Path(__file__).parent / "judged" / "dev"
PENALTY = {"shift": 0.01, "score": 0.3}
OTHERS = 2.0
GOLD, READ = 0.5, 1.0  # how much a fact counts
CAUTION = {
    "made": 0.4
}  # taken off: gold has none of these relations, and of 29 facts just above the cut, 20 were right


class Outcome(NamedTuple):
    """A fact that `extract` finds: its features, and whether it is right."""

    found: dict[str, float]
    score: float
    right: bool
    group: str  # the set it is from; "" for corpora


class Found(NamedTuple):
    """What the models find in a text before scores are corrected."""

    doc: Document
    places: set[tuple[int, int, str]]  # where only a fact needs a mention


def find_facts(documents: Sequence[Document], names: Sequence[str], language: str) -> Iterator[Found]:
    """The settled facts of texts in a language, with the scores of the model."""
    models = [factpin.load(name) for name in names]
    team = Team.of(models)
    functional = {name for model in models for name in functional_relations(model.settings)}
    routes, results = find([Document(doc.id, doc.text, doc.language) for doc in documents], team.finders)
    merged = [merge(*one, {language}) for one in zip(documents, routes, results, strict=True)]
    for doc, by_task in zip(link(merged, team), results, strict=True):
        yield Found(settle(doc, functional), loose(by_task, team.finders))


def of_gold(documents: Sequence[Document], names: Sequence[str], language: str) -> Iterator[Outcome]:
    """The facts found in annotated documents; only relations that are annotated count."""
    table: Table = read_table(language)
    for gold, (doc, places) in zip(documents, find_facts(documents, names, language), strict=True):
        scene, truth = Scene.of(doc), claims(gold, table)
        for fact in doc.facts:
            (claim,) = claims(replace(doc, facts=(fact,)), table) or (Claim(frozenset(), "", frozenset()),)
            if claim.relation and is_annotated(gold, claim):
                right = any(claim.agrees(other) for other in truth)
                yield Outcome(features(scene, fact, places), fact.score or 0.0, right, "")


def of_readers(names: Sequence[str], language: str) -> Iterator[Outcome]:
    """The facts found in passages that somebody read, if they were judged."""
    verdicts: dict[str, dict[tuple[str, ...], str]] = {}
    for _, line in files.lines(HERE / "facts.jsonl"):
        row = json.loads(line)
        cells = tuple(row[key] for key in ("head", "relation", "tail", "assertion"))
        verdicts.setdefault(row["passage"], {})[cells] = row["verdict"]
    passages = [doc for doc in read(HERE / "passages.jsonl.xz", format="jsonl")
                if doc.language == language and doc.id in verdicts]  # fmt: skip
    for doc, places in find_facts(passages, names, language):
        scene, name = Scene.of(doc), {e.id: tidy(e.name) for e in doc.entities}
        defined = {(fact.head, fact.relation, fact.tail) for fact in define(replace(doc, facts=())).facts}
        for fact in doc.facts:
            if (fact.head, fact.relation, fact.tail) in defined:
                continue
            cells = (name[fact.head], fact.relation, name[fact.tail], fact.assertion or "asserted")
            if (verdict := verdicts[doc.id].get(cells)) is not None:
                group = doc.id.split("-")[0]
                yield Outcome(features(scene, fact, places), fact.score or 0.0, verdict == "right", group)


def fit(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The weights of a logistic regression, by Newton's method."""
    names = ["shift", *outcomes[0].found]
    table = np.array([[1.0, *one.found.values()] for one in outcomes])
    right = np.array([float(one.right) for one in outcomes])
    counts = np.array([READ if one.group else GOLD for one in outcomes])
    penalty = np.array([PENALTY.get(name, OTHERS) for name in names])
    weights = np.zeros(len(names))
    for _ in range(30):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (counts * (right - likely)) - penalty * weights
        curve = (table.T * (counts * likely * (1 - likely))) @ table + np.diag(penalty)
        weights += np.linalg.solve(curve, slope)
    return dict(zip(names, map(float, weights), strict=True))


def shown(outcomes: Sequence[Outcome], weights: dict[str, float], least: float) -> str:
    """How many facts are at least so likely, and how many of them are right."""
    cut = log(least / (1 - least))
    kept = [one for one in outcomes
            if weights["shift"] + sum(weights[name] * value for name, value in one.found.items()) >= cut]  # fmt: skip
    return f"{sum(one.right for one in kept)} of {len(kept)} right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder of a model of facts")
    parser.add_argument("gold", type=Path, help="annotated documents")
    parser.add_argument("--with", dest="entities", required=True, help="the model of entities that works beside it")
    parser.add_argument("--least", type=float, default=0.69, help="the likelihood from which on a fact is shown")
    parser.add_argument("--try", dest="dry", action="store_true", help="store nothing")
    options = parser.parse_args()
    names = [options.entities, str(options.model)]
    gold = list(read(options.gold, format="jsonl"))
    settings = read_settings(options.model)
    outcomes = [*of_gold(gold, names, settings.language), *of_readers(names, settings.language)]
    outcomes = [one for one in outcomes if one.score >= LEAST]
    for group in sorted({one.group for one in outcomes}):
        held = [one for one in outcomes if one.group == group]
        before = [one for one in held if one.score >= DEFAULT]
        others = fit([one for one in outcomes if one.group != group])
        print(f"{group or 'corpora'}: {sum(one.right for one in before)} of {len(before)} right by the model's scores, "
              f"{shown(held, others, options.least)} by weights from the other sets")  # fmt: skip
    weights = fit(outcomes)
    weights["shift"] -= log(options.least / (1 - options.least))
    weights = {name: round(weight - CAUTION.get(name, 0.0), 3) for name, weight in weights.items()}
    print(weights)
    if not options.dry:
        store(replace(settings, task_config={**settings.task_config, "evidence": weights}), options.model)


if __name__ == "__main__":
    main()
