"""What abstaining buys: (score, right?) of every answer comes in, risk by coverage goes out.

Answers are given from the surest on. Coverage is the share of questions answered so far, risk the share of these
answers that is wrong. Where several answers have one score their order is chance: the expected number of errors
counts, so nothing depends on the order of what came in.

area   the mean risk over all coverages (AURC); `least` is that of a perfect order of the same answers
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factpin.errors import BadInput
from factpin.scoring.counts import Floats

Outcomes = Sequence[tuple[float, bool]]


@dataclass(frozen=True, eq=False, slots=True)
class RiskCoverage:
    coverage: Floats  # (answers,), rising
    risk: Floats  # (answers,)
    area: float
    least: float

    @property
    def excess(self) -> float:
        """What the order of the scores costs beyond the errors themselves."""
        return self.area - self.least


def risk_coverage(outcomes: Outcomes, *, questions: int | None = None) -> RiskCoverage:
    """The curve over all answers; `questions` counts those without one too."""
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
    """The share that is right of the surest answers to that share of questions; None: too few were answered."""
    if not 0 < coverage <= 1:
        raise BadInput(f"coverage is {coverage}; expected more than 0 and at most 1.")
    given = max(1, round(coverage * _total(outcomes, questions)))
    if given > len(outcomes):
        return None
    return float(1 - _errors(outcomes)[1][given - 1] / given)


def coverage_at(outcomes: Outcomes, precision: float, *, questions: int | None = None) -> float:
    """The greatest share of questions that can be answered by a cut with at least that precision."""
    cut = threshold_at(outcomes, precision)
    given = 0 if cut is None else sum(score >= cut for score, _ in outcomes)
    return given / max(1, _total(outcomes, questions))


def threshold_at(outcomes: Outcomes, precision: float) -> float | None:
    """The lowest score such that the answers with at least that score have that precision; None: there is none."""
    if not 0 < precision <= 1:
        raise BadInput(f"precision is {precision}; expected more than 0 and at most 1.")
    if not outcomes:
        return None
    scores, errors = _errors(outcomes)
    given = np.arange(1, len(scores) + 1)
    last = np.append(scores[1:] < scores[:-1], True)  # a cut never parts equal scores
    good = np.flatnonzero(last & (errors <= (1 - precision) * given + 1e-9))
    return float(scores[good[-1]]) if len(good) else None


def _total(outcomes: Outcomes, questions: int | None) -> int:
    if questions is not None and questions < len(outcomes):
        raise BadInput(f"questions is {questions}, there are {len(outcomes)} answers; expected at least as many.")
    return len(outcomes) if questions is None else questions


def _errors(outcomes: Outcomes) -> tuple[Floats, Floats]:
    """Scores from the surest on, and the expected number of errors up to each (answers,)."""
    pairs = np.array(outcomes, np.float64).reshape(len(outcomes), 2)
    order = np.argsort(-pairs[:, 0], kind="stable")
    score, wrong = pairs[order, 0], 1 - pairs[order, 1]
    _, group, count = np.unique(-score, return_inverse=True, return_counts=True)
    share = np.bincount(group, weights=wrong) / count  # of wrong answers with that score
    return score, np.cumsum(share[group])
