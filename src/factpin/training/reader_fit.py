"""What is fitted on dev after a reader was trained: the scale of its scores, and the least score of an answer.

Every dev question is read in its own contexts, and, where a reader shall say nothing about passages that do not answer
(`strangers`), once more in the context of another question, where nothing it finds is right. The scale is fitted on
all of these readings; the least score is the lowest at which the wanted share of the answers is right. An answer is
right if it has an F1 of two thirds or more with a gold answer: "Obama" for "Barack Obama", "in 1889" for "1889".
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from factpin.answers.reader import Reader, ReaderSettings, Reading, whole
from factpin.documents import Question
from factpin.scoring import calibration
from factpin.scoring.answers import AnswerScores, Reply, score_answers
from factpin.scoring.means import mean
from factpin.scoring.risk import threshold_at
from factpin.tasks.fit import ScoredCandidates, fit_scale
from factpin.tasks.spans import Scale

SURE = 0.1  # the share of dev questions that stay answered where the wanted precision is never reached
EVEN = 0.5  # an answer that is more likely wrong than right is withheld, whatever the others are
RIGHT = 2 / 3  # the F1 from which an answer is right
Outcomes = list[tuple[float, bool]]  # (score, right?)


def best_readings(reader: Reader[Any], questions: Sequence[Question]) -> list[Reading | None]:
    """The surest reading of every question in all its contexts."""
    found = reader.read_all([(question.text, whole(question.context)) for question in questions])
    return [readings[0] if readings else None for readings in found]


def judge(questions: Sequence[Question], best: Sequence[Reading | None]) -> AnswerScores:
    """The score of the best readings; nothing is answered by a score of 0 or less where some questions have none."""
    withheld = any(not question.answerable for question in questions)
    replies = {}
    for question, reading in zip(questions, best, strict=True):
        if reading is None or (withheld and reading.score <= 0):
            replies[question.id] = Reply("")
        else:
            replies[question.id] = Reply(text_of(reading), reading.probability)
    return score_answers(questions, replies)


def text_of(reading: Reading) -> str:
    """The text of a reading; yes and no as gold has them."""
    return reading.text if reading.kind == "span" else reading.kind


def to_fit_on(dev: Sequence[Question], *, strangers: bool) -> list[Question]:
    """What the scale and the least score are fitted on."""
    return [*dev, *(ask_strangers(dev) if strangers else ())]


def ask_strangers(questions: Sequence[Question]) -> list[Question]:
    """Every question with the context of another one that does not hold its answer; without those that have none."""
    found = []
    for i, question in enumerate(questions):
        others = (questions[(i + step) % len(questions)] for step in range(len(questions) // 2, len(questions)))
        stranger = next((q for q in others if q.context and not _says_it(question, q)), None)
        if stranger is not None:
            found.append(
                Question(
                    f"{question.id} elsewhere",
                    question.text,
                    question.language,
                    answerable=False,
                    context=stranger.context[:1],
                )
            )
    return found


def _says_it(question: Question, other: Question) -> bool:
    return other.context[0] in question.context or any(a in other.context[0].text for a in question.answers)


def raw_outcomes(questions: Sequence[Question], best: Sequence[Reading | None]) -> Outcomes:
    """(sure, right?) of every question's best reading; of one that cannot be answered no reading is right."""
    found = []
    for question, reading in zip(questions, best, strict=True):
        if reading is not None:
            rows = score_answers([question], {question.id: Reply(text_of(reading))}).rows["f1"]
            found.append((reading.sure, bool(rows[0, 0] >= RIGHT - 1e-9)))
    return found


def fitted(settings: ReaderSettings, outcomes: Outcomes, precision: float) -> ReaderSettings:
    """Settings with the scale of these outcomes, and the least score at which they have that precision.

    Where no score has it, the surest tenth of the questions stays answered.
    """
    scale = scale_of(outcomes)
    judged = probabilities(scale, outcomes)
    cut = threshold_at(judged, precision)
    if cut is not None:
        return replace(settings, scale=scale, min_score=max(cut, EVEN))
    ranked = sorted((score for score, _ in judged), reverse=True)
    return replace(settings, scale=scale, min_score=ranked[int(SURE * len(ranked))] if ranked else settings.min_score)


def probabilities(scale: Scale, outcomes: Outcomes) -> Outcomes:
    """The same outcomes with probabilities for scores."""
    return [(scale.probability(score), right) for score, right in outcomes]


def given_f1(reader: Reader[Any], questions: Sequence[Question], settings: ReaderSettings) -> float:
    """Mean F1 of the answers that reach the least score of these settings; the others are no answer."""
    replies = {}
    for question, reading in zip(questions, best_readings(reader, questions), strict=True):
        given = reading is not None and settings.scale.probability(reading.sure) >= settings.min_score
        replies[question.id] = Reply(text_of(reading) if reading is not None and given else "")
    return mean(score_answers(questions, replies).rows["f1"])


def held_out_error(questions: Sequence[Question], best: Sequence[Reading | None]) -> float:
    """The calibration error of each half of the questions under the scale that was fitted on the other half."""
    halves: list[Outcomes] = [[], []]
    for question, reading in zip(questions, best, strict=True):
        side = blake2b(question.id.encode(), digest_size=1).digest()[0] % 2
        halves[side] += raw_outcomes([question], [reading])
    mine, other = halves
    return calibration([*probabilities(scale_of(other), mine), *probabilities(scale_of(mine), other)]).ece


def scale_of(outcomes: Outcomes) -> Scale:
    """The scale under which scores are shares of right answers."""
    score, right = np.array([s for s, _ in outcomes], np.float64), np.array([r for _, r in outcomes], np.bool_)
    found = ScoredCandidates(score, right, np.zeros(len(score), np.int64), np.array([len(score)]))
    return fit_scale(found, np.array([-np.inf]))
