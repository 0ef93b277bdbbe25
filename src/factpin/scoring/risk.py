"""Risk and coverage: how many errors are avoided by abstaining from uncertain answers.

Answers are taken from the highest score down. Coverage is the share of questions answered so far, risk the share of
these answers that is wrong. Among equal scores, the expected number of errors counts, so that the result does not
depend on the order of the input.

area   the mean risk over all coverages (AURC); `least` is the area for a perfect order of the same answers
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.errors import BadInput
from factpin.scoring.counts import Floats
from factpin.words import count

Outcomes = Sequence[tuple[float, bool]]


@dataclass(frozen=True, eq=False, slots=True)
class RiskCoverage:
    """The curve of risk over coverage."""

    coverage: Floats  # (answers,), rising
    risk: Floats  # (answers,)
    area: float
    least: float

    @property
    def excess(self) -> float:
        """The part of the area that is due to the order of the scores."""
        return self.area - self.least


def risk_coverage(outcomes: Outcomes, *, questions: int | None = None) -> RiskCoverage:
    """The curve over all answers. `questions` includes those without an answer."""
    total = _total(outcomes, questions)
    if not outcomes:
        return RiskCoverage(np.zeros(0), np.zeros(0), 0.0, 0.0)
    _, errors = _errors(outcomes)
    given = np.arange(1, len(outcomes) + 1)
    wrong = round(float(errors[-1]))
    ideal = np.maximum(0, given - (len(outcomes) - wrong)) / given
    risk = errors / given
    return RiskCoverage(given / total, risk, float(risk.mean()), float(ideal.mean()))


def precision_at(outcomes: Outcomes, coverage: float, *, questions: int | None = None) -> float | None:
    """The precision of the best answers to this share of the questions; None if too few were answered."""
    if not 0 < coverage <= 1:
        raise BadInput(f"coverage is {coverage}; expected more than 0 and at most 1.")
    given = max(1, round(coverage * _total(outcomes, questions)))
    if given > len(outcomes):
        return None
    return float(1 - _errors(outcomes)[1][given - 1] / given)


def coverage_at(outcomes: Outcomes, precision: float, *, questions: int | None = None) -> float:
    """The largest share of questions that can be answered with at least this precision."""
    cut = threshold_at(outcomes, precision)
    given = 0 if cut is None else sum(score >= cut for score, _ in outcomes)
    return given / max(1, _total(outcomes, questions))


def threshold_at(outcomes: Outcomes, precision: float) -> float | None:
    """The lowest threshold with at least this precision; None if there is none."""
    if not 0 < precision <= 1:
        raise BadInput(f"precision is {precision}; expected more than 0 and at most 1.")
    if not outcomes:
        return None
    scores, errors = _errors(outcomes)
    given = np.arange(1, len(scores) + 1)
    last = np.append(scores[1:] < scores[:-1], True)  # a threshold never separates equal scores
    good = np.flatnonzero(last & (errors <= (1 - precision) * given + 1e-9))
    return float(scores[good[-1]]) if len(good) else None


def _total(outcomes: Outcomes, questions: int | None) -> int:
    if questions is not None and questions < len(outcomes):
        given = count(len(outcomes), "answer")
        raise BadInput(f"questions is {questions}, less than its {given}; expected at least as many questions.")
    return len(outcomes) if questions is None else questions


def _errors(outcomes: Outcomes) -> tuple[Floats, Floats]:
    """Scores from the highest down, and the expected number of errors up to each (answers,)."""
    pairs = np.array(outcomes, np.float64).reshape(len(outcomes), 2)
    order = np.argsort(-pairs[:, 0], kind="stable")
    score, wrong = pairs[order, 0], 1 - pairs[order, 1]
    _, group, count = np.unique(-score, return_inverse=True, return_counts=True)
    share = np.bincount(group, weights=wrong) / count  # of wrong answers with this score
    return score, np.cumsum(share[group])
