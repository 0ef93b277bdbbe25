import pytest

from factpin.documents import Document, Entity, Fact, Mention, canonical
from factpin.errors import BadRecord
from factpin.formats import Options, duie
from tests.formats.loading import ABSENT, DATA, SAMPLES, load, load_lines, told

COUNTS = {  # documents, facts and unfound, predicates, facts with slots, unfound
    "duie2_train_a": (5000, 8945, 46, 313, 0),
    "duie2_train_b": (4398, 7999, 46, 288, 0),
    "duie2_dev": (2000, 3656, 45, 100, 0),
    "duie1_train": (2601, 5293, 48, 0, 10),
    "duie1_dev": (1000, 2073, 44, 0, 0),
}


def spo(subject="周桥", predicate="国籍", object="中国", **more):
    return {
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "subject_type": "人物",
        "object_type": "国家",
    } | more


def test_slots_become_qualifiers_with_their_own_types():
    docs, _ = load(duie, SAMPLES / "duie.json")
    release, role = docs[1].facts
    mention = {m.id: m for m in docs[1].mentions}
    assert [(q.role, mention[q.mention].text, mention[q.mention].type) for q in release.qualifiers] == [
        ("inArea", "新加坡", "地点")
    ]
    assert role.qualifiers[0].entity == release.head
    assert told(docs[1]) == [("北岸", "上映时间", "2014年6月"), ("Mira Tan", "饰演", "船长")]


def test_one_string_with_two_types_is_two_entities(tmp_path):
    first = spo("北岸", "作者", "林晚", subject_type="图书作品", object_type="人物")
    second = spo("北岸", "导演", "林晚", subject_type="影视作品", object_type="人物")
    (doc,), _ = load_lines(duie, tmp_path, [{"text": "北岸，林晚", "spo_list": [first, second]}])
    assert [(e.name, e.type) for e in doc.entities] == [("北岸", "图书作品"), ("北岸", "影视作品"), ("林晚", "人物")]


def test_an_spo_that_is_not_in_the_text_is_noted_kept_and_written_back(tmp_path):
    unfound = spo(object="中国")
    record = {"text": "周桥毕业于滨海大学", "spo_list": [unfound, spo(predicate="毕业院校", object="滨海大学")]}
    docs, report = load_lines(duie, tmp_path, [record])
    assert docs[0].meta["unfound"] == [unfound]
    assert report.counts["argument_not_found"] == 1
    assert not duie.lost(docs[0], Options())
    duie.write(docs, tmp_path / "out.json", Options())
    (again,), _ = load(duie, tmp_path / "out.json")
    assert again.meta == docs[0].meta
    assert told(again) == told(docs[0])


def test_both_versions_are_written_as_they_were_read(tmp_path):
    docs, _ = load(duie, SAMPLES / "duie.json")
    duie.write(docs, tmp_path / "out.json", Options())
    lines = (tmp_path / "out.json").read_text(encoding="utf-8").splitlines()
    assert '"object":{"@value":"林晚"}' in lines[0]
    assert '"object":"滨海大学"' in lines[3]
    assert '"postag":' in lines[3]


def test_fields_of_an_spo_that_nobody_knows_come_back(tmp_path):
    docs, _ = load_lines(duie, tmp_path, [{"text": "周桥 中国", "spo_list": [spo(Combined=True)]}])
    duie.write(docs, tmp_path / "out.json", Options())
    assert '"Combined":true' in (tmp_path / "out.json").read_text(encoding="utf-8")


def test_a_fact_told_twice_is_two_facts_and_a_note(tmp_path):
    (doc,), report = load_lines(duie, tmp_path, [{"text": "周桥 中国", "spo_list": [spo(), spo()]}])
    assert len(doc.facts) == 2
    assert report.counts["duplicate_fact"] == 1


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"object": 5}, "spo_list[0].object"),
        ({"object": {"inArea": "中国"}}, "spo_list[0].object"),
        ({"object": {"@value": None}}, "spo_list[0].object.@value"),
        ({"predicate": ""}, "spo_list[0].predicate"),
        ({"subject_type": []}, "spo_list[0].subject_type"),
        ({"object_type": 1}, "spo_list[0].object_type"),
    ],
)
def test_an_error_names_file_line_and_field(tmp_path, wrong, field):
    with pytest.raises(BadRecord) as caught:
        load_lines(duie, tmp_path, [{"text": "好", "spo_list": []}, {"text": "周桥 中国", "spo_list": [spo(**wrong)]}])
    assert (caught.value.line, caught.value.field) == (2, field)
    assert caught.value.file.endswith("file.jsonl")


def pinned_at(start):
    mentions = Mention("m0", start, start + 2, "周桥", "人物"), Mention("m1", 5, 7, "中国", "国家")
    entities = Entity("e0", ("m0",), "人物", "周桥"), Entity("e1", ("m1",), "国家", "中国")
    return Document(
        "d", "周桥，周桥中国", mentions=mentions, entities=entities, facts=(Fact("e0", "国籍", "e1", "m0", "m1"),)
    )


def test_a_pin_that_the_reader_would_put_elsewhere_is_a_loss_of_that_choice_alone():
    assert not duie.lost(pinned_at(0), Options())
    assert duie.lost(pinned_at(3), Options()) == {"moved pins": 1}
    assert not duie.lost(pinned_at(3), Options(occurrences="nearest"))
    assert duie.lost(pinned_at(0), Options(occurrences="nearest")) == {"moved pins": 1}


def test_meta_that_would_overwrite_the_record_is_a_loss_and_is_left_out(tmp_path):
    doc = Document("d", "好", meta={"text": "x", "unfound": "y", "duie": 3, "kept": 1})
    assert duie.lost(doc, Options()) == {"meta": 3}
    duie.write([doc], tmp_path / "out.json", Options(lossy=True))
    (again,), _ = load(duie, tmp_path / "out.json")
    assert (again.text, again.meta) == ("好", {"kept": 1})


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize("name", COUNTS)
def test_the_public_samples_have_the_counts_of_their_source(name, tmp_path):
    docs, report = load(duie, DATA / "duie" / f"{name}.json.xz")
    unfound = [spo for doc in docs for spo in doc.meta.get("unfound", [])]
    facts = [fact for doc in docs for fact in doc.facts]
    relations = {fact.relation for fact in facts} | {spo["predicate"] for spo in unfound}
    slotted = sum(bool(fact.qualifiers) for fact in facts)
    assert (len(docs), len(facts) + len(unfound), len(relations), slotted, len(unfound)) == COUNTS[name]
    assert report.counts["argument_not_found"] == len(unfound)
    assert not any(duie.lost(doc, Options()) for doc in docs[:500])
    duie.write(docs[:500], tmp_path / "out.json", Options())
    again, _ = load(duie, tmp_path / "out.json")
    assert [canonical(doc) for doc in again] == [canonical(doc) for doc in docs[:500]]
