import json

import pytest

from factpin.documents import canonical
from factpin.errors import BadRecord
from factpin.formats import Options, labelstudio
from tests.formats.loading import SAMPLES, load, load_lines, spans, told

TEXT = "Mira Tan, Harbour Town"


def region(start, end, id="a", labels=("PER",), **more):
    return {"id": id, "type": "labels", "value": {"start": start, "end": end, "labels": list(labels)} | more}


def task(*results, text=TEXT, **more):
    return {"data": {"text": text}, "annotations": [{"result": list(results)}]} | more


def arrow(direction="right", labels=("home",)):
    return {"type": "relation", "from_id": "a", "to_id": "b", "direction": direction, "labels": list(labels)}


def written(docs, tmp_path, options=None):
    labelstudio.write(docs, tmp_path / "out.json", options or Options())
    return json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))


def test_the_first_annotation_that_was_not_cancelled_is_read_and_all_come_back(tmp_path):
    docs, report = load(labelstudio, SAMPLES / "labelstudio.json")
    assert told(docs[0]) == [("Mira Tan", "birthplace", "Harbour Town")]
    assert report.counts == {"several_annotations": 1, "other_result": 1, "from_prediction": 1}
    before = json.loads((SAMPLES / "labelstudio.json").read_text(encoding="utf-8"))
    after = written(docs, tmp_path)
    assert [a["id"] for a in after[0]["annotations"]] == [901, 900]
    assert after[0]["annotations"][0]["lead_time"] == 8.5
    key = lambda result: json.dumps(result, sort_keys=True)  # noqa: E731
    assert sorted(map(key, after[0]["annotations"][0]["result"])) == sorted(
        map(key, before[0]["annotations"][1]["result"])
    )
    assert (after[0]["data"], after[0]["project"]) == (before[0]["data"], 3)
    assert after[1:] == before[1:]


def test_a_prediction_is_read_with_its_scores_where_there_is_no_annotation():
    docs, _ = load(labelstudio, SAMPLES / "labelstudio.json")
    assert [(m.text, m.score) for m in docs[1].mentions] == [("周桥", 0.75)]


def test_directions_turn_the_fact_round(tmp_path):
    ends = region(0, 8), region(10, 22, "b", ["LOC"])
    tasks = [task(*ends, arrow(direction)) for direction in ("right", "left", "bi")]
    docs, _ = load_lines(labelstudio, tmp_path, tasks)
    assert [told(doc)[0][0] for doc in docs] == ["Mira Tan", "Harbour Town", "Mira Tan"]
    assert [t["annotations"][0]["result"][-1]["direction"] for t in written(docs, tmp_path)] == ["right", "right", "bi"]


def test_several_labels_are_several_mentions_and_several_facts(tmp_path):
    record = task(region(0, 8, labels=["PER", "ORG"]), region(10, 22, "b"), arrow(labels=["home", "work"]))
    (doc,), _ = load_lines(labelstudio, tmp_path, [record])
    assert spans(doc) == [(0, 8, "PER"), (0, 8, "ORG"), (10, 22, "PER")]
    assert [f.relation for f in doc.facts] == ["home", "work"]


def test_a_relation_without_a_label_is_kept_and_noted(tmp_path):
    (doc,), report = load_lines(labelstudio, tmp_path, [task(region(0, 8), region(10, 22, "b"), arrow(labels=[]))])
    assert (doc.facts, report.counts) == ((), {"other_result": 1})
    assert written([doc], tmp_path)[0]["annotations"][0]["result"][-1] == arrow(labels=[])


def test_global_offsets_count_where_a_value_has_them(tmp_path):
    value = {"start": "/div[1]/text()[1]", "end": "/div[1]/text()[1]", "startOffset": 0, "endOffset": 12,
             "globalOffsets": {"start": 10, "end": 22}, "text": "Harbour Town", "hypertextlabels": ["LOC"]}  # fmt: skip
    docs, _ = load_lines(labelstudio, tmp_path, [task({"id": "h", "type": "hypertextlabels", "value": value})])
    assert spans(docs[0]) == [(10, 22, "LOC")]
    again, _ = load_lines(labelstudio, tmp_path, written(docs, tmp_path))
    assert canonical(again[0]) == canonical(docs[0])


def test_offsets_that_count_as_javascript_does_are_read_and_written_by_choice(tmp_path):
    utf16 = Options(utf16=True)
    docs, _ = load_lines(labelstudio, tmp_path, [task(region(3, 7, text="Mira"), text="😀 Mira")], utf16)
    assert spans(docs[0]) == [(2, 6, "PER")]
    assert written(docs, tmp_path, utf16)[0]["annotations"][0]["result"][0]["value"]["start"] == 3
    assert written(docs, tmp_path)[0]["annotations"][0]["result"][0]["value"]["start"] == 2


@pytest.mark.parametrize(
    ("record", "field", "words"),
    [
        (task(region(3, 7, text="Mira"), text="😀 Mira"), "annotations[0].result[0]", "--utf16"),
        (task(region(0, 7, text="Mira Tan")), "mentions[0]", "inclusive ends"),
        (task(region(0, 99)), "mentions[0]", "text[0:99]"),
        (task(region(5, 5)), "start", "expected 0 <= start < end"),
        (task({"id": "a", "type": "labels", "value": {"start": 0, "labels": []}}),
         "annotations[0].result[0].end", "missing"),
        (task(region(0, 8), arrow()), "annotations[0].result[1]", "'b'"),
        (task(region(0, 8) | {"score": 10**400}), "", "64 bits"),
        (task(region(0, 8) | {"id": 4}), "annotations[0].result[0].id", "a string"),
        ({"data": {"body": "x"}, "annotations": []}, "data.text", "missing"),
        ({"data": {"text": "x"}, "annotations": [3]}, "annotations[0]", "an object"),
        ({"data": {"text": "x"}, "annotations": {}, "labelstudio": 1}, "labelstudio", "Rename"),
    ],
)  # fmt: skip
def test_an_error_names_item_and_field(record, field, words, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(json.dumps([task(), record]), encoding="utf-8")
    with pytest.raises(BadRecord) as caught:
        load(labelstudio, path)
    assert (caught.value.line, caught.value.field) == (2, field)
    assert words in str(caught.value)
