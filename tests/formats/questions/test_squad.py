"""SQuAD's shape in all its spellings."""

from pathlib import Path
from typing import Any

import pytest

from factpin.documents import Span
from factpin.errors import BadFile, BadRecord
from tests.formats.questions.reading import load, load_json, load_lines

LAKE = "The lake froze in May. Nobody went to the lake."


def squad(*qas: dict[str, Any], context: str = LAKE, title: str = "Lake") -> dict[str, Any]:
    return {"version": "1", "data": [{"title": title, "paragraphs": [{"context": context, "qas": list(qas)}]}]}


def qa(id: str, *answers: tuple[str, int], question: str = "When?", **fields: Any) -> dict[str, Any]:
    return {"id": id, "question": question, "answers": [{"text": t, "answer_start": s} for t, s in answers], **fields}


def test_a_question_with_its_paragraph(tmp_path: Path) -> None:
    found, report = load_json(tmp_path, squad(qa("1", ("May", 18), ("in May", 15), ("May", 18)), qa("2", ("lake", 42))))
    first, second = found
    assert first.answers == ("May", "in May") and first.spans == ((0, Span(18, 21)), (0, Span(15, 21)))
    assert (first.text, first.language, first.kind, first.answerable) == ("When?", "en", "", True)
    assert first.context[0].meta == {"title": "Lake"} and first.context[0].text == LAKE
    assert second.context[0] is first.context[0]
    assert second.spans == ((0, Span(42, 46)),) and second.span_texts() == ("lake",)
    assert not report.counts


def test_unanswerable_questions(tmp_path: Path) -> None:
    none = qa("2", is_impossible=True, plausible_answers=[{"text": "May", "answer_start": 18}])
    empty = qa("3", ("", -1), is_impossible="true")
    contradiction = qa("4", ("May", 18), ("", -1), is_impossible="true")
    unknown = {"id": "5", "question": "Why?"}
    found, report = load_json(tmp_path, squad(qa("1", ("May", 18), is_impossible=False), none, empty, contradiction,
                                              unknown))  # fmt: skip
    assert [q.answerable for q in found] == [True, False, False, True, True]
    assert [q.answers for q in found] == [("May",), (), (), ("May",), ()]
    assert found[1].meta == {}
    assert report.counts == {"impossible_with_answers": 1, "empty_answer": 1}


def test_yes_and_no_without_an_offset(tmp_path: Path) -> None:
    found, report = load_json(tmp_path, squad(qa("1", ("YES", -1), ("YES", -1), ("May", 18)), qa("2", ("No", 23))))
    assert (found[0].kind, found[0].answers, found[0].span_texts()) == ("yes_no", ("yes", "May"), ("May",))
    assert (found[1].kind, found[1].answers, found[1].span_texts()) == ("", ("No",), ("No",))
    assert not report.counts


def test_offsets_are_searched_again(tmp_path: Path) -> None:
    asked = squad(qa("1", ("May", 17)), qa("2", ("lake", -1)), qa("3", ("June", 3)), qa("4", ("may!", -1)))
    found, report = load_json(tmp_path, asked)
    assert [q.span_texts() for q in found] == [("May",), ("lake",), (), ("May",)]
    assert found[2].answers == ("June",) and found[3].answers == ("may!",)
    assert report.counts == {"answer_moved": 1, "ambiguous_answer": 1, "answer_not_found": 1, "answer_near": 1}
    everywhere, _ = load_json(tmp_path, asked, occurrences="all")
    assert everywhere[1].spans == ((0, Span(4, 8)), (0, Span(42, 46)))


def test_the_spelling_of_cmrc(tmp_path: Path) -> None:
    record = {"context_id": "T_1", "context_text": "河水在五月上涨。", "title": "河",
              "qas": [{"query_id": "T_1_0", "query_text": "何时上涨？", "answers": ["五月", "在五月"]}]}  # fmt: skip
    (question,), report = load_json(tmp_path, [record])
    assert (question.id, question.text, question.language) == ("T_1_0", "何时上涨？", "zh")
    assert question.span_texts() == ("五月", "在五月") and question.context[0].meta["title"] == "河"
    assert not report.counts


@pytest.mark.parametrize("lines", [True, False])
def test_rows(lines: bool, tmp_path: Path) -> None:
    rows = [{"id": "r1", "title": "Lake", "context": LAKE, "question": "When?",
             "answers": {"text": ["May"], "answer_start": [18]}},
            {"id": "r2", "title": "", "context": LAKE, "question": "Who?", "answers": {"text": [], "answer_start": []},
             "source": "x"}]  # fmt: skip
    found, _ = load_lines(tmp_path, rows) if lines else load_json(tmp_path, rows)
    assert [q.id for q in found] == ["r1", "r2"]
    assert found[0].span_texts() == ("May",) and found[1].meta == {"source": "x"}
    assert found[0].context[0].id != found[1].context[0].id  # another title is another passage


def test_the_same_paragraph_has_one_id_everywhere(tmp_path: Path) -> None:
    ids = {load_json(tmp_path, squad(qa(id)))[0][0].context[0].id for id in ("1", "2")}
    assert len(ids) == 1


def test_a_question_without_text_is_left_out(tmp_path: Path) -> None:
    found, report = load_json(tmp_path, squad(qa("1", question=""), qa("2")))
    assert [q.id for q in found] == ["2"] and report.counts == {"empty_question": 1}


def test_bad_records_name_their_place_or_are_set_aside(tmp_path: Path) -> None:
    bad = squad({"id": "1", "question": "When?", "answers": [{"text": 3}]}, "no object", qa("3", ("May", 18)))
    bad["data"] += [{"paragraphs": [{"qas": []}, 7]}, "no article"]
    with pytest.raises(BadRecord, match=r"data\[0\].paragraphs\[0\].qas\[0\].answers.text: expected a string"):
        load_json(tmp_path, bad)
    found, report = load_json(tmp_path, bad, skip_bad=True)
    assert [q.id for q in found] == ["3"] and report.rejected == 5


@pytest.mark.parametrize("text", ['{"data": 3, "qas": 0, "context": 0}', '{"data": [{"qas", "context"'])
def test_a_file_that_is_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(BadFile, match="file.json"):
        load(path)
