"""Questions over several paragraphs: HotpotQA, 2WikiMultihopQA, MuSiQue, Natural Questions, QED, and the native one."""

from pathlib import Path
from typing import Any

import pytest

from factpin.documents import Span
from factpin.errors import BadInput, BadRecord, UnknownName
from factpin.formats import questions as formats
from tests.formats.questions.reading import load, load_json, load_lines

HOTPOT: dict[str, Any] = {
    "_id": "h1", "question": "Which lake is deeper, Ost or Vell?", "answer": "Vell", "type": "comparison",
    "level": "hard", "supporting_facts": [["Ost", 0], ["Vell", 2]],
    "context": [["Ost", ["Ost is a lake.", " It is 4 m deep, unlike Vell."]], ["Birch", ["Vell has birches."]],
                ["Vell", ["Vell is a lake.", " ", "Vell is 9 m deep."]]],
}  # fmt: skip


def test_hotpotqa(tmp_path: Path) -> None:
    (question,), report = load_lines(tmp_path, [HOTPOT])
    ost, _, vell = question.context
    assert ost.text == "Ost is a lake. It is 4 m deep, unlike Vell." and ost.meta == {"title": "Ost"}
    assert vell.text == "Vell is a lake. Vell is 9 m deep." and len(vell.sentences) == 2
    assert question.support == ((0, 0), (2, 1))  # the blank sentence is none
    assert question.spans == ((2, Span(16, 20)),) and question.span_texts() == ("Vell",)
    assert (question.kind, question.gold, question.meta) == ("choice", (0, 2), {"type": "comparison", "level": "hard"})
    assert not report.counts


def test_hotpotqa_by_columns_and_as_a_list(tmp_path: Path) -> None:
    rows, facts = HOTPOT["context"], HOTPOT["supporting_facts"]
    columns = HOTPOT | {
        "context": {"title": [title for title, _ in rows], "sentences": [sentences for _, sentences in rows]},
        "supporting_facts": {"title": [title for title, _ in facts], "sent_id": [index for _, index in facts]},
    }
    assert load_json(tmp_path, [columns])[0] == load_lines(tmp_path, [HOTPOT])[0]


def test_support_that_points_nowhere_and_answers_that_are_nowhere(tmp_path: Path) -> None:
    facts = [["Ost", 0], ["Ost", 9], ["Moor", 0]]
    found, report = load_lines(tmp_path, [HOTPOT | {"supporting_facts": facts, "answer": "Birch"}])
    assert found[0].support == ((0, 0),) and found[0].spans == ()  # what another paragraph says is not gold
    assert report.counts == {"support_not_found": 2, "answer_not_found": 1}
    found, report = load_lines(tmp_path, [HOTPOT | {"supporting_facts": facts[:1]}])
    assert found[0].span_texts() == ("Vell",) and found[0].spans[0][0] == 0  # in the paragraph of the support


def test_yes_and_no(tmp_path: Path) -> None:
    (question,), _ = load_lines(tmp_path, [HOTPOT | {"answer": "Yes"}])
    assert (question.kind, question.answers, question.spans) == ("yes_no", ("yes",), ())


def test_2wiki_has_triples(tmp_path: Path) -> None:
    record = HOTPOT | {"evidences": [["Ost", "depth", "4 m"], ["Vell", "depth", "9 m"]], "answer_id": "Q1"}
    (question,), _ = load_lines(tmp_path, [record])
    assert formats.guess(tmp_path / "file.jsonl") == "2wiki"
    assert question.steps == (("Ost", "depth", "4 m"), ("Vell", "depth", "9 m"))
    assert question.meta["answer_id"] == "Q1"
    with pytest.raises(BadRecord, match=r"evidences\[0\]"):
        load_lines(tmp_path, [HOTPOT | {"evidences": [["Ost", "depth"]]}])


def musique(**change: Any) -> dict[str, Any]:
    paragraphs = [("Ost", "Ost lies in Norr.", True), ("Sund", "Sund lies in Norr too.", False),
                  ("Norr", "Its capital is Vik. Vik is old.", True)]  # fmt: skip
    return {
        "id": "2hop__1", "question": "What is the capital of the place of Ost?", "answer": "Vik",
        "answer_aliases": ["Wik"], "answerable": True,
        "paragraphs": [{"idx": i, "title": t, "paragraph_text": p, "is_supporting": s}
                       for i, (t, p, s) in enumerate(paragraphs)],
        "question_decomposition": [{"question": "Ost >> place", "answer": "Norr", "paragraph_support_idx": 0},
                                   {"question": "#1 >> capital", "answer": "Vik", "paragraph_support_idx": 2}],
    } | change  # fmt: skip


def test_musique(tmp_path: Path) -> None:
    (question,), report = load_lines(tmp_path, [musique()])
    assert question.answers == ("Vik", "Wik") and question.spans == ((2, Span(15, 18)),)
    assert question.support == ((0, 0), (2, 0)) and question.gold == (0, 2)
    assert question.steps == (("Ost >> place", "", "Norr"), ("#1 >> capital", "", "Vik"))
    assert report.counts == {"ambiguous_answer": 1}
    (question,), _ = load_lines(tmp_path, [musique(answerable=False)])
    assert (question.answerable, question.answers, question.spans) == (False, (), ())
    (question,), report = load_lines(tmp_path, [musique(answer="Wik", answer_aliases=["Norr"])])
    assert question.spans[0][0] == 0 and question.span_texts() == ("Norr",)  # an alias, in another supporting one


def test_nq_open_without_and_with_passages(tmp_path: Path) -> None:
    bare = {"question": "when did it freeze", "answer": ["May", "in May"]}
    passages = [{"title": "a", "text": "It froze in May.", "hasanswer": True, "isgold": False},
                {"title": "b", "text": "In may it froze.", "hasanswer": True, "isgold": True}]  # fmt: skip
    rich = {"question": "when did it freeze", "answers": ["May"], "ctxs": passages}
    (first, second), report = load_lines(tmp_path, [bare, rich])
    assert (first.id, first.answers, first.context) == ("file-1", ("May", "in May"), ())
    assert second.spans == ((1, Span(3, 6)),) and second.gold == (1,)
    assert report.counts == {"answer_near": 1}


def test_qed(tmp_path: Path) -> None:
    record = {"example_id": 7, "question_text": "who built it", "title_text": "Bridge",
              "paragraph_text": "It is old . Ada Lind built it .", "answer_spans": [[12, 20]],
              "answer_text": ["Ada Lind"], "sentence_starts": [0, 12], "answer_type": "single_sentence",
              "annotation": "[{'question_entity_text': 'it'}]"}  # fmt: skip
    (question,), report = load_lines(tmp_path, [record])
    assert (question.id, question.answers, question.support) == ("7", ("Ada Lind",), ((0, 1),))
    assert question.context[0].sentences == (Span(0, 11), Span(12, 31))
    assert question.meta["annotation"] == [{"question_entity_text": "it"}] and not report.counts
    cut, report = load_lines(tmp_path, [record | {"answer_text": ["Ada Lin"]}, record | {"answer_spans": [[-1, -1]]},
                                        record | {"answer_spans": [[-1, -1]], "answer_text": [""]}])  # fmt: skip
    assert [q.span_texts() for q in cut] == [("Ada Lind",), ("Ada Lind",), ()]
    assert report.counts == {"answer_text_differs": 1, "empty_answer": 1}
    with pytest.raises(BadRecord, match="expected a span inside the paragraph, which has 31 characters"):
        load_lines(tmp_path, [record | {"answer_spans": [[12, 40]]}])


def test_the_native_format_holds_every_other(tmp_path: Path) -> None:
    asked = [*load_lines(tmp_path, [HOTPOT, HOTPOT | {"_id": "h2", "answer": "no"}])[0],
             *load_lines(tmp_path, [musique(), musique(id="m2", answerable=False)])[0]]  # fmt: skip
    path = tmp_path / "all.jsonl.xz"
    formats.write(asked, path)
    assert formats.guess(path) == "questions"
    assert load(path)[0] == asked


def test_what_no_format_fits(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"title": "no question"}')
    with pytest.raises(BadInput, match="no format of questions fits"):
        load(tmp_path / "x.json")
    with pytest.raises(UnknownName, match="Did you mean 'hotpotqa'"):
        formats.read(tmp_path / "x.json", format="hotpot_qa")
