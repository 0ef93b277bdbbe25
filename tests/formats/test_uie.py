import json

import pytest

from factpin.documents import Document
from factpin.errors import BadRecord
from factpin.formats import Options, uie
from tests.formats.loading import SAMPLES, load, load_lines, pins, spans, told

TEXT = "林晚写了《灯塔》，林晚也写了《潮》。"


def item(text, start, **more):
    return {"text": text, "start": start, "end": start + len(text)} | more


def ask(prompt, *items, content=TEXT, **more):
    return {"content": content, "result_list": list(items), "prompt": prompt} | more


def test_prompts_are_types_and_relations_in_both_languages():
    docs, report = load(uie, SAMPLES / "uie.jsonl")
    assert [told(doc) for doc in docs] == [
        [("灯塔与潮", "作者", "林晚")],
        [("Mira Tan", "birthplace", "Harbour Town")],
        [],
    ]
    assert spans(docs[1]) == [(0, 8, "person"), (21, 33, "place")]
    assert docs[0].meta == {"negatives": ["时间"]}
    assert not report.counts


def test_records_of_one_content_are_one_document_only_where_they_follow_each_other(tmp_path):
    records = [
        ask("人物", item("林晚", 0)),
        ask("书", item("灯塔", 5)),
        ask("人物", content="别的"),
        ask("人物", item("林晚", 0)),
    ]
    docs, _ = load_lines(uie, tmp_path, records)
    assert [len(doc.mentions) for doc in docs] == [2, 0, 1]
    assert [doc.id for doc in docs] == ["file-1", "file-3", "file-4"]


def test_two_documents_of_the_same_text_stay_two(tmp_path):
    docs = [Document("a", TEXT), Document("b", TEXT)]
    uie.write(docs, tmp_path / "out.jsonl", Options())
    assert load(uie, tmp_path / "out.jsonl")[0] == docs


@pytest.mark.parametrize(("choice", "start"), [("first", 0), ("nearest", 9)])
def test_a_subject_with_several_mentions_is_the_first_or_the_nearest(choice, start, tmp_path):
    records = [
        ask("人物", item("林晚", 0), item("林晚", 9)),
        ask("书", item("潮", 15)),
        ask("林晚的作品", item("潮", 15)),
    ]
    (doc,), report = load_lines(uie, tmp_path, records, Options(occurrences=choice))
    assert pins(doc) == [(start, 15)]
    assert report.counts == {"ambiguous_argument": 1}


def test_a_type_with_的_stays_a_type_unless_its_beginning_is_in_the_content(tmp_path):
    (doc,), _ = load_lines(uie, tmp_path, [ask("作品的名字", item("潮", 15))])
    assert (spans(doc), doc.facts) == ([(15, 16, "作品的名字")], ())


def test_the_longest_subject_that_is_a_mention_wins(tmp_path):
    text = "甲的乙是丙"
    records = [
        ask("物", item("甲", 0), item("甲的乙", 0), content=text),
        ask("甲的乙的颜色", item("丙", 4), content=text),
    ]
    (doc,), _ = load_lines(uie, tmp_path, records)
    assert told(doc) == [("甲的乙", "颜色", "丙")]


def test_a_subject_that_no_prompt_asked_for_is_found_and_noted(tmp_path):
    (doc,), report = load_lines(uie, tmp_path, [ask("林晚的作品", item("潮", 15))])
    assert told(doc) == [("林晚", "作品", "潮")]
    assert report.counts == {"subject_without_type": 1}


def test_classification_prompts_are_kept_noted_and_written_back(tmp_path):
    classes = ask("情感倾向[正向,负向]", {"text": "正向", "start": -7, "end": -5})
    (doc,), report = load_lines(uie, tmp_path, [ask("人物", item("林晚", 0)), classes])
    assert (spans(doc), report.counts) == ([(0, 2, "人物")], {"classification": 1})
    assert not uie.lost(doc, Options())
    uie.write([doc], tmp_path / "out.jsonl", Options())
    assert load(uie, tmp_path / "out.jsonl")[0][0].meta == doc.meta


@pytest.mark.parametrize(
    "meta", [{"negatives": 3}, {"negatives": ["x", "x"]}, {"classes": [{"prompt": "x"}]}, {"prompt": "x"}]
)
def test_meta_that_prompts_cannot_say_is_a_loss(meta, tmp_path):
    doc = Document("d", TEXT, meta=meta)
    assert uie.lost(doc, Options()) == {"meta": 1}
    uie.write([doc], tmp_path / "out.jsonl", Options(lossy=True))
    assert load(uie, tmp_path / "out.jsonl")[0][0].text == TEXT


def test_an_answer_is_read_with_its_scores_and_nested_relations(tmp_path):
    deep = item("林晚", 0, probability=0.5, relations={"写": [item("潮", 15, probability=0.25)]})
    result = [
        {
            "书": [item("灯塔", 5, probability=0.9, relations={"作者": [deep]})],
            "情感": [{"text": "好", "probability": 1}],
        }
    ]
    (doc,), report = load_lines(uie, tmp_path, [{"text": TEXT, "result": result}])
    assert told(doc) == [("灯塔", "作者", "林晚"), ("林晚", "写", "潮")]
    assert [f.score for f in doc.facts] == [0.5, 0.25]
    assert doc.meta["unplaced"] == [{"label": "情感", "text": "好", "probability": 1}]
    assert report.counts == {"result_without_offsets": 1}
    assert uie.lost(doc, Options()) == {"scores": 5}


def test_relations_nested_to_any_depth_are_read(tmp_path):
    nested = item("潮", 15)
    for _ in range(150):
        nested = item("潮", 15, relations={"r": [nested]})
    (doc,), _ = load_lines(uie, tmp_path, [{"text": TEXT, "result": {"书": [nested]}}])
    assert (len(doc.mentions), len(doc.facts)) == (1, 150)


def test_a_fact_whose_subject_would_be_found_elsewhere_is_a_loss(tmp_path):
    records = [
        ask("人物", item("林晚", 0), item("林晚", 9)),
        ask("书", item("潮", 15)),
        ask("林晚的作品", item("潮", 15)),
    ]
    (doc,), _ = load_lines(uie, tmp_path, records, Options(occurrences="nearest"))
    assert not uie.lost(doc, Options(occurrences="nearest"))
    assert uie.lost(doc, Options()) == {"moved pins": 1}


def test_one_record_is_written_for_each_type_and_each_subject_and_relation(tmp_path):
    docs, _ = load(uie, SAMPLES / "uie.jsonl")
    uie.write(docs, tmp_path / "out.jsonl", Options())
    prompts = [json.loads(line)["prompt"] for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert prompts == [
        "人物",
        "图书作品",
        "机构",
        "灯塔与潮的作者",
        "时间",
        "person",
        "place",
        "birthplace of Mira Tan",
        "人物",
    ]


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (ask("人物", {"text": "林晚", "start": 0}), "result_list.end"),
        (ask("人物", item("林晚", 1)), "mentions[0]"),
        (ask(None), "prompt"),
        ({"content": TEXT, "prompt": "人物"}, "result_list"),
        ({"text": TEXT, "result": [{"书": [item("灯塔", 5, probability=2)]}]}, "result[0].书[0].probability"),
        ({"text": TEXT, "result": [{"书": {}}]}, "result[0].书"),
        ({"prompt": "x", "result_list": []}, "content"),
        (3, ""),
    ],
)
def test_an_error_names_line_and_field(record, field, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_lines(uie, tmp_path, [ask("人物", content="别的"), record])
    assert (caught.value.line, caught.value.field) == (2, field)


def test_a_broken_line_can_be_set_aside_without_its_neighbours(tmp_path):
    path = tmp_path / "file.jsonl"
    line = json.dumps(ask("人物", item("林晚", 0)))
    path.write_text(f"{line}\nnot json\n{line}\n", encoding="utf-8")
    docs, report = load(uie, path, Options(skip_bad=True))
    assert (len(docs), report.rejected) == (2, 1)
