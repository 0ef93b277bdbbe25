"""Sets of questions under examination: counts, leaks, shared passages, and what readers noticed."""

import json
from pathlib import Path
from typing import Any

import pytest

from factpin.corpora.doctor_questions import doctor_questions
from tests.formats.loading import ABSENT, DATA


def squad(path: Path, context: str, *asked: tuple[str, str, str, int]) -> Path:
    qas = [{"id": id, "question": question, "answers": [{"text": text, "answer_start": at}] if text else [],
            "is_impossible": not text} for id, question, text, at in asked]  # fmt: skip
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": context, "qas": qas}]}]}))
    return path


def problems(report: dict[str, Any], kind: str) -> list[str]:
    return [problem["document"] for problem in report["problems"] if problem["kind"] == kind]


def test_counts_of_one_file(tmp_path: Path) -> None:
    path = squad(tmp_path / "a.json", "It froze in May.", ("1", "When?", "May", 12), ("2", "Who?", "", 0),
                 ("3", "What?", "snow", 0), ("4", "When, then?", "May", 0))  # fmt: skip
    report = doctor_questions([path])
    assert (report["questions"], report["passages"], report["characters"]) == (4, 1, 16)
    assert (report["unanswerable"], report["answers"], report["spans"], report["without_gold"]) == (1, 3, 2, 1)
    assert report["asks_for"] == {"span": 4}
    assert report["kinds"] == {"answer_moved": 1, "answer_not_found": 1} and report["ok"]
    assert problems(report, "answer_moved") == ["4"] and problems(report, "answer_not_found") == ["3"]
    assert report["problems"][0]["fix"].startswith("The ")


def test_leaks_duplicates_and_shared_passages(tmp_path: Path) -> None:
    train = squad(tmp_path / "a.json", "It froze in May.", ("1", "When?", "May", 12), ("2", "when ?", "May", 12))
    test = squad(tmp_path / "b.json", "It froze in May.", ("3", "ＷＨＥＮ?", "May", 12), ("4", "Why?", "It", 0))
    report = doctor_questions([train, test])
    assert (report["leaked"], report["duplicates"], report["shared_passages"]) == (1, 1, 1)
    assert problems(report, "leaked") == ["3"] and problems(report, "duplicate") == ["2"]
    assert not report["ok"]
    assert doctor_questions([test])["ok"]


def test_a_question_over_other_passages_is_another_question(tmp_path: Path) -> None:
    record = {"data": [{"paragraphs": [{"context": text, "qas": [{"id": text, "question": "When?", "answers": []}]}
                                       for text in ("It froze.", "It thawed.")]}]}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record))
    assert doctor_questions([path])["duplicates"] == 0


def test_repeated_ids_and_bad_records_are_errors(tmp_path: Path) -> None:
    path = squad(tmp_path / "a.json", "It froze.", ("1", "When?", "It", 0), ("1", "Why?", "It", 0))
    assert problems(doctor_questions([path]), "repeated_id") == ["1"] and not doctor_questions([path])["ok"]
    path.write_text('{"data": [{"paragraphs": [{"context": 3, "qas": []}]}]}')
    report = doctor_questions([path])
    assert report["rejected"] == 1 and report["problems"][0]["severity"] == "error" and not report["ok"]


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize(
    "paths, leaked",
    [
        (["hotpotqa/distractor_dev.jsonl.xz", "hotpotqa/fullwiki_contexts.jsonl.xz"], 39),
        (["nq_open/NQ-open.dev.jsonl.xz", "nq_open/nq-open-oracle.jsonl.xz"], 2655),
        (["xquad/xquad.en.json.xz", "squad2_half/dev-v2.0.cs224n.json.xz"], 335),
        (["cmrc2018/cmrc2018_trial.json.xz", "cmrc2018/cmrc2018_dev.json.xz"], 0),
    ],
)
def test_known_leaks_are_found(paths: list[str], leaked: int) -> None:
    report = doctor_questions([DATA / path for path in paths])
    assert report["leaked"] == leaked and report["ok"] is (leaked == 0)
