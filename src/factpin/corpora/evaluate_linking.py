"""Evaluate links: documents as `factpin link` or `factpin extract --link` writes them against gold links."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from factpin import formats
from factpin.documents import Document
from factpin.formats import Options
from factpin.scoring import align, calibration, interval
from factpin.scoring.counts import Rows, total
from factpin.scoring.linking import known_names, score_linking
from factpin.words import count


def evaluate_linking_files(
    predicted: Path,
    gold: Path,
    *,
    gold_format: str | None = None,
    predicted_format: str | None = None,
    train: Path | None = None,
    options: Options | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The report. train: the documents that the knowledge base was made of; other gold links are NIL then."""
    options = options or Options()
    known = names = None
    if train is not None:
        names = known_names(formats.read(train, format=gold_format, options=options))
        known = {link for links in names.values() for link in links}
    return evaluate_linking(
        formats.read(predicted, format=predicted_format, options=options),
        formats.read(gold, format=gold_format, options=options),
        known=known,
        names=names,
        samples=samples,
        seed=seed,
    )


def evaluate_linking(
    predicted: Iterable[Document],
    gold: Iterable[Document],
    *,
    known: Collection[str] | None = None,
    names: Mapping[str, Collection[str]] | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The report of links. known: all links of the knowledge base; names: the links of each name there."""
    aligned = align(predicted, gold)
    scores = score_linking(aligned.pairs, known, names)
    ambiguous, of_them = scores.on_ambiguous
    nil, without = scores.on_nil
    report: dict[str, Any] = {
        "task": "linking",
        "documents": len(aligned.pairs),
        "mentions": len(scores.right),
        "linked": _figures(scores.rows["linked"], samples, seed),
        "nil": _figures(scores.rows["nil"], samples, seed),
        "accuracy": scores.accuracy,
        "ambiguous": {"accuracy": ambiguous, "mentions": of_them},
        "nil_accuracy": {"accuracy": nil, "mentions": without},
        "missing": list(aligned.missing),
        "notes": [],
    }
    if scores.outcomes:
        found = calibration(scores.outcomes)
        report["calibration"] = {"ece": found.ece, "brier": found.brier, "count": found.count}
    if aligned.missing:
        missing = count(len(aligned.missing), "gold document has", "gold documents have")
        report["notes"].append(f"{missing} no prediction, which counts as linking nothing")
    return report


def _figures(rows: Rows, samples: int, seed: int) -> dict[str, Any]:
    counts = total(rows)
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "interval": list(interval(rows, samples=samples, seed=seed)),
    }
