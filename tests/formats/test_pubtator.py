import lzma
from collections import Counter

import pytest

from factpin.documents import Document, Entity, Fact, Mention
from factpin.errors import BadRecord
from factpin.formats import Options, pubtator
from factpin.formats._guess import head
from tests.formats.loading import ABSENT, DATA, SAMPLES, load

TOP = "7|t|One two\n7|a|three four\n"


def load_text(folder, text, options=None):
    (folder / "file.txt").write_text(text, encoding="utf-8")
    return load(pubtator, folder / "file.txt", options)


def written(folder, *docs):
    pubtator.write(docs, folder / "out.txt", Options())
    return (folder / "out.txt").read_text(encoding="utf-8")


def test_concepts_are_entities_and_relations_are_facts_between_them():
    docs, report = load(pubtator, SAMPLES / "pubtator.txt")
    first = docs[0]
    assert first.text.startswith("Amberol and transient hiccups: a small survey. Hiccups were")
    assert [(e.link, e.type, e.name, len(e.mentions)) for e in first.entities] == [
        ("D900001", "Chemical", "Amberol", 2),
        ("D900002", "Disease", "transient hiccups", 2),
        ("D900003", "Disease", "Dry and sore eyes", 1),
        ("D900004", "Disease", "Dry and sore eyes", 1),
    ]
    assert first.entities[2].mentions == first.entities[3].mentions
    assert first.facts == (Fact("e0", "CID", "e1"),)
    assert first.mentions[-1].text == "打嗝"
    assert (docs[2].text, docs[2].meta) == ("A title without an abstract", {})
    assert report.counts == {"composite_concept": 1, "unlinked_mention": 2, "concept_without_mention": 1}


def test_columns_that_have_no_noun_come_back(tmp_path):
    docs, _ = load(pubtator, SAMPLES / "pubtator.txt")
    assert docs[0].meta["extra"]["mentions[4]"] == {"columns": ["Dry eyes|sore eyes"]}
    assert docs[1].meta["extra"] == {
        "mentions[3]": {"concept": "-"},
        "facts[0]": {"columns": ["Novel"]},
        "relations": {"rows": [["Association", "77001", "99003", "No"]]},
    }
    assert written(tmp_path, *docs) == (SAMPLES / "pubtator.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "concept", ["\tA|B", "\tB,A", "\tA;B", "\tA|-1", "\t-", "\t-1", "", "\tA|A", "\tc|SUB|A|13|G", "\tA\tx\ty"]
)
def test_a_concept_is_written_as_it_was_spelled(concept, tmp_path):
    text = f"{TOP}7\t0\t3\tOne\tX{concept}\n7\t4\t7\ttwo\tX\tA\n\n"
    docs, _ = load_text(tmp_path, text)
    assert written(tmp_path, *docs) == text


def test_a_concept_with_bars_of_its_own_is_one(tmp_path):
    (doc,), report = load_text(tmp_path, TOP + "7\t0\t3\tOne\tX\tp|SUB|V|600|E\n")
    assert [e.link for e in doc.entities] == ["p|SUB|V|600|E"]
    assert not report.counts


def test_documents_may_follow_each_other_without_a_blank_line(tmp_path):
    docs, _ = load_text(tmp_path, TOP + "7\t0\t3\tOne\tX\tA\n8|t|Only a title\r\n\n\n9|t|Other\n9|a|\n")
    assert [(d.id, d.text) for d in docs] == [("7", "One two three four"), ("8", "Only a title"), ("9", "Other")]


def test_entities_without_link_come_back_without(tmp_path):
    doc = Document(
        "d",
        "One two",
        mentions=(Mention("m0", 0, 3, "One", "X"), Mention("m1", 4, 7, "two", "Y")),
        entities=(Entity("e0", ("m0",), "X", "One"), Entity("e1", ("m1",), "Y", "two", "Q5")),
        facts=(Fact("e0", "r", "e1"),),
    )
    assert not pubtator.lost(doc, Options())
    assert (
        written(tmp_path, doc)
        == "d|t|One two\nd|a|\nd\t0\t3\tOne\tX\tLOCAL:1\nd\t4\t7\ttwo\tY\tQ5\nd\tr\tLOCAL:1\tQ5\n\n"
    )
    assert load(pubtator, tmp_path / "out.txt")[0] == [doc]


def test_what_has_no_place_is_counted_and_left_out(tmp_path):
    doc = Document(
        "d",
        "One\ttwo\nsix",
        mentions=(Mention("m0", 0, 7, "One\ttwo", "X\tY"), Mention("m1", 8, 11, "six", "Y")),
        entities=(Entity("e0", ("m0",), "X", "Uno", "Q5"), Entity("e1", ("m1",), "Y", "six", "Q5"),
                  Entity("e2", ("m1",), "Y", "six", "a,b")),
        facts=(Fact("e0", "r\n", "e1", "m0", "m1"),),
        meta={"source": 1, "title_end": 2, "extra": {"sents[0]": {}}},
    )  # fmt: skip
    assert pubtator.lost(doc, Options()) == {
        "pins": 1, "names": 1, "types of entities": 1, "tabs and line breaks": 2, "names with tabs and line breaks": 2,
        "links that two entities share": 1, "links that cannot be spelled": 1, "meta": 3,
    }  # fmt: skip
    pubtator.write([doc], tmp_path / "out.txt", Options(lossy=True))
    (back,), _ = load(pubtator, tmp_path / "out.txt")
    assert back.text == "One two six"
    assert [(m.text, m.type) for m in back.mentions] == [("One two", "X Y"), ("six", "Y")]
    assert [e.link for e in back.entities] == ["Q5", "", ""]


@pytest.mark.parametrize(
    ("row", "field", "kind", "words"),
    [
        ("7\t0\t2\tOne\tX\tA", "mentions[0]", "offset_inclusive", "add 1"),
        ("7\t1\t3\tOne\tX\tA", "mentions[0]", "offset_mismatch", "'ne'"),
        ("7\t0\t99999999999\tOne\tX\tA", "mentions[0]", "offset_mismatch", "not 'One'"),
        ("8\t0\t3\tOne\tX\tA", "id", "bad_record", "document '8'"),
        ("7\tCID\tA", "columns", "bad_record", "3 columns"),
        ("7\t\tA\tB", "relation", "bad_record", "has no name"),
    ],
)
def test_a_wrong_row_is_named_by_file_line_and_field(row, field, kind, words, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_text(tmp_path, f"{TOP}\n{TOP}{row}\n")
    assert (caught.value.line, caught.value.field, caught.value.kind) == (6, field, kind)
    assert words in str(caught.value)
    docs, report = load_text(tmp_path, f"{TOP}\n{TOP}{row}\n", Options(skip_bad=True))
    assert (len(docs), report.rejected) == (1, 1)


def test_rows_without_a_title_are_refused(tmp_path):
    with pytest.raises(BadRecord, match=r"id\|t\|title"):
        load_text(tmp_path, "7\t0\t3\tOne\tX\tA\n")


def test_only_a_title_line_makes_a_pubtator_file(tmp_path):
    assert pubtator.fits(head(SAMPLES / "pubtator.txt", "utf-8"))
    for other in ("a|b|c\n", '{"text": "x|t|y"}\n', "word\tO\n", ""):
        (tmp_path / "other.txt").write_text(other, encoding="utf-8")
        assert not pubtator.fits(head(tmp_path / "other.txt", "utf-8"))


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize(
    ("name", "chemicals", "diseases", "facts", "unlinked", "composite"),
    [
        ("Training", 5203, 4182, 1038, 76, 98),
        ("Development", 5347, 4244, 1012, 59, 100),
        ("Test", 5385, 4424, 1066, 91, 75),
    ],
)
def test_cdr_is_read_completely_and_written_as_it_was(name, chemicals, diseases, facts, unlinked, composite, tmp_path):
    path = DATA / "cdr" / f"CDR_{name}Set.PubTator.txt.xz"
    docs, report = load(pubtator, path)
    assert len(docs) == 500
    assert Counter(m.type for d in docs for m in d.mentions) == {"Chemical": chemicals, "Disease": diseases}
    assert sum(len(d.facts) for d in docs) == facts
    assert report.counts == {"unlinked_mention": unlinked, "composite_concept": composite}
    assert not any(pubtator.lost(d, Options()) for d in docs)
    assert written(tmp_path, *docs) == lzma.decompress(path.read_bytes()).decode()
