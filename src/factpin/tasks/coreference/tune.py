"""Coreference: temperature and thresholds, fitted on dev.

temperature   least negative log-likelihood of the gold antecedents
add, keep     highest mean F1 of MUC, B-cubed and CEAF-e, one after the other; the model stays silent where the
              rules alone reach as much
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.scoring import align
from factpin.tasks.coreference.finder import CoreferenceFinder, DocumentScores
from factpin.tasks.coreference.score import figures, score
from factpin.tasks.settings import Settings
from factpin.tasks.task import Tunable
from factpin.tokens.reading import WindowedDocument

TEMPERATURES = (1.0, 0.5, 0.6, 0.75, 1.25, 1.5, 2.0, 3.0)
ADDS = (0.5, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 2.0)  # the usual first: of equals it stays. 2: nothing is added
KEEPS = (0.1, 0.0, 0.01, 0.03, 0.2, 0.4, 0.8)  # 0: no rule is refused
SILENT = (2.0, 0.0)  # add, keep: only the rules


def tune(model: Tunable, dev: Sequence[Document], options: Any = None) -> Settings:
    """The settings with temperature, add and keep. The scores are made once."""
    read = [model.read(doc) for doc in dev]
    found: list[DocumentScores] = model.find(read)
    temperature = min(TEMPERATURES, key=lambda t: sum(surprise(one, t) for one in found))
    finder = replace(model.finder, temperature=temperature)

    def mean_f1(add: float, keep: float) -> float:
        return _mean_f1(replace(finder, keep=keep), read, [replace(one, add=add) for one in found], dev)

    add = max(ADDS, key=lambda add: mean_f1(add, KEEPS[0]))
    keep = max(KEEPS, key=lambda keep: mean_f1(add, keep))
    if mean_f1(*SILENT) >= mean_f1(add, keep):
        add, keep = SILENT
    label = model.settings.labels[0]
    return replace(model.settings, temperature=temperature, thresholds={label: add}, task_config={"keep": keep})


def _mean_f1(
    finder: CoreferenceFinder,
    read: Sequence[WindowedDocument],
    found: Sequence[DocumentScores],
    dev: Sequence[Document],
) -> float:
    predicted = (finder.annotate(document, one) for document, one in zip(read, found, strict=True))
    return figures(score(align(predicted, dev).pairs))["f1"]


def surprise(found: DocumentScores, temperature: float) -> float:
    """- log probability of the gold antecedents of a document, summed over its mentions."""
    s = found.scores.s.astype(np.float64) / temperature  # (M, K)
    gold = found.targets.gold
    if not len(s):
        return 0.0
    none = np.where(gold.any(axis=1), -np.inf, 0.0)[:, None]  # "none of them", where that is right
    right = np.concatenate((none, np.where(gold, s, -np.inf)), axis=1)
    return float((_log_sum_exp(np.pad(s, ((0, 0), (1, 0)))) - _log_sum_exp(right)).sum())


def _log_sum_exp(x: np.ndarray) -> np.ndarray:
    """Over the last axis; every row has a finite number."""
    top = x.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(x - top).sum(axis=-1)))
