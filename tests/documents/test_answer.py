import json
from dataclasses import replace

import pytest

from factpin.documents.answer import (
    Answer,
    Citation,
    Hop,
    Passage,
    answer_from_json,
    answer_to_json,
    cite,
    share,
)
from factpin.documents.keys import document_key, passage_key
from factpin.documents.nouns import Span
from factpin.errors import BadDocument, OffsetMismatch

TEXT = "谷爱凌2003年出生在美国旧金山。她滑雪。"
DOCUMENT = document_key("gu.txt")
PASSAGE = Passage(passage_key(DOCUMENT, 0, 18), DOCUMENT, 0, 18, TEXT[0:18], "谷爱凌")
CITATION = cite(PASSAGE, "gu.txt", 13, 16, sentence=Span(0, 17))


def test_a_citation_is_a_slice_of_its_text() -> None:
    assert CITATION.quote == TEXT[13:16] == "旧金山"
    CITATION.check(TEXT)
    with pytest.raises(OffsetMismatch, match="Make the citation again"):
        CITATION.check(TEXT[1:])


def test_offsets_must_fit_the_quote() -> None:
    for start, end in ((13, 17), (-1, 2), (5, 5)):
        with pytest.raises(BadDocument, match="does not match"):
            Citation(DOCUMENT, "gu.txt", start, end, "旧金山")
    with pytest.raises(BadDocument, match="not inside the passage"):
        cite(PASSAGE, "gu.txt", 13, 20)
    with pytest.raises(BadDocument, match="expected the key"):
        Passage("x", DOCUMENT, 0, 2, "谷爱")


def test_an_answer_cites_or_abstains() -> None:
    with pytest.raises(BadDocument, match="needs a citation"):
        Answer("哪里？", "旧金山", 0.9, "facts")
    with pytest.raises(BadDocument, match="no text and no citations"):
        Answer("哪里？", "旧金山", 0.1, "facts", abstained=True, citations=(CITATION,))
    with pytest.raises(BadDocument, match="sum to 1"):
        Answer("哪里？", "旧金山", 0.9, "facts", citations=(CITATION, CITATION))
    assert Answer("哪里？", "", 0.1, "extract", abstained=True).citations == ()
    assert Answer("Why?", "Because.", 0.3, "generate", generated=True).text == "Because."


def test_shares_sum_to_one() -> None:
    shared = share([replace(CITATION, weight=0.6), replace(CITATION, weight=0.2)])
    assert [c.weight for c in shared] == pytest.approx([0.75, 0.25])
    assert [c.weight for c in share([replace(CITATION, weight=0.0)] * 2)] == [0.5, 0.5]
    assert share([]) == ()


def test_json_gives_the_answer_back() -> None:
    other = Answer("哪里？", "美国", 0.04, "extract", citations=(cite(PASSAGE, "gu.txt", 11, 13),))
    answer = Answer(
        "哪里？", "旧金山", 0.93, "facts", citations=share([replace(CITATION, fact="a91b"), CITATION]),
        path=(Hop("e1", "e2", CITATION, "出生地"),), alternatives=(other,), conflict=True, notes=("note",),
    )  # fmt: skip
    assert answer_from_json(json.loads(json.dumps(answer_to_json(answer)))) == answer


@pytest.mark.parametrize("change", [{"mode": "guess"}, {"score": 1.5}, {"score": float("nan")}])
def test_fields_of_an_answer_are_checked(change: dict[str, object]) -> None:
    with pytest.raises(BadDocument):
        Answer(**{"question": "q", "text": "a", "score": 0.5, "mode": "facts", "citations": (CITATION,), **change})
