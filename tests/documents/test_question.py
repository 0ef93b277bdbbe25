"""Questions as nouns: what is refused, what follows from their gold, and their records."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Document, Question, Span, question_from_json, question_to_json
from factpin.errors import BadDocument

LAKE = Document("lake", "The lake froze in May. Nobody saw it.", sentences=(Span(0, 22), Span(23, 37)))
RIVER = Document("river", "河水在五月上涨。", sentences=(Span(0, 8),), meta={"title": "河"})
WHEN = Question(
    id="q1",
    text="When did the lake freeze?",
    language="en",
    answers=("May", "in May"),
    context=(RIVER, LAKE),
    spans=((1, Span(18, 21)), (1, Span(15, 21))),
    support=((1, 0), (0, 0)),
    steps=(("lake", "froze in", "May"),),
    meta={"type": "bridge"},
)


def test_gold_contexts_and_texts() -> None:
    assert WHEN.gold == (0, 1)
    assert WHEN.span_texts() == ("May", "in May")
    assert Question("q", "Why?").gold == ()


@pytest.mark.parametrize(
    "change, field, said",
    [
        ({"text": "  "}, "question", "is empty"),
        ({"kind": "yesno"}, "kind", "expected '', 'yes_no', 'choice'"),
        ({"answerable": False}, "answerable", "has answers"),
        ({"answers": ("May", "")}, "answers", "an answer is empty"),
        ({"spans": ((2, Span(0, 1)),)}, "spans[0]", "refers to context 2, but there are 2"),
        ({"spans": ((1, Span(5, 5)),)}, "spans[0]", "5:5 in a context of 37 characters"),
        ({"spans": ((1, Span(30, 38)),)}, "spans[0]", "expected a span inside it"),
        ({"support": ((0, 0), (0, 1))}, "support[1]", "refers to sentence 1, but the context has 1"),
        ({"support": ((-1, 0),)}, "support[0]", "refers to context -1"),
    ],
)
def test_what_cannot_be_is_refused(change: dict, field: str, said: str) -> None:
    with pytest.raises(BadDocument, match="q1") as caught:
        replace(WHEN, **change)
    assert said in str(caught.value) and caught.value.field == field


def test_a_question_without_answers_is_unanswerable_or_unknown() -> None:
    assert Question("q", "Why?").answerable
    assert not Question("q", "Why?", answerable=False).answerable


def test_the_record_holds_everything() -> None:
    record = question_to_json(WHEN)
    assert record["question"] == WHEN.text and record["spans"] == [[1, 18, 21], [1, 15, 21]]
    assert question_from_json(record) == WHEN
    unanswerable = Question("q", "Why?", answerable=False)
    assert question_to_json(unanswerable) == {"id": "q", "question": "Why?", "answerable": False}
    assert question_from_json(question_to_json(unanswerable)) == unanswerable


def test_unknown_fields_are_kept_and_an_absent_id_is_given() -> None:
    question = question_from_json({"question": "Why?", "level": "hard"}, "file-3")
    assert (question.id, question.meta) == ("file-3", {"level": "hard"})


@pytest.mark.parametrize(
    "record, field",
    [
        ({"id": "q"}, "question"),
        ({"id": "q", "question": 3}, "question"),
        ({"id": "q", "question": "Why?", "answers": "May"}, "answers"),
        ({"id": "q", "question": "Why?", "answerable": "no"}, "answerable"),
        ({"id": "q", "question": "Why?", "spans": [[0, 1]]}, "spans[0]"),
        ({"id": "q", "question": "Why?", "spans": [[0, 1, 2.5]]}, "spans[0]"),
        ({"id": "q", "question": "Why?", "steps": [["a", "b"]]}, "steps[0]"),
        ([], ""),
    ],
)
def test_a_wrong_record_names_its_field(record: object, field: str) -> None:
    with pytest.raises(BadDocument) as caught:
        question_from_json(record)
    assert caught.value.field == field


@given(st.text("ab河 \n", min_size=1, max_size=20), st.data())
def test_every_question_survives_its_record(text: str, data: st.DataObject) -> None:
    end = data.draw(st.integers(1, len(text)))
    start = data.draw(st.integers(0, end - 1))
    question = Question("q", "w?", context=(Document("d", text),), spans=((0, Span(start, end)),), answers=("x",))
    assert question_from_json(question_to_json(question)) == question
    assert question.span_texts() == (text[start:end],)
