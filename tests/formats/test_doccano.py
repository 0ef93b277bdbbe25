import pytest

from factpin.documents import Document, Entity, Fact, Mention, canonical
from factpin.errors import BadRecord
from factpin.formats import Options, doccano
from factpin.formats._guess import head
from tests.formats.loading import SAMPLES, load, load_lines, spans, told

EMOJI = "😀 Mira Tan, 😀😀 Harbour Town"


def span(start, end, id=1, label="PER"):
    return {"id": id, "label": label, "start_offset": start, "end_offset": end}


def test_spans_and_relations_are_mentions_and_facts():
    docs, report = load(doccano, SAMPLES / "doccano.jsonl")
    assert spans(docs[0]) == [(0, 8, "PER"), (21, 33, "LOC"), (39, 43, "DATE")]
    assert told(docs[0]) == [("Mira Tan", "birthplace", "Harbour Town"), ("Mira Tan", "birthdate", "1971")]
    assert len(docs[0].entities) == 3
    assert docs[0].meta == {"Comments": ["checked twice"]}
    assert (docs[1].entities, len(docs[1].mentions)) == ((), 3)
    assert not report.counts


def test_ids_of_documents_and_spans_are_kept_as_numbers(tmp_path):
    docs, _ = load(doccano, SAMPLES / "doccano.jsonl")
    doccano.write(docs, tmp_path / "out.jsonl", Options())
    first = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert '"id":7,' in first
    assert '{"id":31,"label":"PER","start_offset":0,"end_offset":8}' in first
    assert '"from_id":31,"to_id":32,"type":"birthplace"' in first


@pytest.mark.parametrize("key", ["label", "labels", "entities"])
def test_older_exports_are_read(key, tmp_path):
    (doc,), _ = load_lines(doccano, tmp_path, [{"data": "Mira Tan sails", key: [[0, 8, "PER"]]}])
    assert spans(doc) == [(0, 8, "PER")]
    assert doccano.fits(head(tmp_path / "file.jsonl", "utf-8"))


def test_offsets_that_count_as_javascript_does_are_read_and_written_by_choice(tmp_path):
    utf16 = Options(utf16=True)
    record = {"id": 1, "text": EMOJI, "entities": [span(3, 11), span(18, 30, 2, "LOC")], "relations": []}
    (doc,), _ = load_lines(doccano, tmp_path, [record], utf16)
    assert [m.text for m in doc.mentions] == ["Mira Tan", "Harbour Town"]
    doccano.write([doc], tmp_path / "out.jsonl", utf16)
    assert load(doccano, tmp_path / "out.jsonl", utf16)[0] == [doc]
    doccano.write([doc], tmp_path / "plain.jsonl", Options())
    assert '"start_offset":2,"end_offset":10' in (tmp_path / "plain.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("record", "field", "words"),
    [
        ({"text": "abc", "entities": [span(0, 4)]}, "entities[0]", "--utf16"),
        ({"text": "abc", "entities": [span(2, 2)]}, "entities[0]", "expected 0 <= start < end"),
        ({"text": "abc", "entities": [span(-1, 2)]}, "entities[0]", "expected 0 <= start < end"),
        ({"text": "abc", "label": [[0, 1]]}, "label[0]", "[start, end, label]"),
        ({"text": "abc", "label": [[0, 1.5, "x"]]}, "label[0]", "a whole number"),
        ({"text": "abc", "label": ["joy"]}, "label[0]", "an object"),
        ({"text": "abc", "entities": [span(0, 1), span(1, 2)]}, "mentions", "ids are the same"),
        ({"text": "abc", "entities": [{"id": 1, "label": "x", "start_offset": 0}]},
         "entities[0].end_offset", "missing"),
        ({"text": "abc", "entities": [span(0, 1)], "relations": [{"from_id": 1, "to_id": 9, "type": "r"}]},
         "relations[0]", "'9'"),
        ({"text": "abc", "entities": [span(0, 1)], "relations": [{"from_id": 1, "to_id": 1, "type": ""}]},
         "relation", "empty relation"),
        ({"text": "abc", "doccano": 1}, "doccano", "Rename"),
        ({"label": []}, "text", "missing"),
    ],
)  # fmt: skip
def test_an_error_names_line_and_field(record, field, words, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_lines(doccano, tmp_path, [{"text": "fine"}, record])
    assert (caught.value.line, caught.value.field) == (2, field)
    assert words in str(caught.value)


def test_a_record_of_something_else_with_an_empty_list_of_labels_is_not_claimed(tmp_path):
    load_lines(doccano, tmp_path, [{"text": "a", "labels": []}])
    assert doccano.fits(head(tmp_path / "file.jsonl", "utf-8"))
    load_lines(doccano, tmp_path, [{"text": "a", "labels": [], "title": "b"}])
    assert not doccano.fits(head(tmp_path / "file.jsonl", "utf-8"))


def test_offsets_inside_an_emoji_name_the_span(tmp_path):
    with pytest.raises(BadRecord, match="field entities\\[0\\].*inside the character"):
        load_lines(doccano, tmp_path, [{"text": EMOJI, "entities": [span(1, 11)]}], Options(utf16=True))


def test_unknown_fields_of_spans_and_relations_come_back(tmp_path):
    relation = {"id": 3, "from_id": 1, "to_id": 2, "type": "r", "note": "x"}
    record = {"text": "abc", "entities": [span(0, 1) | {"user": 4}, span(1, 2, 2)], "relations": [relation]}
    docs, _ = load_lines(doccano, tmp_path, [record])
    assert not doccano.lost(docs[0], Options())
    doccano.write(docs, tmp_path / "out.jsonl", Options())
    text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert '"user":4' in text
    assert '"note":"x"' in text
    assert canonical(load(doccano, tmp_path / "out.jsonl")[0][0]) == canonical(docs[0])


def test_what_arrows_between_spans_cannot_say_is_counted():
    mentions = Mention("m0", 0, 1, "a", "X"), Mention("m1", 1, 2, "b", "X"), Mention("m2", 2, 3, "a", "X")
    entities = Entity("e0", ("m0", "m2"), "Y", "a"), Entity("e1", ("m1",), "X", "b")
    doc = Document("d", "aba", mentions=mentions, entities=entities, facts=(Fact("e0", "r", "e1"),), meta={"text": 1})
    assert doccano.lost(doc, Options()) == {
        "clusters": 1,
        "facts without mentions": 1,
        "types of entities": 1,
        "meta": 1,
    }
