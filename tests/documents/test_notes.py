"""What a corpus says beyond the nouns: typed, and stored as version 0.1 did."""

import pytest

from factpin.documents import CorpusNotes, Document, UnfoundFact, from_json, to_json

SPO = {"subject": "周桥", "predicate": "国籍", "object": {"@value": "中国", "inWork": "x"}}
ROWS = [["not_include", "a", 0, 2], ["1:CID:2", "b", 0, 1]]
RECORD = {  # as version 0.1 wrote it
    "id": "d",
    "text": "x",
    "meta": {
        "annotated": {"mentions": ["person"]},
        "unfound": [["Ann", "met", "Bo"], SPO, "what another tool wrote"],
        "extra": {"pairs": {"rows": ROWS}, "mentions[0]": {"by": "me"}},
        "duie": {"version": 1, "extra": {"a | r | b": {"n": 1}}},
        "source": "web",
    },
}


def test_a_record_of_version_0_1_has_typed_notes_and_comes_back_exactly() -> None:
    doc = from_json(RECORD)
    assert doc.notes == CorpusNotes(
        unfound=(UnfoundFact("Ann", "met", "Bo"), UnfoundFact("周桥", "国籍", "中国", frozenset({("inWork", "x")}))),
        excluded_pairs=frozenset({frozenset({0, 2})}),
        annotated_types=frozenset({"person"}),
        annotated_relations=None,
    )
    assert to_json(doc) == RECORD and list(to_json(doc)["meta"]) == list(RECORD["meta"])


@pytest.mark.parametrize("meta", [{}, {"unfound": "x"}, {"extra": 3}, {"extra": {"pairs": {"rows": [1]}}}])
def test_other_values_under_these_keys_are_no_notes(meta: dict[str, object]) -> None:
    assert Document("d", "x", meta=meta).notes == CorpusNotes()
