"""CMeEE's records: inclusive ends, and exclusive ones that the characters show."""

import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.errors import BadInput, BadRecord
from factpin.formats import FORMATS, Report
from factpin.formats._guess import head


def write(path: Path, *entities: dict[str, object]) -> Path:
    path.write_text(json.dumps([{"text": "因发热就诊", "entities": list(entities), "split": "dev"}]), "utf-8")
    return path


def test_ends_are_inclusive_and_exclusive_ones_are_noted(tmp_path: Path) -> None:
    inclusive = {"start_idx": 1, "end_idx": 2, "type": "sym", "entity": "发热"}
    (doc,) = formats.read(write(tmp_path / "a.json", inclusive))
    assert [(m.start, m.end, m.text, m.type) for m in doc.mentions] == [(1, 3, "发热", "sym")]
    report = Report()
    (same,) = formats.read(write(tmp_path / "a.json", inclusive | {"end_idx": 3}), report=report)
    assert same.mentions == doc.mentions and report.counts["exclusive_end"] == 1
    (first,) = formats.read(write(tmp_path / "a.json", {"start_idx": 0, "end_idx": 1, "type": "x", "entity": "因"}))
    assert [(m.start, m.end) for m in first.mentions] == [(0, 1)]


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_records_without_entities_may_come_first(ending: str, tmp_path: Path) -> None:
    one = {"start_idx": 1, "end_idx": 2, "type": "sym", "entity": "发热"}
    records = [{"text": "无", "entities": []}, {"text": "因发热就诊", "entities": [one]}]
    path = tmp_path / f"a{ending}"
    path.write_text(json.dumps(records) if ending == ".json" else "\n".join(map(json.dumps, records)), "utf-8")
    assert formats.guess(path) == "cmeee"
    path.write_text(json.dumps(records[:1]), "utf-8")
    with pytest.raises(BadInput, match="no format fits"):
        formats.guess(path)


@pytest.mark.parametrize("start, end", [(1, 4), (1, 1), (2, 3), (-3, -2), (4, 9)])
def test_ends_that_are_neither_are_refused(start: int, end: int, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"start_idx": start, "end_idx": end, "type": "sym", "entity": "发热"})
    with pytest.raises(BadRecord):
        list(formats.read(path))


def test_further_fields_come_back(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"start_idx": 1, "end_idx": 2, "type": "sym", "entity": "发热", "normal": "R50"})
    formats.write(formats.read(path), tmp_path / "b.json", format="cmeee")
    written = json.loads((tmp_path / "b.json").read_text())[0]
    assert written.pop("id") == "a-1" and [written] == json.loads(path.read_text())


def test_a_mention_without_its_characters_has_an_inclusive_end(tmp_path: Path) -> None:
    for start, end, text in ((1, 2, "发热"), (1, 1, "发"), (0, 0, "因")):
        (doc,) = formats.read(write(tmp_path / "a.json", {"start_idx": start, "end_idx": end, "type": "sym"}))
        assert [m.text for m in doc.mentions] == [text]


def test_its_records_are_known(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"start_idx": 1, "end_idx": 2, "type": "sym", "entity": "发热"})
    assert FORMATS["cmeee"].fits(head(path, "utf-8")) is True


@pytest.mark.parametrize("record", [{"text": 1, "entities": []}, {"text": "x", "entities": []}, {"text": "x"}])
def test_other_records_are_not_taken_for_cmeee(record: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record]))
    assert not FORMATS["cmeee"].fits(head(path, "utf-8"))
