"""What a reader keeps in meta for annotation does not outlive the annotation."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factpin import formats
from factpin.documents import Document
from factpin.documents.notes import without_annotation
from tests.formats.loading import load_lines

GONE = {"subject": "周桥", "predicate": "国籍", "object": "中国", "subject_type": "人物", "object_type": "国家"}
HERE = {**GONE, "predicate": "毕业院校", "object": "滨海大学", "object_type": "学校", "Combined": True}
ARGUMENT = {"role": "裁员方", "argument": "北岸", "argument_start_index": 0, "alias": ["北岸公司"]}
EVENT = {
    "event_type": "组织关系-裁员",
    "trigger": "裁员",
    "trigger_start_index": 2,
    "class": "人事",
    "arguments": [ARGUMENT],
}
RECORDS: dict[str, dict[str, Any]] = {
    "duee": {"id": "d", "text": "北岸裁员", "event_list": [EVENT]},
    "duie": {"id": "d", "text": "周桥毕业于滨海大学", "spo_list": [GONE, HERE]},
    "triples": {"id": "d", "text": "Ann left", "triple_list": [["Ann", "met", "Bo"], ["Ann", "did", "left"]]},
}
GOLD = ("中国", "Combined", "北岸公司", "人事", "Bo")


def emptied(doc: Document) -> Document:
    return replace(doc, mentions=(), entities=(), facts=(), events=(), meta=without_annotation(doc.meta))


@pytest.mark.parametrize("name", RECORDS)
def test_who_predicts_nothing_writes_nothing_of_gold(name: str, tmp_path: Path) -> None:
    (doc,), _ = load_lines(formats.FORMATS[name], tmp_path, [RECORDS[name] | {"source": "web"}])
    formats.write([emptied(doc)], tmp_path / "out.json", format=name)
    (again,) = formats.read(tmp_path / "out.json", format=name)
    assert not again.facts and not again.events
    assert again.meta.get("source") == "web" and not again.meta.keys() & {"unfound", "duee"}
    assert not [word for word in GOLD if word in (tmp_path / "out.json").read_text(encoding="utf-8")]


def test_gold_remarks_do_not_come_back_on_predicted_arguments(tmp_path: Path) -> None:
    (doc,), _ = load_lines(formats.FORMATS["duee"], tmp_path, [RECORDS["duee"]])
    found = replace(emptied(doc), mentions=doc.mentions, events=doc.events)  # as if all of it had been predicted
    formats.write([found], tmp_path / "out.json", format="duee")
    written = (tmp_path / "out.json").read_text(encoding="utf-8")
    assert '"alias":[]' in written and '"class":"组织关系"' in written


def test_how_a_record_is_spelled_stays(tmp_path: Path) -> None:
    (doc,), _ = load_lines(formats.FORMATS["duie"], tmp_path, [RECORDS["duie"]])
    assert emptied(doc).meta == {"duie": {"version": 1}}
    extra = {"mentions[0]": {"by": "x"}, "labels[5]": {"r": 1}, "pairs": {"rows": []}, "record": {"split": "dev"}}
    doc = Document("d", "x", meta={"empty": {}, "extra": extra, "none": None})
    assert without_annotation(doc.meta) == {"empty": {}, "extra": {"record": {"split": "dev"}}, "none": None}
    assert without_annotation({"extra": {"facts[0]": {"by": "x"}}}) == {}


def test_what_an_earlier_extraction_was_not_sure_of_is_gone() -> None:
    assert without_annotation({"unsure": {"least": 0.73, "mentions": ["m1"]}, "source": "web"}) == {"source": "web"}
