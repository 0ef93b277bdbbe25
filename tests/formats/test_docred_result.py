import json

import pytest

from factpin.documents import Evidence, Fact
from factpin.errors import BadInput, BadRecord
from factpin.formats import Options, Report, docred
from factpin.formats.docred_result import is_empty_list, read_result, write_result
from tests.formats.loading import SAMPLES, load


def gold():
    return load(docred, SAMPLES / "docred.json")[0]


def test_predictions_take_the_place_of_gold_facts(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps([
        {"title": "青石茶馆", "h_idx": 0, "t_idx": 2, "r": "P112", "evidence": [1], "score": 0.75},
        {"title": "Lantern Bridge", "h_idx": 3, "t_idx": 2, "r": "P19"},
        {"title": "青石茶馆", "h_idx": 1, "t_idx": 0, "r": "P1"},
    ]), encoding="utf-8")  # fmt: skip
    bridge, tea, question = read_result(path, gold())
    assert bridge.facts == (Fact("e3", "P19", "e2"),)
    assert tea.facts == (Fact("e0", "P112", "e2", score=0.75, evidence=(Evidence(1),)), Fact("e1", "P1", "e0"))
    assert question.facts == ()


def test_what_is_written_is_read_again(tmp_path):
    write_result(gold(), tmp_path / "result.json")
    assert list(read_result(tmp_path / "result.json", gold())) == gold()
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))[0] == {
        "title": "Lantern Bridge", "h_idx": 0, "t_idx": 1, "r": "P177", "evidence": [0]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"title": "nobody"}, "title"),
        ({"h_idx": 5}, "h_idx"),
        ({"t_idx": -1}, "t_idx"),
        ({"evidence": [3]}, "evidence"),
        ({"score": 1.5}, "item.score"),
        ({"r": 4}, "r"),
    ],
)
def test_a_prediction_about_nothing_is_refused_or_set_aside(fields, field, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps([{"title": "Lantern Bridge", "h_idx": 0, "t_idx": 1, "r": "P1"} | fields]))
    with pytest.raises(BadRecord) as caught:
        list(read_result(path, gold()))
    assert (caught.value.line, caught.value.field) == (1, field)
    report = Report()
    docs = list(read_result(path, gold(), options=Options(skip_bad=True), report=report))
    assert (len(docs), report.rejected) == (3, 1)


def test_two_gold_documents_of_one_title_are_refused(tmp_path):
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(BadInput, match="two gold documents"):
        list(read_result(tmp_path / "result.json", gold() * 2))


@pytest.mark.parametrize(
    ("text", "empty"), [("[]", True), (" [\n ]\n", True), ("[{}]", False), ("{}", False), ("", False)]
)
def test_an_empty_list_is_told_from_others(text, empty, tmp_path):
    (tmp_path / "result.json").write_text(text)
    assert is_empty_list(tmp_path / "result.json") is empty
