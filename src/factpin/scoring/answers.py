"""Score answers against gold: metrics for every question, with means, intervals and paired tests.

em, f1                    of the text, by the convention of the question (see answer_text)
support_em, support_f1    of the supporting sentences, for questions with gold support
joint_em, joint_f1        of both: em * support_em; f1 of precision * support precision and recall * support recall

A question without a reply counts as wrong, as in the official scripts. The reply "" is right if the question cannot be
answered. Rows are those of `means`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from factpin.documents import Question
from factpin.errors import BadInput, pick
from factpin.language.identify import family
from factpin.scoring.answer_text import CONVENTIONS, WRONG, Match, best_match
from factpin.scoring.calibration import calibration
from factpin.scoring.counts import Rows
from factpin.scoring.intervals import PairedDifference, paired_bootstrap, paired_randomization
from factpin.scoring.means import as_mean_rows, mean, mean_of
from factpin.scoring.risk import risk_coverage
from factpin.words import count


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a question: a text ("" to abstain), its score and its supporting sentences."""

    text: str
    score: float | None = None  # probability of being right
    support: frozenset[tuple[int, int]] | None = None  # (context, sentence); None: not requested


@dataclass(frozen=True)
class AnswerScores:
    """The rows of every metric, and the outcome of every reply with a score."""

    ids: tuple[str, ...]
    rows: Mapping[str, Rows]  # metric -> (questions, 2)
    outcomes: Sequence[tuple[float, bool]]  # (score, right?)
    replied: int  # questions with a reply, including abstentions
    answered: int  # replies without abstentions


def convention_of(question: Question) -> str:
    """The convention by which answers to a question are compared."""
    if family(question.language) in ("zh", "ja"):
        return "cmrc"
    return "hotpotqa" if question.support or question.kind else "squad"


def score_answers(
    questions: Sequence[Question], replies: Mapping[str, Reply], *, convention: str | None = None
) -> AnswerScores:
    """Score replies, given by question id. `convention` applies to all questions; None: each has its own."""
    if convention is not None:
        pick(CONVENTIONS, convention, kind="convention")
    ids = tuple(question.id for question in questions)
    if len(set(ids)) < len(ids):
        twice = count(len(ids) - len(set(ids)), "question id occurs", "question ids occur")
        raise BadInput(f"{twice} twice; expected unique ids. Rename one of each.")
    for question in questions:
        if question.answerable and not question.answers:
            raise BadInput(f"question {question.id} has no gold answer; expected one for each question.")
    found = [_judge(question, replies.get(question.id), convention) for question in questions]
    names = ("em", "f1", "support_em", "support_f1", "joint_em", "joint_f1")
    rows = {name: as_mean_rows([judged.get(name) for judged in found]) for name in names}
    rows |= _parts(rows, questions)
    given = [(replies[id], judged["em"] == 1.0) for id, judged in zip(ids, found, strict=True) if id in replies]
    outcomes = [(reply.score, right) for reply, right in given if reply.text and reply.score is not None]
    answered = sum(bool(reply.text) for reply, _ in given)
    return AnswerScores(ids, {name: r for name, r in rows.items() if r[:, 1].any()}, outcomes, len(given), answered)


def figures(scores: AnswerScores) -> dict[str, float]:
    """All metrics as numbers, with the share of answered questions, their accuracy and the calibration of scores."""
    found = {name: mean(rows) for name, rows in scores.rows.items()}
    found["answered"] = scores.answered / max(1, len(scores.ids))
    if scores.outcomes:
        found["precision"] = sum(right for _, right in scores.outcomes) / len(scores.outcomes)
        found["ece"] = calibration(scores.outcomes).ece
        found["aurc"] = risk_coverage(scores.outcomes).area
    return found


def compare(first: AnswerScores, second: AnswerScores, figure: str = "f1", *, samples: int = 1000) -> PairedDifference:
    """Compare two systems on the same questions: difference, interval, and p-value by randomization."""
    if first.ids != second.ids:
        raise BadInput("Expected two systems on the same questions. Score both against the same gold.")
    a, b = (pick(scores.rows, figure, kind="figure") for scores in (first, second))
    paired = paired_bootstrap(a, b, statistic=mean_of, samples=samples)
    return paired._replace(p_value=paired_randomization(a, b, statistic=mean_of, samples=samples))


def _judge(question: Question, reply: Reply | None, convention: str | None) -> dict[str, float]:
    """The metrics of one question."""
    by = convention or convention_of(question)
    answer = WRONG if reply is None else best_match(reply.text, question.answers, by)
    judged = {"em": answer.em, "f1": answer.f1}
    given = None if reply is None else reply.support
    if question.support and (given is not None or reply is None):
        support = match_support(given or frozenset(), frozenset(question.support))
        judged |= {"support_em": support.em, "support_f1": support.f1}
        judged |= {"joint_em": answer.em * support.em, "joint_f1": _joint(answer, support)}
    return judged


def match_support(said: frozenset[tuple[int, int]], gold: frozenset[tuple[int, int]]) -> Match:
    """Compare supporting sentences with gold."""
    common = len(said & gold)
    precision = common / len(said) if said else 0.0
    recall = common / len(gold) if gold else 0.0
    return Match(float(said == gold), _f1(precision, recall), precision, recall)


def _joint(answer: Match, support: Match) -> float:
    return _f1(answer.precision * support.precision, answer.recall * support.recall)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _parts(rows: Mapping[str, Rows], questions: Sequence[Question]) -> dict[str, Rows]:
    """em and f1 for answerable and unanswerable questions, and for yes-no and other questions."""
    kinds: dict[str, Callable[[Question], bool]] = {
        "answerable": lambda q: q.answerable,
        "unanswerable": lambda q: not q.answerable,
        "yes_no": lambda q: q.kind == "yes_no",
        "not_yes_no": lambda q: q.kind != "yes_no",
    }
    parts = dict[str, Rows]()
    for kind, belongs in kinds.items():
        mine = np.array([belongs(question) for question in questions], np.float64)
        if mine.any() and not mine.all():
            parts |= {f"{name}_{kind}": rows[name] * mine[:, None] for name in ("em", "f1")}
    return parts
