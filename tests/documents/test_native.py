import json

import pytest
from hypothesis import given, settings

from factpin.documents import Document, canonical, from_json, to_json
from factpin.errors import BadDocument
from factpin.formats import FORMATS
from tests.formats.strategies import documents

EVERYTHING = FORMATS["jsonl"].HOLDS


@settings(max_examples=150, deadline=None)
@given(documents(EVERYTHING))
def test_json_gives_the_document_back(doc: Document) -> None:
    assert from_json(json.loads(json.dumps(to_json(doc)))) == doc


def test_the_status_of_an_event_comes_back_with_its_cue() -> None:
    event = {"id": "v0", "type": "裁员", "trigger": "m0", "assertion": "negated", "cue": [4, 6]}
    mention = {"id": "m0", "start": 6, "end": 8, "text": "裁员"}
    record = {"id": "d", "text": "蓝天科技没有裁员。", "mentions": [mention], "events": [event]}
    doc = from_json(record)
    assert (doc.events[0].assertion, doc.events[0].cue) == ("negated", (4, 6)) and not doc.meta
    assert to_json(doc) == record


def test_absent_fields_are_left_out() -> None:
    assert to_json(Document("d", "x")) == {"id": "d", "text": "x"}


def test_unknown_fields_go_to_meta_and_stay_there() -> None:
    record = {
        "id": "d",
        "text": "ab",
        "source": "web",
        "meta": {"k": 1},
        "mentions": [{"id": "m", "start": 0, "end": 1, "text": "a", "colour": "red"}],
    }
    doc = from_json(record)
    assert doc.meta == {"k": 1, "source": "web", "extra": {"mentions[0]": {"colour": "red"}}}
    assert from_json(to_json(doc)) == doc


def test_a_field_in_the_record_and_in_meta_is_refused() -> None:
    with pytest.raises(BadDocument, match="Rename one"):
        from_json({"id": "d", "text": "a", "source": 1, "meta": {"source": 2}})


@pytest.mark.parametrize(
    "change, field",
    [
        ({"text": 3}, "text"),
        ({"mentions": {}}, "mentions"),
        ({"mentions": [3]}, "mentions[0]"),
        ({"mentions": [{"start": "0", "end": 1, "text": "a"}]}, "mentions[0].start"),
        ({"mentions": [{"start": True, "end": 1, "text": "a"}]}, "mentions[0].start"),
        ({"mentions": [{"start": 0, "text": "a"}]}, "mentions[0].end"),
        ({"mentions": [{"start": 0, "end": 1, "text": "a", "score": "high"}]}, "mentions[0].score"),
        ({"sentences": [[0, 1, 2]]}, "sentences[0]"),
        ({"facts": [{"head": "e0", "tail": "e1"}]}, "facts[0].relation"),
        ({"events": [{"type": "t", "cue": [0, "1"]}]}, "events[0].cue[0]"),
    ],
)
def test_an_error_names_the_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(BadDocument) as caught:
        from_json({"id": "d", "text": "a", **change})
    assert caught.value.field == field


@settings(max_examples=100, deadline=None)
@given(documents(EVERYTHING))
def test_canonical_is_one_spelling(doc: Document) -> None:
    once = canonical(doc)
    assert canonical(once) == once
    assert {(m.start, m.end, m.type) for m in once.mentions} == {(m.start, m.end, m.type) for m in doc.mentions}
    assert len(once.facts) == len(doc.facts)
