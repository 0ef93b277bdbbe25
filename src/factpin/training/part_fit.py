"""The scale of a system's scores, and its least score, fitted on the best answer to each dev question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from factpin.answers.cogqa_hops import HopSettings
from factpin.answers.rag import RagSettings
from factpin.answers.reader import ReaderSettings
from factpin.scoring.answers import AnswerScores
from factpin.training.reader_fit import RIGHT, Outcomes, fitted

S = TypeVar("S", HopSettings, RagSettings)


class ScoredAnswer(Protocol):
    """An answer with a score."""

    @property
    def score(self) -> float: ...


def fit_answers(settings: S, best: Sequence[ScoredAnswer | None], scores: AnswerScores, precision: float) -> S:
    """Settings with the scale of the scores, and the least score for a precision.

    best: the answer to each question; scores: how right these are. Where all are right, or none, nothing is fitted.
    """
    rows = scores.rows["f1"]
    outcomes: Outcomes = [(one.score, bool(row[0] >= RIGHT - 1e-9)) for one, row in zip(best, rows, strict=True) if one]
    if len({right for _, right in outcomes}) < 2:
        return settings
    chosen = fitted(ReaderSettings(), outcomes, precision)
    return replace(settings, scale=chosen.scale, min_score=chosen.min_score)
