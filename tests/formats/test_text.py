"""Plain text: characters as they are, names from paths, one file or a folder."""

import io
import sys
from pathlib import Path

import pytest

from factpin.documents import Document, Mention, Span
from factpin.errors import BadFile, BadRecord
from factpin.formats import Options, ReadContext, Report, text
from factpin.formats._guess import head

SAMPLES = Path(__file__).parent / "samples"


def test_the_text_is_what_the_file_holds_and_has_its_sentences(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_bytes("\ufeffOne is here.\r\n\r\n第二句。第三句！".encode())
    (doc,) = text.read(ReadContext(tmp_path / "note.md"))
    assert (doc.id, doc.text) == ("note", "One is here.\r\n\r\n第二句。第三句！")
    assert [doc.text[s.start : s.end] for s in doc.sentences] == ["One is here.", "第二句。", "第三句！"]


def test_a_folder_is_read_in_sorted_order_and_named_by_path(tmp_path: Path) -> None:
    for name in ("b.txt", "a.md", "c/d.txt", "c/x.json", ".hidden.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert [(d.id, d.text) for d in text.read(ReadContext(tmp_path))] == [
        ("a", "a.md"),
        ("b", "b.txt"),
        ("c/d", "c/d.txt"),
    ]


def test_standard_input_is_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("谷雨。\n".encode())))
    (doc,) = text.read(ReadContext(Path("-")))
    assert (doc.id, doc.text) == ("stdin", "谷雨。\n")


@pytest.mark.parametrize("content", ["", "\ufeff\ufeffx\r\n", "a\rb\x85c\u2028", "no end"])
def test_any_text_comes_back(content: str, tmp_path: Path) -> None:
    doc = Document("a/b", content)
    text.write([doc], tmp_path / "one.txt", Options())
    text.write([doc, Document("c", "")], tmp_path / "many", Options())
    assert [d.text for d in text.read(ReadContext(tmp_path / "one.txt"))] == [content]
    assert {(d.id, d.text) for d in text.read(ReadContext(tmp_path / "many"))} == {("a/b", content), ("c", "")}


def test_a_file_holds_exactly_one_document(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="got 'a' and 'b'"):
        text.write([Document("a", "1"), Document("b", "2")], tmp_path / "x.txt", Options())
    with pytest.raises(BadFile, match="got none"):
        text.write([], tmp_path / "x.txt", Options())
    assert not list(tmp_path.iterdir())


def test_sentences_are_lost_only_where_they_would_not_be_found_again() -> None:
    mention = (Mention("m", 0, 1, "A", "X"),)
    doc = Document("d", "Away they went. We stayed.", sentences=(Span(0, 15), Span(16, 26)), mentions=mention)
    assert text.lost(doc, Options()) == {"mentions": 1, "types": 1}
    odd = Document("d", "Away they went. We stayed.", sentences=(Span(0, 4), Span(5, 26)))
    assert text.lost(odd, Options()) == {"sentences": 2}


def test_a_file_that_is_not_utf8_is_named_and_set_aside_by_choice(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("谷雨".encode("gb18030"))
    (tmp_path / "b.txt").write_text("b")
    with pytest.raises(BadRecord, match=r"a\.txt.*not UTF-8"):
        list(text.read(ReadContext(tmp_path)))
    report = Report()
    assert [d.id for d in text.read(ReadContext(tmp_path, Options(skip_bad=True), report))] == ["b"]
    assert report.rejected == 1
    assert next(text.read(ReadContext(tmp_path / "a.txt", Options(encoding="gb18030")))).text == "谷雨"
    with pytest.raises(BadFile, match="no such file"):
        text.read(ReadContext(tmp_path / "none.txt"))


def test_files_of_other_formats_that_end_in_txt_do_not_fit(tmp_path: Path) -> None:
    assert text.fits(head(SAMPLES / "text.txt", "utf-8"))
    assert not text.fits(head(SAMPLES / "brat", "utf-8"))
    assert not text.fits(head(SAMPLES / "brat" / "graduate.txt", "utf-8"))
    assert not text.fits(head(SAMPLES / "parallel", "utf-8"))
    assert not text.fits(head(SAMPLES / "parallel" / "sentences.txt", "utf-8"))
    for name, content in (
        ("c.txt", "a O\nb B-X\n"),
        ("p.PubTator.txt", "12|t|Title.\n12|a|Text.\n"),
        ("j.txt", '{"a": 1}'),
    ):
        (tmp_path / name).write_text(content)
        assert not text.fits(head(tmp_path / name, "utf-8")), name
    assert text.fits(head(tmp_path, "utf-8"))
