import json
import lzma

import pytest

from factpin.documents import Document, Entity, Fact, Mention, Span
from factpin.errors import BadRecord
from factpin.formats import Options, scierc
from factpin.formats._guess import head
from tests.formats.loading import ABSENT, DATA, SAMPLES, load, load_lines, spans, told


def record(**fields):
    return {"doc_key": "d", "sentences": [["a", "b"], ["c", "d"]], "ner": [[[0, 0, "X"]], [[2, 3, "Y"]]],
            "relations": [[], []], "clusters": []} | fields  # fmt: skip


def test_ends_are_inclusive_and_positions_count_through_the_document():
    docs, report = load(scierc, SAMPLES / "scierc.json")
    first = docs[0]
    assert [m.text for m in first.mentions] == [
        "lattice parser",
        "short questions",
        "It",
        "chart parser",
        "parser",
        "corpora",
    ]
    assert told(first)[0] == ("lattice parser", "USED-FOR", "short questions")
    assert [first.text[s:e] for s, e in first.sentences][1] == "It is compared with a chart parser on two corpora ."
    assert not report.counts


def test_the_entity_of_a_mention_is_its_cluster_or_its_own():
    first = load(scierc, SAMPLES / "scierc.json")[0][0]
    assert first.entities[0] == Entity("e0", ("m0", "m2"), "Method", "lattice parser")
    assert [f.head for f in first.facts][:2] == ["e0", "e0"]
    assert {len(e.mentions) for e in first.entities[1:]} == {1}
    assert "m4" not in {id for e in first.entities for id in e.mentions}


def test_a_span_of_a_cluster_that_ner_does_not_have_is_a_mention_without_type():
    chinese = load(scierc, SAMPLES / "scierc.json")[0][1]
    assert chinese.text == "本文提出一种分词方法。该方法用于检索。"
    assert spans(chinese) == [(6, 10, "Method"), (16, 18, "Task"), (11, 14, "")]
    assert told(chinese) == [("该方法", "USED-FOR", "检索")]
    assert chinese.meta["predicted_ner"] == [[[3, 4, "Method"]], []]


def test_the_sample_is_written_as_it_was(tmp_path):
    docs, _ = load(scierc, SAMPLES / "scierc.json")
    scierc.write(docs, tmp_path / "out.json", Options())
    before, after = ([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
                     for path in (SAMPLES / "scierc.json", tmp_path / "out.json"))  # fmt: skip
    assert after == before


def test_clusters_of_one_span_come_back_whether_a_relation_joins_them_or_not(tmp_path):
    for relations in ([[], []], [[[0, 0, 2, 3, "R"]], []]):
        item = record(clusters=[[[0, 0]]], relations=relations)
        docs, report = load_lines(scierc, tmp_path, [item])
        assert report.counts == ({"lone_cluster": 1} if relations[0] else {})
        scierc.write(docs, tmp_path / "out.json", Options())
        assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == item


def test_what_is_doubtful_is_noted(tmp_path):
    item = record(ner=[[[0, 0, "X"], [0, 0, "Y"]], []], clusters=[[[0, 0], [0, 0], [3, 3]], [[3, 3], [1, 1]]])
    (doc,), report = load_lines(scierc, tmp_path, [item])
    assert report.counts == {"same_span": 1, "duplicate_mention": 1, "shared_mention": 1}
    assert doc.entities[0].mentions == ("m0", "m2")
    assert not scierc.lost(doc, Options())


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"ner": [[[0, 4, "X"]], []]}, "ner[0][0]", "the document's 4 tokens"),
        ({"ner": [[[1, 0, "X"]], []]}, "ner[0][0]", "[first, last]"),
        ({"ner": [[]]}, "ner", "1 list for 2 sentences"),
        ({"relations": [[[0, 0, 1, "R"]], []]}, "relations[0][0]", "a list of 5"),
        ({"relations": [[[0, 0, 1, 1, ""]], []]}, "relation", "empty relation"),
        ({"clusters": [[]]}, "clusters[0]", "cluster is empty"),
        ({"clusters": [[[0]]]}, "clusters[0]", "a pair"),
        ({"sentences": "a b"}, "sentences", "a list"),
    ],
)
def test_a_wrong_record_is_named_by_file_line_and_field(fields, field, words, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_lines(scierc, tmp_path, [record(), record(**fields)])
    assert (caught.value.line, caught.value.field) == (2, field)
    assert words in str(caught.value)


def test_facts_that_relations_between_spans_cannot_tell_are_counted():
    doc = Document(
        "d",
        "a b",
        sentences=(Span(0, 3),),
        mentions=(Mention("m0", 0, 1, "a", "X"), Mention("m1", 0, 1, "a", "Y"), Mention("m2", 2, 3, "b", "X")),
        entities=(Entity("e0", ("m1",), "Y", "a"), Entity("e1", ("m2",), "X", "b"), Entity("e2", ("m2",), "X", "b")),
        facts=(Fact("e0", "r", "e1", "m1", "m2"), Fact("e0", "r", "e2", "m1", "m2"), Fact("e0", "s", "e1")),
    )
    assert scierc.lost(doc, Options()) == {
        "facts without mentions": 1, "facts of another entity": 1, "one of two mentions of a span": 1
    }  # fmt: skip


def test_other_json_lines_are_not_taken_for_scierc(tmp_path):
    assert scierc.fits(head(SAMPLES / "scierc.json", "utf-8"))
    for other in (
        {"text": "a", "sentences": [[0, 1]]},
        {"tokens": ["a"], "entity_mentions": []},
        {"sentences": ["a"], "ner": []},
    ):
        (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
        assert not scierc.fits(head(tmp_path / "other.json", "utf-8"))


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize(
    ("name", "counts", "changed"),
    [
        ("train", (350, 1861, 5598, 3219, 720), 1),  # one cluster names a span twice
        ("dev", (50, 275, 811, 455, 100), 0),
        ("test", (100, 551, 1685, 974, 195), 0),
    ],
)
def test_scierc_is_read_completely_and_written_as_it_was(name, counts, changed, tmp_path):
    path = DATA / "scierc" / f"{name}.json.xz"
    docs, report = load(scierc, path)
    assert not any(scierc.lost(d, Options()) for d in docs)
    scierc.write(docs, tmp_path / "out.json", Options())
    after = [json.loads(line) for line in (tmp_path / "out.json").read_bytes().splitlines()]
    before = [json.loads(line) for line in lzma.decompress(path.read_bytes()).splitlines()]
    assert sum(a != b for a, b in zip(after, before, strict=True)) == changed == report.counts["duplicate_mention"]
    assert counts == (
        len(docs),
        sum(len(d.sentences) for d in docs),
        sum(len(d.mentions) for d in docs),
        sum(len(d.facts) for d in docs),
        sum(len(e.mentions) > 1 for d in docs for e in d.entities) + report.counts["lone_cluster"],
    )
