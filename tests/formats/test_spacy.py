import json

import pytest

from factpin.documents import Document, Entity, Mention
from factpin.errors import BadRecord
from factpin.formats import Options, spacy
from factpin.formats._guess import head
from tests.formats.loading import SAMPLES, load, load_lines, spans


def test_entities_and_span_groups_are_mentions_and_links_are_entities():
    docs, report = load(spacy, SAMPLES / "spacy.json")
    assert spans(docs[0]) == [(0, 8, "PERSON"), (21, 33, "GPE"), (21, 28, "WORD"), (13, 17, "VERB")]
    assert [(e.name, e.link) for e in docs[0].entities] == [("Harbour Town", "Q90001")]
    assert docs[0].sentences == ((0, 34), (35, 45))
    assert docs[1].meta["tokens"] == [[0, 2], [2, 4], [4, 5], [5, 9], [9, 10]]
    assert not report.counts


def test_every_span_goes_back_where_it_came_from(tmp_path):
    docs, _ = load(spacy, SAMPLES / "spacy.json")
    assert not any(spacy.lost(doc, Options()) for doc in docs)
    spacy.write(docs, tmp_path / "out.json", Options())
    before = json.loads((SAMPLES / "spacy.json").read_text(encoding="utf-8"))
    after = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    for old, new in zip(before, after, strict=True):
        del new["id"]
        for group in old.get("spans", {}).values():
            for span in group:
                del span["kb_id"]
        assert new == old


def test_mentions_that_overlap_are_written_as_spans(tmp_path):
    mentions = Mention("a", 0, 3, "abc", "X"), Mention("b", 1, 2, "b", "Y"), Mention("c", 3, 4, "d", "X")
    spacy.write([Document("d", "abcd", mentions=mentions)], tmp_path / "out.jsonl", Options())
    record = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert [e["start"] for e in record["ents"]] == [0, 3]
    assert record["spans"] == {"sc": [{"start": 1, "end": 2, "label": "Y"}]}


@pytest.mark.parametrize("as_list", [True, False])
def test_the_training_style_is_read_as_a_list_and_as_lines(as_list, tmp_path):
    pairs = [["Mira Tan sails", {"entities": [[0, 8, "PERSON"]], "cats": {"x": 1}}], ["None here", {"entities": []}]]
    path = tmp_path / "file.json"
    path.write_text(json.dumps(pairs) if as_list else "\n".join(map(json.dumps, pairs)), encoding="utf-8")
    docs, _ = load(spacy, path)
    assert [spans(doc) for doc in docs] == [[(0, 8, "PERSON")], []]
    assert docs[0].meta == {"cats": {"x": 1}}
    assert spacy.fits(head(path, "utf-8"))


def test_plain_token_borders_are_written_and_read_as_borders(tmp_path):
    doc = Document("d", "ab c", meta={"tokens": [[0, 2], [3, 4]]})
    spacy.write([doc], tmp_path / "out.jsonl", Options())
    assert '"tokens":[{"id":0,"start":0,"end":2},{"id":1,"start":3,"end":4}]' in (tmp_path / "out.jsonl").read_text()
    assert load(spacy, tmp_path / "out.jsonl")[0] == [doc]


def test_an_entity_is_held_by_its_link_alone():
    mention = Mention("m", 0, 1, "a", "X")
    linked = Document("d", "a", mentions=(mention,), entities=(Entity("e", ("m",), "X", "a", "Q1"),))
    unlinked = Document("d", "a", mentions=(mention,), entities=(Entity("e", ("m",), "X", "a"),))
    assert not spacy.lost(linked, Options())
    assert spacy.lost(unlinked, Options()) == {"entities": 1}


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"text": "abc", "ents": [{"start": 0, "end": 4, "label": "x"}]}, "ents[0]"),
        ({"text": "abc", "ents": [{"start": 2, "end": 1, "label": "x"}]}, "ents[0]"),
        ({"text": "abc", "ents": [{"start": 0, "label": "x"}]}, "ents[0].end"),
        ({"text": "abc", "spans": {"sc": {}}}, "spans.sc"),
        ({"text": "abc", "spans": {"sc": [{"start": 0, "end": 1, "label": 3}]}}, "spans.sc[0].label"),
        ({"text": "abc", "sents": [{"start": 0, "end": 9}]}, "sentences[0]"),
        ({"text": "abc", "tokens": [[0, 1]]}, "tokens[0]"),
        ({"ents": []}, "text"),
        (["abc", {"entities": [[0, 1]]}], "entities[0]"),
        (["abc", {"entities": [], "text": "x"}], "[1]"),
    ],
)
def test_an_error_names_line_and_field(record, field, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_lines(spacy, tmp_path, [{"text": "fine"}, record])
    assert (caught.value.line, caught.value.field) == (2, field)
