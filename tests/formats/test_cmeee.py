"""CMeEE's records: inclusive ends, and exclusive ones that the characters show."""

import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.errors import BadRecord
from factpin.formats import Report


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
