"""Evaluate predicted documents against gold: one report with every convention.

The report is what `factpin evaluate --json` prints; app/show turns it into tables. Some keys are present only if they
mean something: `ign` (with a training set), `coreference` (gold has entities with several mentions, and predictions
have entities), `calibration` (predictions have scores), `difference` and `p_value` (with a second prediction).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from factpin.corpora.rename import few, names, towards
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.scoring import (
    Confusion,
    Counts,
    Pair,
    Scores,
    align,
    calibration,
    coreference,
    document_relations,
    interval,
    macro,
    paired_bootstrap,
)
from factpin.scoring.counts import Floats, Rows, total
from factpin.tasks import TASKS, find_task
from factpin.tasks.coreference.score import with_all_mentions
from factpin.words import count

MOST_OF_A_KIND = 10  # confusions of each kind; otherwise those that were missed would crowd out the others
KNOWN = 0.2  # share of the predicted names that occur in gold: below it, predictions and gold name things differently


def evaluate(
    predicted: Iterable[Document],
    gold: Iterable[Document],
    *,
    task: str | None = None,
    train: Iterable[Document] | None = None,
    against: Iterable[Document] | None = None,
    rename: Mapping[str, str] | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the report. `task` is guessed from gold by default; `against` is a second prediction to compare with.

    `rename` is a table of names for both predictions, used in the direction that leads to the names in gold.
    """
    gold = list(gold)
    predicted, renamed = _renamed(predicted, gold, rename)
    name = guess_task(gold) if task is None else _task(task)
    if train is not None and name != "document_relations":
        raise BadInput(
            f"a training set is only used for the Ign F1 of document_relations, but the task is {name}. Omit it."
        )
    aligned = align(predicted, gold)
    pairs = with_all_mentions(aligned.pairs) if name == "coreference" else aligned.pairs
    scores = TASKS[name].score(pairs)
    strict = total(scores.rows["strict"])
    report: dict[str, Any] = {
        "task": name,
        "documents": len(pairs),
        "gold": strict.gold,
        "predicted": strict.predicted,
        "strict": _figures(scores.rows["strict"], samples, seed),
        "macro": macro(scores.labels.values()),
        "conventions": _conventions(name, scores, samples, seed),
        "labels": {label: _label(counts) for label, counts in scores.labels.items()},
        "confusions": _confusions(scores.confusions),
        "missing": list(aligned.missing),
        "samples": samples,
    }
    if name == "document_relations":
        report |= _document_level(scores, pairs, train, samples, seed)
    report |= _coreference(pairs, samples, seed)
    if scores.outcomes:
        report["calibration"] = _calibration(scores.outcomes)
    if against is not None:
        against, notes = _renamed(against, gold, rename)
        renamed += [f"in the second prediction, {note}" for note in notes]
        aligned_other = align(against, gold)
        other = TASKS[name].score(aligned_other.pairs)
        report["missing_against"] = list(aligned_other.missing)
        compared = paired_bootstrap(scores.rows["strict"], other.rows["strict"], samples=samples, seed=seed)
        report["against"] = _figures(other.rows["strict"], samples, seed)
        report["difference"] = compared.difference
        report["difference_interval"] = list(compared.interval)
        report["p_value"] = compared.p_value
    report["notes"] = [*renamed, *_notes(report, pairs, by_order=aligned.by_order), *_other_names(name, pairs)]
    return report


def _renamed(
    documents: Iterable[Document], gold: Sequence[Document], table: Mapping[str, str] | None
) -> tuple[Iterable[Document], list[str]]:
    """Predictions with the names of gold, and notes about it."""
    if table is None:
        return documents, []
    documents = list(documents)
    renaming = towards(table, documents, gold)
    return [renaming.rename(doc) for doc in documents], renaming.notes()


def _other_names(task: str, pairs: Sequence[Pair]) -> list[str]:
    """A note if few of the predicted relations or types occur in gold, which explains metrics of 0."""
    called = TASKS[task].labels
    if called is None:
        return []
    predicted, known = (Counter(name for doc in side for kind, name in names(doc) if kind == called)
                        for side in ([pair.predicted for pair in pairs], [pair.gold for pair in pairs]))  # fmt: skip
    same = predicted.keys() & known.keys()
    if not predicted or not known or len(same) >= KNOWN * len(predicted):
        return []
    often, gold = ([name for name, _ in side.most_common() if name not in same] for side in (predicted, known))
    return [f"{len(same) or 'none'} of the {len(predicted)} predicted {called} occur{'s' if len(same) < 2 else ''} in "
            f"gold: predicted are {few(often)}; gold has {few(gold)}. If they mean the same, give a table of "
            f"names with --rename"]  # fmt: skip


def guess_task(gold: Sequence[Document]) -> str:
    """Guess the task from gold.

    With events it is events, without facts it is spans. Facts without mentions, between entities with several mentions,
    mean document_relations; otherwise it is triples.
    """
    if any(doc.events for doc in gold):
        return "events"
    if not any(doc.facts for doc in gold):
        return "spans"
    loose = any(fact.head_mention is None or fact.tail_mention is None for doc in gold for fact in doc.facts)
    return "document_relations" if loose and _has_clusters(gold) else "triples"


def _task(name: str) -> str:
    return find_task(name).name


def _figures(rows: Rows, samples: int, seed: int) -> dict[str, Any]:
    counts = total(rows)
    figures: dict[str, Any] = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    figures |= {"tp": counts.tp, "fp": counts.fp, "fn": counts.fn}
    if counts.partial:
        figures["partial"] = counts.partial
    return figures | {"interval": list(interval(rows, samples=samples, seed=seed))}


def _conventions(task: str, scores: Scores, samples: int, seed: int) -> dict[str, Any]:
    """The other conventions for the same predictions; some also have a key at the top of the report."""
    if task == "document_relations":
        return {}
    others = TASKS[task].conventions.keys() - {"strict"}
    return {name: _figures(rows, samples, seed) for name, rows in scores.rows.items() if name in others}


def _document_level(
    scores: Scores, pairs: Sequence[Pair], train: Iterable[Document] | None, samples: int, seed: int
) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: _figures(scores.rows[name], samples, seed) for name in ("intra", "inter", "evidence")
    }
    if any(pair.gold.notes.excluded_pairs for pair in pairs):
        found["filtered"] = _figures(scores.rows["filtered"], samples, seed)
    found["end_to_end"] = {name: _figures(scores.rows[name], samples, seed) for name in document_relations.END_TO_END}
    if train is not None:
        rows = document_relations.ign_rows(pairs, document_relations.train_names(train))  # (D, 5)
        precision, recall, f1 = (float(x) for x in document_relations.ign_figures(rows.sum(axis=0)))
        low, high = interval(rows, statistic=lambda t: document_relations.ign_figures(t)[2], samples=samples, seed=seed)
        seen = int(rows[:, 4].sum())
        found["ign"] = {"precision": precision, "recall": recall, "f1": f1, "seen": seen, "interval": [low, high]}
    return found


def _coreference(pairs: Sequence[Pair], samples: int, seed: int) -> dict[str, Any]:
    if not _has_clusters([pair.gold for pair in pairs]) or not any(pair.predicted.entities for pair in pairs):
        return {}
    rows = coreference.score(pairs)
    found: dict[str, Any] = {}
    for name, values in rows.items():
        precision, recall, f1 = (float(x) for x in coreference.figures(values.sum(axis=0)))
        found[name] = {"precision": precision, "recall": recall, "f1": f1}

    def mean_f1(totals: Floats) -> Floats:
        f1 = coreference.figures(totals.reshape(len(totals), len(rows), 4))[2]  # (S, 3)
        return np.asarray(f1.mean(axis=1))

    together = np.concatenate(list(rows.values()), axis=1)  # (D, 12)
    found["mean_f1"] = float(mean_f1(together.sum(axis=0)[None])[0])
    found["interval"] = list(interval(together, statistic=mean_f1, samples=samples, seed=seed))
    return {"coreference": found}


def _calibration(outcomes: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    result = calibration(outcomes)
    table = [
        {"low": b.low, "high": b.high, "count": b.count, "score": b.score, "accuracy": b.accuracy} for b in result.table
    ]
    return {"ece": result.ece, "brier": result.brier, "count": result.count, "table": table}


def _label(counts: Counts) -> dict[str, Any]:
    figures = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return figures | {"support": counts.gold, "tp": counts.tp, "fp": counts.fp, "fn": counts.fn}


def _confusions(confusions: Sequence[Confusion]) -> list[dict[str, Any]]:
    """The most frequent confusions of each kind, sorted together by frequency."""
    shown = Counter[str]()
    found = []
    for confusion in confusions:
        shown[confusion.kind] += 1
        if shown[confusion.kind] <= MOST_OF_A_KIND:
            found.append(asdict(confusion))
    return found


def _has_clusters(documents: Iterable[Document]) -> bool:
    return any(len(entity.mentions) > 1 for doc in documents for entity in doc.entities)


def _have(number: int) -> str:
    return count(number, "gold document has", "gold documents have")


def _notes(report: dict[str, Any], pairs: Sequence[Pair], *, by_order: bool) -> list[str]:
    """Notes on what the metrics do not show, one each, with the number of documents."""
    notes = []
    if by_order:
        notes.append("no predicted id is in gold, but the texts are the same: documents were paired by order")
    if report["missing"]:
        notes.append(f"{_have(len(report['missing']))} no prediction, which counts as an empty prediction")
    if report.get("missing_against"):
        missing = count(len(report["missing_against"]), "gold document is", "gold documents are")
        notes.append(f"{missing} missing in the second prediction")
    if not report["gold"]:
        notes.append("gold has no annotation for this task; every metric is 0")
    if report["task"] == "document_relations":
        unsplit = sum(1 for pair in pairs if pair.gold.facts and not pair.gold.sentences)
        if unsplit:
            notes.append(f"{_have(unsplit)} no sentences: rules split the text for intra and inter")
        if not report["evidence"]["tp"] + report["evidence"]["fn"]:
            notes.append("gold has no evidence; ignore the evidence metrics")
    return notes
