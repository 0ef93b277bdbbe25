import lzma
from collections import Counter

import pytest

from factpin.documents import Document, Entity, Fact, Mention, Span
from factpin.errors import BadRecord
from factpin.formats import Options, atlop, pubtator
from factpin.formats._guess import head
from tests.formats.loading import ABSENT, DATA, SAMPLES, load

ONE = ["A", "One", "X", "0", "1", "0"]
TWO = ["B", "two", "Y", "2", "3", "1"]


def pair(label="1:R:2", one=ONE, two=TWO, direction="L2R"):
    return [label, direction, "CROSS", "0-1", "2-3", *one, *two]


def load_cells(folder, *cells):
    (folder / "file.data").write_text("\t".join(["7", "One .|two", *cells]) + "\n", encoding="utf-8")
    return load(atlop, folder / "file.data")


def named(doc):
    return [(doc.entity(f.head).link, f.relation, doc.entity(f.tail).link) for f in doc.facts]


def test_concepts_pairs_and_facts_are_read():
    docs, report = load(atlop, SAMPLES / "atlop.data")
    first, chinese, bare = docs
    assert [first.text[s:e] for s, e in first.sentences][0] == "Amberol was given to Ines ."
    assert [(e.link, e.type, [first.mention(m).text for m in e.mentions]) for e in first.entities][0] == (
        "D900001", "Chemical", ["Amberol", "amberol"]
    )  # fmt: skip
    assert chinese.text == "阿司灵可能引起头晕。头晕与失眠有关。"
    assert named(chinese) == [("C1", "CID", "C2")]
    assert atlop.pair_counts(chinese) == {"CID": 1, "not_include": 1}
    assert (bare.entities, bare.text) == ((), "Nothing was found .")
    assert not report.counts


def test_the_label_and_not_the_direction_tells_the_head(tmp_path):
    for direction in ("L2R", "R2L"):
        assert named(load_cells(tmp_path, *pair(direction=direction))[0][0]) == [("A", "R", "B")]
        assert named(load_cells(tmp_path, *pair("2:R:1", direction=direction))[0][0]) == [("B", "R", "A")]
    assert named(load(atlop, SAMPLES / "atlop.data")[0][0]) == [("D900001", "CID", "D900002")]


def test_the_sample_is_written_as_it_was(tmp_path):
    docs, _ = load(atlop, SAMPLES / "atlop.data")
    atlop.write(docs, tmp_path / "out.data", Options())
    assert (tmp_path / "out.data").read_bytes() == (SAMPLES / "atlop.data").read_bytes()


def test_a_document_without_pairs_gets_its_facts_and_all_other_pairs(tmp_path):
    doc = Document(
        "d",
        "One two six",
        sentences=(Span(0, 3), Span(4, 11)),
        mentions=(Mention("m0", 8, 11, "six", "X"), Mention("m1", 0, 3, "One", "X"), Mention("m2", 4, 7, "two", "Y")),
        entities=(
            Entity("e0", ("m0",), "X", "six"),
            Entity("e1", ("m1",), "X", "One", "Q5"),
            Entity("e2", ("m2",), "Y", "two"),
        ),
        facts=(Fact("e0", "born in", "e1"),),
    )
    assert not atlop.lost(doc, Options())
    assert [p[:5] + (p.one, p.two) for p in atlop._pairs(doc)] == [
        ("1:born in:2", "R2L", "CROSS", "2-3", "0-1", 0, 1),
        ("1:NR:2", "L2R", "CROSS", "0-1", "1-2", 1, 2),
        ("1:NR:2", "L2R", "NON-CROSS", "1-2", "2-3", 2, 0),
    ]
    atlop.write([doc], tmp_path / "out.data", Options())
    (back,), _ = load(atlop, tmp_path / "out.data")
    assert back.meta == {}
    assert [(back.entity(f.head).name, back.entity(f.tail).name) for f in back.facts] == [("six", "One")]


def test_pairs_of_meta_that_no_longer_tell_the_facts_are_made_anew():
    first = load(atlop, SAMPLES / "atlop.data")[0][0]
    changed = Document(first.id, first.text, sentences=first.sentences, mentions=first.mentions,
                       entities=first.entities, facts=(Fact("e2", "CID", "e0"),), meta=first.meta)  # fmt: skip
    assert atlop.pair_counts(changed) == {"CID": 1, "NR": 2}


def test_what_is_doubtful_is_noted_and_comes_back(tmp_path):
    docs, report = load_cells(tmp_path, *pair(one=["A", "Uno", *ONE[2:]]), *pair("1:NR:2"))
    assert report.counts == {"name_differs": 1, "entity_differs": 1}
    atlop.write(docs, tmp_path / "out.data", Options())
    assert "\tUno\t" in (tmp_path / "out.data").read_text(encoding="utf-8")
    assert load(atlop, tmp_path / "out.data")[0] == docs


@pytest.mark.parametrize(
    ("cells", "field", "words"),
    [
        (["x"], "cells", "17 for every pair"),
        (pair("CID"), "pairs[0].label", "1:CID:2"),
        (pair("1:CID:1"), "pairs[0].label", "1:CID:2"),
        (pair(two=["B", "two", "Y", "2", "9", "1"]), "pairs[0]", "a document of 3"),
        (pair(two=["B", "two", "Y", "x", "3", "1"]), "pairs[0]", "first and end"),
        (pair(two=["B", "two", "Y", "2:2", "3", "1"]), "pairs[0]", "as many texts"),
    ],
)
def test_a_wrong_line_is_named_by_file_line_and_field(cells, field, words, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_cells(tmp_path, *cells)
    assert (caught.value.line, caught.value.field) == (1, field)
    assert words in str(caught.value)


def test_what_has_no_place_is_counted_and_left_out(tmp_path):
    doc = Document(
        "d",
        "a|b c",
        mentions=(Mention("m0", 0, 3, "a|b", "X"), Mention("m1", 4, 5, "c", "Y")),
        entities=(Entity("e0", ("m0",), "Z", "a|b"),),
        meta={"tokens": [[0, 3], [4, 5]], "source": "s"},
    )
    assert atlop.lost(doc, Options()) == {
        "mentions outside entities": 1, "types of entities": 1, "tokens with blanks or bars": 1, "meta": 1
    }  # fmt: skip
    atlop.write([doc], tmp_path / "out.data", Options(lossy=True))
    (back,), _ = load(atlop, tmp_path / "out.data")
    assert (back.text, [m.text for m in back.mentions]) == ("a_b c", ["a_b"])


def test_other_tables_are_not_taken_for_atlop(tmp_path):
    assert atlop.fits(head(SAMPLES / "atlop.data", "utf-8"))
    for other in ("\t".join(["x"] * 19), "word\tO", '{"a": "b\\tc"}'):
        (tmp_path / "other.data").write_text(other, encoding="utf-8")
        assert not atlop.fits(head(tmp_path / "other.data", "utf-8"))


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize(
    ("name", "source", "counts"),
    [
        ("train", "Training", {"CID": 1038, "NR": 4396}),
        ("dev_filter", "Development", {"CID": 1012, "NR": 4075, "not_include": 174}),
        ("test_filter", "Test", {"CID": 1066, "NR": 4138, "not_include": 201}),
        ("train_filter", "Training", {"CID": 1038, "NR": 4204, "not_include": 192}),
    ],
)
def test_cdr_is_read_completely_tells_pubtators_facts_and_is_written_as_it_was(name, source, counts, tmp_path):
    path = DATA / "cdr" / "atlop" / f"{name}.data.xz"
    docs, _ = load(atlop, path)
    assert len(docs) == 500
    assert sum((atlop.pair_counts(d) for d in docs), Counter()) == counts
    gold, _ = load(pubtator, DATA / "cdr" / f"CDR_{source}Set.PubTator.txt.xz")
    assert {d.id: sorted(named(d)) for d in docs} == {d.id: sorted(named(d)) for d in gold}
    assert not any(atlop.lost(d, Options()) for d in docs)
    atlop.write(docs, tmp_path / "out.data", Options())
    assert (tmp_path / "out.data").read_bytes() == lzma.decompress(path.read_bytes())
