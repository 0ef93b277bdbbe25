import json
import lzma

import pytest

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.errors import BadRecord
from factpin.formats import Options, docred
from factpin.formats._guess import head
from tests.formats.loading import ABSENT, DATA, SAMPLES, load


def record(**fields):
    mention = {"name": "Aster", "sent_id": 1, "pos": [1, 2], "type": "LOC"}
    return {"title": "T", "sents": [["One", "."], ["The", "Aster"]], "vertexSet": [[mention]], "labels": []} | fields


def load_items(folder, *records, options=None):
    path = folder / "file.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return load(docred, path, options)


def test_entities_facts_and_evidence_are_read_with_characters():
    docs, report = load(docred, SAMPLES / "docred.json")
    bridge = docs[0]
    assert bridge.id == "Lantern Bridge"
    assert [bridge.text[s:e] for s, e in bridge.sentences][2] == "Calder was born in Northmere ."
    calder = bridge.entities[3]
    assert (calder.name, calder.type) == ("Ines Calder", "PER")
    assert [bridge.mention(id).text for id in calder.mentions] == ["Ines Calder", "Calder"]
    assert bridge.facts[1] == Fact("e0", "P84", "e3", evidence=(Evidence(0), Evidence(1)))
    assert docs[1].text == "青石茶馆位于南湾市。它由林晓于2003年创办。"
    assert docs[1].meta["split"] == "demo"
    assert docs[2].entities[0].name == "May 4, 1990"
    assert not report.counts


def test_fields_that_can_be_computed_are_not_kept_and_come_back(tmp_path):
    docs, _ = load(docred, SAMPLES / "docred.json")
    assert docs[1].meta["extra"] == {
        "vertexSet": {"computed": ["global_pos", "index"]},
        "labels[1]": {"annotator": "b"},
    }
    docred.write(docs, tmp_path / "out.json", Options())
    before = json.loads((SAMPLES / "docred.json").read_text(encoding="utf-8"))
    after = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert after[:2] == before[:2]
    assert after[2] == before[2] | {"labels": []}


def test_fields_that_are_not_as_expected_are_kept_as_they_are(tmp_path):
    mention = {"name": "Aster", "sent_id": 1, "pos": [1, 2], "type": "LOC", "global_pos": [9, 9], "index": "0_0"}
    item = record(vertexSet=[[mention]], tokens=["own"], extra=1)
    (doc,), _ = load_items(tmp_path, item)
    assert doc.meta["extra"]["vertexSet[0][0]"] == {"global_pos": [9, 9], "index": "0_0"}
    docred.write([doc], tmp_path / "out.json", Options())
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == [item]


def test_a_name_that_its_tokens_do_not_say_is_noted_and_written_back(tmp_path):
    mentions = [
        {"name": "The River", "sent_id": 1, "pos": [1, 2], "type": "LOC"},
        {"name": "7. Aster", "sent_id": 1, "pos": [1, 2], "type": "MISC"},
    ]
    (doc,), report = load_items(tmp_path, record(vertexSet=[mentions]))
    assert report.counts == {"name_differs": 2, "duplicate_mention": 1, "types_differ": 1}
    assert [m.text for m in doc.mentions] == ["Aster", "Aster"]
    assert (doc.entities[0].name, doc.entities[0].type) == ("The River", "LOC")
    docred.write([doc], tmp_path / "out.json", Options())
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))[0]["vertexSet"] == [mentions]


def test_an_empty_sentence_is_left_out_and_evidence_follows(tmp_path):
    item = record(sents=[["One"], [], ["The", "Aster"]])
    item["vertexSet"][0][0]["sent_id"] = 2
    item["labels"] = [{"r": "P1", "h": 0, "t": 0, "evidence": [1, 2]}]
    (doc,), report = load_items(tmp_path, item)
    assert report.counts == {"empty_sentence": 1}
    assert doc.sentences == (Span(0, 3), Span(4, 13))
    assert doc.facts[0].evidence == (Evidence(1),)


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"vertexSet": [[]]}, "vertexSet[0]", "has no mentions"),
        ({"vertexSet": [[{"sent_id": 2, "pos": [0, 1]}]]}, "vertexSet[0][0].sent_id", "one of 2 sentences"),
        ({"vertexSet": [[{"sent_id": 1, "pos": [1, 3]}]]}, "vertexSet[0][0].pos", "which has 2"),
        ({"vertexSet": [[{"sent_id": 1, "pos": [1]}]]}, "vertexSet[0][0].pos", "[first, end)"),
        ({"labels": [{"r": "P1", "h": 0, "t": 1}]}, "labels[0].t", "one of 1 entity"),
        ({"labels": [{"r": "P1", "h": 0, "t": 0, "evidence": [5]}]}, "labels[0].evidence", "one of 2 sentences"),
        ({"labels": [{"r": "", "h": 0, "t": 0}]}, "relation", "empty relation"),
        ({"sents": [["a", 1]]}, "sents[0]", "a string"),
        ({"title": None}, "title", "a string"),
    ],
)
def test_a_wrong_record_is_named_by_file_item_and_field(fields, field, words, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_items(tmp_path, record(), record(**fields))
    assert (caught.value.line, caught.value.field) == (2, field)
    assert caught.value.file.endswith("file.json")
    assert words in str(caught.value)


def test_bad_records_are_set_aside_by_choice(tmp_path):
    docs, report = load_items(tmp_path, record(vertexSet=[[]]), record(), options=Options(skip_bad=True))
    assert (len(docs), report.rejected) == (1, 1)


def test_what_has_no_place_is_counted_and_left_out(tmp_path):
    doc = Document(
        "d",
        "Calder met Ines.",
        sentences=(Span(0, 10), Span(11, 16)),
        mentions=(Mention("m0", 0, 6, "Calder"), Mention("m1", 7, 15, "met Ines"), Mention("m2", 11, 15, "Ines")),
        entities=(Entity("e0", ("m0",), "PER", "Calder"), Entity("e1", ("m1",), "", "x")),
        facts=(Fact("e0", "knows", "e1", "m0", "m1"),),
        meta={"title": "taken"},
    )
    assert docred.lost(doc, Options()) == {
        "pins": 1, "spacing": 1, "mentions across sentences": 1, "entities left without a mention": 1,
        "facts left without an end": 1, "mentions outside entities": 1, "types of entities": 1, "meta": 1,
    }  # fmt: skip
    docred.write([doc], tmp_path / "out.json", Options(lossy=True))
    (back,), _ = load(docred, tmp_path / "out.json")
    assert back.text == "Calder met Ines ."
    assert [m.text for m in back.mentions] == ["Calder"]


def test_other_json_lists_are_not_taken_for_docred(tmp_path):
    assert docred.fits(head(SAMPLES / "docred.json", "utf-8"))
    for other in ([{"title": "T", "h_idx": 0, "t_idx": 1, "r": "P1"}], [{"text": "a", "spo_list": []}], {"sents": []}):
        (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
        assert not docred.fits(head(tmp_path / "other.json", "utf-8"))


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize(
    ("name", "counts", "notes"),
    [
        ("dev", (500, 4110, 101970, 9684, 13189, 17284, 7473), (11, 35, 9)),
        ("test", (500, 3966, 98734, 9779, 13018, 17448, 7547), (3, 68, 9)),
    ],
)
def test_redocred_is_read_completely_and_written_as_it_was(name, counts, notes, tmp_path):
    path = DATA / "redocred" / f"{name}_revised.json.xz"
    docs, report = load(docred, path)
    facts = [f for d in docs for f in d.facts]
    assert counts == (
        len(docs),
        sum(len(d.sentences) for d in docs),
        sum(len(docred._words.borders(d)) for d in docs),
        sum(len(d.entities) for d in docs),
        sum(len(d.mentions) for d in docs),
        len(facts),
        sum(bool(f.evidence) for f in facts),
    )
    assert report.counts == dict(zip(("name_differs", "duplicate_mention", "types_differ"), notes, strict=True))
    assert not any(docred.lost(d, Options()) for d in docs)
    docred.write(docs, tmp_path / "out.json", Options())
    assert json.loads((tmp_path / "out.json").read_bytes()) == json.loads(lzma.decompress(path.read_bytes()))
