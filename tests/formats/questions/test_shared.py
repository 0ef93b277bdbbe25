"""The sets of questions of ../shared/data, against the counts of their SOURCE.txt."""

from collections import Counter
from typing import Any

import pytest

from factpin.formats.questions import guess
from tests.formats.loading import ABSENT, DATA
from tests.formats.questions.reading import load

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=ABSENT)

# format, questions, distinct passages, gold spans, and what else there is
SETS: dict[str, tuple[str, int, int, int, dict[str, Any]]] = {
    # SOURCE.txt counts 1002; two of them have no text
    "cmrc2018/cmrc2018_trial.json.xz": ("squad", 1000, 256, 1000, {"answer_moved": 5, "empty_question": 2}),
    "cmrc2018/cmrc2018_dev.json.xz": ("squad", 3219, 848, 4038, {"answer_moved": 7, "answer_near": 160,
                                                                 "answer_not_found": 33, "ambiguous_answer": 1}),
    "drcd/DRCD_dev.json.xz": ("squad", 3524, 1000, 4347, {}),
    "drcd/DRCD_test.json.xz": ("squad", 3493, 1000, 4232, {}),
    "xquad/xquad.en.json.xz": ("squad", 1190, 240, 1190, {}),
    "xquad/xquad.zh.json.xz": ("squad", 1190, 240, 1190, {}),
    # 1189 + 231 = 1420 are marked impossible; 231 of them were answered all the same
    "cail2019_reading/dev_ground_truth.json.xz": ("squad", 6000, 999, 7312, {
        "unanswerable": 1189, "impossible_with_answers": 231, "empty_answer": 184, "yes_no": 677}),
    "dureader/robust_dev.json.xz": ("squad", 1417, 1398, 1961, {"ambiguous_answer": 495, "empty_answer": 1}),
    "dureader/checklist_dev.json.xz": ("squad", 1130, 1119, 539, {"unanswerable": 591, "answer_moved": 1}),
    "squad2_half/dev-v2.0.cs224n.json.xz": ("squad", 6078, 646, 5109, {"unanswerable": 3168}),
    "hotpotqa/distractor_train.jsonl.xz": ("hotpotqa", 636, 6261, 601, {
        "yes_no": 35, "choice": 88, "support": 1555, "ambiguous_answer": 105, "answer_near": 3}),
    "hotpotqa/distractor_dev.jsonl.xz": ("hotpotqa", 239, 2387, 226, {
        "yes_no": 13, "choice": 36, "support": 580, "ambiguous_answer": 35}),
    "2wikimultihop/2wiki_train.jsonl.xz": ("2wiki", 500, 3112, 331, {
        "yes_no": 166, "choice": 88, "support": 1178, "steps": 1184, "support_not_found": 6, "answer_near": 31,
        "answer_not_found": 3, "ambiguous_answer": 4}),
    "2wikimultihop/2wiki_dev.jsonl.xz": ("2wiki", 657, 4306, 587, {
        "yes_no": 59, "choice": 268, "support": 1660, "steps": 1682, "answer_near": 159, "answer_not_found": 11,
        "ambiguous_answer": 10}),
    "musique/musique_train.jsonl.xz": ("musique", 100, 1890, 100, {
        "support": 237, "steps": 237, "ambiguous_answer": 12}),
    "musique/musique_dev.jsonl.xz": ("musique", 200, 3141, 200, {
        "support": 478, "steps": 478, "ambiguous_answer": 22}),
    "nq_open/NQ-open.dev.jsonl.xz": ("nq_open", 3610, 0, 0, {}),
    "nq_open/nq-open-oracle.jsonl.xz": ("nq_open", 2655, 2600, 4117, {"ambiguous_answer": 506, "answer_near": 43}),
    "qed/nq-train-04-qed.jsonlines.xz": ("qed", 1463, 1448, 1463, {
        "support": 1458, "answer_text_differs": 1, "empty_answer": 7}),
}  # fmt: skip


@pytest.mark.parametrize("path", SETS)
def test_the_counts_are_those_of_its_source(path: str) -> None:
    format, count, passages, spans, more = SETS[path]
    questions, report = load(DATA / path)
    found = Counter(report.counts)
    for question in questions:
        found[question.kind] += bool(question.kind)
        found["unanswerable"] += not question.answerable
        found["support"] += len(question.support)
        found["steps"] += len(question.steps)
    assert guess(DATA / path) == format
    assert len(questions) == len({question.id for question in questions}) == count
    assert len({doc.id for question in questions for doc in question.context}) == passages
    assert sum(len(question.spans) for question in questions) == spans
    assert +found == more


@pytest.mark.parametrize("path", [path for path in SETS if SETS[path][0] == "squad"])
def test_every_gold_span_is_one_of_the_answers(path: str) -> None:
    questions, report = load(DATA / path)
    differ = 0
    for question in questions:
        differ += sum(text not in question.answers for text in question.span_texts())
    assert differ <= report.counts["answer_near"]
