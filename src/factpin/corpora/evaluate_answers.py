"""Evaluate answers: what `factpin ask -` wrote against a set of questions.

Predictions are JSONL, one {"id", "answer", "score", "abstained"} a line as `ask` writes them, or one JSON object
{id: answer} as the scripts of SQuAD read it. An empty answer is an abstention.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from factpin.documents import Question
from factpin.errors import BadFile, BadRecord
from factpin.files import open_bytes
from factpin.formats import questions as formats
from factpin.scoring.answers import AnswerScores, Reply, compare, figures, score_answers
from factpin.scoring.means import mean, mean_interval
from factpin.scoring.risk import precision_at
from factpin.words import count

HALF = 0.5  # the share of questions at which precision is reported


def evaluate_answer_files(
    predicted: Path,
    gold: Path,
    *,
    gold_format: str | None = None,
    against: Path | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The report of predictions against a file of questions; `against` is a second prediction to compare with."""
    questions = list(formats.read(gold, format=gold_format))
    other = read_replies(against) if against is not None else None
    return evaluate_answers(questions, read_replies(predicted), against=other, samples=samples, seed=seed)


def evaluate_answers(
    questions: Sequence[Question],
    replies: Mapping[str, Reply],
    *,
    against: Mapping[str, Reply] | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The report of replies by question id; a question without one counts as wrong."""
    scores = score_answers(questions, replies)
    rates = {key: value for key, value in figures(scores).items() if key not in scores.rows}
    half = precision_at(scores.outcomes, HALF, questions=len(questions))
    report: dict[str, Any] = {
        "task": "answers",
        "questions": len(questions),
        "replies": scores.replied,
        "answers": scores.answered,
        "figures": {
            name: {"value": mean(rows), "interval": list(mean_interval(rows, samples=samples, seed=seed))}
            for name, rows in scores.rows.items()
        },
        **rates,
        **({} if half is None else {"precision_at_half": half}),
        "notes": _notes(questions, replies, scores),
    }
    if against is not None:
        difference, interval, p_value = compare(scores, score_answers(questions, against), samples=samples)
        report |= {"difference": {"f1": difference, "interval": list(interval)}, "p_value": p_value}
    return report


def _notes(questions: Sequence[Question], replies: Mapping[str, Reply], scores: AnswerScores) -> list[str]:
    notes = []
    if missing := len(questions) - scores.replied:
        notes.append(f"{count(missing, 'question has', 'questions have')} no reply, which counts as wrong")
    if unknown := len(replies.keys() - {question.id for question in questions}):
        notes.append(f"{count(unknown, 'reply is', 'replies are')} to no question of the gold file, and left out")
    return notes


def read_replies(path: Path) -> dict[str, Reply]:
    """The replies of a file, by question id."""
    with open_bytes(path) as stream:
        data = stream.read()
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _lines(data, path)
    if isinstance(whole, dict) and "answer" in whole:
        return _lines(data, path)
    if not isinstance(whole, dict) or not all(isinstance(text, str) for text in whole.values()):
        raise BadFile(f'{path}: expected {{id: answer}}, or one {{"id": …, "answer": …}} a line.')
    return {id: Reply(text) for id, text in whole.items()}


def _lines(data: bytes, path: Path) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            id, reply = _reply(line, path, number)
            if id in replies:
                raise BadRecord(f"the id {id!r} is there twice; expected one reply to a question", file=str(path),
                                line=number, field="id")  # fmt: skip
            replies[id] = reply
    return replies


def _reply(line: bytes, path: Path, number: int) -> tuple[str, Reply]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"not JSON ({error})", file=str(path), line=number) from None
    if not isinstance(record, dict) or "id" not in record or not isinstance(record.get("answer"), str):
        raise BadRecord('expected {"id": …, "answer": …}; `factpin ask -` keeps the ids of its input', file=str(path),
                        line=number, field="id")  # fmt: skip
    score = record.get("score")
    text = "" if record.get("abstained") else record["answer"]
    return str(record["id"]), Reply(text, float(score) if isinstance(score, int | float) else None)
