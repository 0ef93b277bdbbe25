"""Columns of tags: schemes, layers, documents, further columns, and the message about a faulty line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from factpin import formats
from factpin.documents import Document, Mention, Span
from factpin.errors import BadRecord
from factpin.formats import Options, Report, conll
from factpin.formats._tags import Scheme, TagSpan, decode, encode, layers

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the corpora of ../shared/data are not beside this checkout")


def documents(path: Path, content: str | None = None, report: Report | None = None) -> Iterator[Document]:
    if content is not None:
        path.write_text(content, encoding="utf-8")
    return conll.read(formats.ReadContext(path, report=report or Report()))


def spans(doc: Document) -> list[tuple[str, str]]:
    return [(m.text, m.type) for m in doc.mentions]


@pytest.mark.parametrize("scheme", ["bio", "bioes", "bmes"])
def test_decode_undoes_encode_in_every_scheme(scheme) -> None:
    several = [TagSpan(0, 1, "A"), TagSpan(1, 4, "A"), TagSpan(4, 6, "b-c"), TagSpan(7, 8, "")]
    tags = encode(several, 9, scheme)
    seen = Scheme()
    seen.learn(tags)
    assert decode(tags, seen) == (several, [])


def test_tags_of_each_scheme_are_spelt_as_the_scheme_says() -> None:
    several = [TagSpan(0, 3, "X"), TagSpan(4, 5, "X")]
    assert encode(several, 5, "bio") == ["B-X", "I-X", "I-X", "O", "B-X"]
    assert encode(several, 5, "bioes") == ["B-X", "I-X", "E-X", "O", "S-X"]
    assert encode(several, 5, "bmes") == ["B-X", "M-X", "E-X", "O", "S-X"]


def test_iob1_begins_a_span_with_an_inside_tag_and_that_is_no_fault(tmp_path: Path) -> None:
    report = Report()
    text = "U.N. I-ORG\nofficial O\nRolf I-PER\nEkeus I-PER\nMara B-PER\n"
    (doc,) = documents(tmp_path / "a.conll", text, report)
    assert spans(doc) == [("U.N.", "ORG"), ("Rolf Ekeus", "PER"), ("Mara", "PER")]
    assert not report.counts


def test_an_inside_tag_without_beginning_is_repaired_as_conlleval_does_and_noted(tmp_path: Path) -> None:
    report = Report()
    text = "a\tB-X\nb\tI-Y\nc\tO\nd\tI-X\ne\tI-X\n"
    (doc,) = documents(tmp_path / "a.conll", text, report)
    assert spans(doc) == [("a", "X"), ("b", "Y"), ("d e", "X")]
    assert report.counts == {"ill_formed_tag": 2}
    assert [note.line for note in report.notes] == [2, 4]


def test_a_span_without_end_is_a_fault_where_spans_have_ends(tmp_path: Path) -> None:
    report = Report()
    (doc,) = documents(tmp_path / "a.conll", "a S-X\nb B-X\nc I-X\nd O\ne B-Y\nf E-Y\n", report)
    assert spans(doc) == [("a", "X"), ("b c", "X"), ("e f", "Y")]
    assert report.counts == {"ill_formed_tag": 1}
    assert report.notes[0].line == 3


def test_a_foreign_letter_among_bmes_tags_is_noted(tmp_path: Path) -> None:
    report = Report()
    (doc,) = documents(tmp_path / "a.conll", "北 B-L\n京 M-L\n市 E-L\n上 B-L\n海 I-L\n市 E-L\n", report)
    assert spans(doc) == [("北京市", "L"), ("上海市", "L")]
    assert report.counts == {"ill_formed_tag": 1}


def test_crossing_and_nested_spans_are_parted_into_layers_that_do_not_overlap() -> None:
    several = {TagSpan(0, 4, "A"), TagSpan(0, 4, "B"), TagSpan(1, 2, "A"), TagSpan(2, 6, "A"), TagSpan(4, 5, "C")}
    parted = layers(several)
    assert {span for layer in parted for span in layer} == several
    for layer in parted:
        assert all(a.end <= b.first for a, b in zip(layer, layer[1:], strict=False))


def test_a_type_is_what_stands_behind_the_first_hyphen(tmp_path: Path) -> None:
    (doc,) = documents(tmp_path / "a.conll", "Slow\tB-creative-work\nTides\tI-creative-work\n")
    assert spans(doc) == [("Slow Tides", "creative-work")]


def test_a_line_with_a_tab_alone_parts_sentences_and_a_hash_with_a_tag_is_a_token(tmp_path: Path) -> None:
    docs = list(documents(tmp_path / "a.conll", "#\tO\nHi\tO\n\t\nLindby\tB-L\n\n\n"))
    assert [doc.text for doc in docs] == ["# Hi", "Lindby"]
    assert [doc.id for doc in docs] == ["a-1", "a-2"]
    assert not docs[0].meta


CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
calls NNS B-NP O

Mara NNP B-NP B-PER
left VBD B-VP O

-DOCSTART- -X- -X- O

Lindby NNP B-NP B-LOC
"""


def test_docstart_groups_sentences_and_middle_columns_are_kept(tmp_path: Path) -> None:
    first, second = documents(tmp_path / "a.conll", CONLL_2003)
    assert first.text == "EU rejects calls Mara left"
    assert first.sentences == (Span(0, 16), Span(17, 26))
    assert spans(first) == [("EU", "ORG"), ("Mara", "PER")]
    assert first.meta["columns"][0] == ["NNP", "VBZ", "NNS", "NNP", "VBD"]
    assert second.meta["columns"] == [["NNP"], ["B-NP"]]
    formats_back(tmp_path, [first, second])
    assert (tmp_path / "b.conll").read_text() == CONLL_2003.replace(" ", "\t") + "\n"


def formats_back(tmp_path: Path, docs: list[Document], scheme: str = "bio") -> None:
    for doc in docs:
        assert not conll.lost(doc, Options())
    conll.write(docs, tmp_path / "b.conll", Options(scheme=scheme))  # type: ignore[arg-type]
    report = Report()
    back = list(documents(tmp_path / "b.conll", report=report))
    assert not report.counts
    assert [(d.text, d.meta, set(spans(d))) for d in back] == [(d.text, d.meta, set(spans(d))) for d in docs]


def test_columns_that_look_like_tags_come_back_as_columns(tmp_path: Path) -> None:
    text = "a b c"
    overlap = (Mention("m0", 0, 3, "a b", "X"), Mention("m1", 2, 5, "b c", "X"))
    chunks = Document("d", text, mentions=overlap, meta={"columns": [["B-NP", "I-NP", "O"]]})
    more = Document("e", text, meta={"columns": [["x", "y", "z"], ["1", "", "3"]], "comments": ["a: b", ""]})
    none = Document("f", text)
    formats_back(tmp_path, [chunks, more, none])
    assert (tmp_path / "b.conll").read_text().startswith("# global.columns = FORM MISC MISC TAG TAG\n")
    formats_back(tmp_path, [none, more], scheme="bmes")


def test_comments_stand_before_their_sentence(tmp_path: Path) -> None:
    first, second = documents(tmp_path / "a.conll", "# id = 7\n#\na O\nb O\n\n# O\nc B-X\n")
    assert first.meta == {"comments": ["id = 7", ""]}
    assert second.text == "# c"  # in a file parted by blanks a hash with a tag is a token


def test_a_mention_inside_a_token_and_other_spacing_are_named_and_dropped(tmp_path: Path) -> None:
    text = "Harbours  in Lindby"
    mentions = (Mention("m0", 0, 7, "Harbour", "X"), Mention("m1", 13, 19, "Lindby", "L"))
    doc = Document("d", text, mentions=mentions, meta={"page": 3})
    assert conll.lost(doc, Options()) == {"spacing": 1, "mentions inside a token": 1, "meta": 1}
    lossy = Options(lossy=True)
    conll.write([doc], tmp_path / "b.conll", lossy)
    (back,) = documents(tmp_path / "b.conll")
    assert back.text == "Harbours in Lindby"
    assert [(m.start, m.end, m.text) for m in back.mentions] == [(12, 18, "Lindby")]


def test_a_mention_across_sentences_is_lost_only_where_sentences_are_written() -> None:
    mention = (Mention("m0", 0, 3, "a b", "X"),)
    doc = Document("d", "a b", sentences=(Span(0, 1), Span(2, 3)), mentions=mention)
    assert conll.lost(doc, Options()) == {"mentions across sentences": 1}
    assert not conll.lost(Document("d", "a b", mentions=mention), Options())


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("a\tO\nb\tO\tO\nc\tO\n", 2, "expected 2 columns, got 3"),
        ("a\tO\n\nb\tO\nc\n", 4, "expected 2 columns, got 1"),
        ("a\tO\nb\tperson\nc\tO\n", 2, "got 'person'"),
        ("a\tO\n\tO\n", 2, "is empty"),
    ],
)
def test_a_faulty_line_is_named(content: str, line: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match=words) as caught:
        list(documents(tmp_path / "a.conll", content))
    assert (caught.value.line, Path(caught.value.file).name) == (line, "a.conll")


def test_a_faulty_sentence_is_set_aside_by_choice(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a\tO\n\nb\tO\tO\n\nc\tO\n", encoding="utf-8")
    report = Report()
    docs = list(conll.read(formats.ReadContext(path, Options(skip_bad=True), report)))
    assert [doc.text for doc in docs] == ["a", "c"]
    assert report.rejected == 1


def test_plain_prose_is_no_conll(tmp_path: Path) -> None:
    from factpin.formats._guess import head

    path = tmp_path / "a.txt"
    for prose in ("He needs vitamin B\n", "One line.\nAnother line O\n", "word\nword\n"):
        path.write_text(prose, encoding="utf-8")
        assert not conll.fits(head(path, "utf-8"))
    path.write_text("He\tO\nleft\tO", encoding="utf-8")
    assert conll.fits(head(path, "utf-8"))


COUNTS = {
    "wnut17/wnut17train.conll.xz": (3394, 62730, 1975),
    "wnut17/emerging.dev.conll.xz": (1009, 15733, 836),
    "wnut17/emerging.test.annotated.xz": (1287, 23394, 1079),
    "germeval14/germ.dev.iob2.xz": (2200, 41653, 2674 + 212),
    "germeval14/germ.test.iob2.xz": (5100, 96499, 6178 + 515),
    "germeval14/germ.train.iob2.xz": (24000, 452853, 29078 + 2467),
}


@needs_data
@pytest.mark.parametrize("name", COUNTS)
def test_the_counts_of_real_corpora(name: str) -> None:
    from factpin.formats._words import borders

    report = Report()
    found = [0, 0, 0]
    for doc in documents(DATA / name, report=report):
        found = [found[0] + 1, found[1] + len(borders(doc)), found[2] + len(doc.mentions)]
    assert tuple(found) == COUNTS[name]
    assert not report.counts


@needs_data
@pytest.mark.parametrize("name", ["wnut17/emerging.dev.conll.xz", "germeval14/germ.dev.iob2.xz"])
def test_a_real_corpus_is_written_and_read_again_without_change(name: str, tmp_path: Path) -> None:
    docs = list(documents(DATA / name))
    formats_back(tmp_path, docs, scheme="bioes")
