"""SpERT's records: positions of tokens and of entities."""

import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.errors import BadRecord
from tests.formats.test_formats import sample


def test_relations_join_the_entities_at_their_positions() -> None:
    first, second, third = formats.read(sample("spert"))
    assert [(m.text, m.type) for m in first.mentions] == [
        ("Mira Holt", "Peop"),
        ("Oslo", "Loc"),
        ("Northgate Air", "Org"),
    ]
    assert [(f.head.name, f.relation, f.tail.name) for f in first.facts] == [
        ("Mira Holt", "Live_In", "Oslo"),
        ("Mira Holt", "Work_For", "Northgate Air"),
    ]
    assert (first.id, second.id, third.id) == ("12", "case-7", "14")
    assert [m.text for m in second.mentions] == ["Severe rash", "velatrin sodium", "velatrin"] and not third.mentions


@pytest.mark.parametrize(
    "change, said",
    [
        ({"entities": [{"type": "x", "start": 1, "end": 3}]}, "start and end in a sentence of 2 tokens"),
        ({"entities": [{"type": "x", "start": 1, "end": 1}]}, "start and end in a sentence of 2 tokens"),
        ({"relations": [{"type": "x", "head": 0, "tail": 1}]}, "positions in a list of 1 entity"),
        ({"relations": [{"type": "x", "head": -1, "tail": 0}]}, "positions in a list of 1 entity"),
    ],
)
def test_positions_outside_the_record_are_refused(change: dict[str, object], said: str, tmp_path: Path) -> None:
    record = {"tokens": ["a", "b"], "entities": [{"type": "x", "start": 0, "end": 1}], "relations": [], "orig_id": 1}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record | change]))
    with pytest.raises(BadRecord, match=said):
        list(formats.read(path, format="spert"))


def test_further_fields_come_back(tmp_path: Path) -> None:
    record = {"tokens": ["a", "b"], "entities": [{"type": "x", "start": 0, "end": 1, "cui": "C1"}], "relations": [],
              "orig_id": 3, "pos": ["N", "V"]}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record]))
    formats.write(formats.read(path, format="spert"), tmp_path / "b.json", format="spert")
    assert json.loads((tmp_path / "b.json").read_text()) == [record]
