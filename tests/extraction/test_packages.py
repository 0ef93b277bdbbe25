"""Word files and e-books: all of their running text, in order, and clear errors for the rest."""

from pathlib import Path

import docx as python_docx
import pytest

from factpin.documents import Document
from factpin.errors import BadFile
from factpin.extraction.inputs import Input, kind_of
from factpin.extraction.read import read_input
from tests.extraction.packages import STRICT, W, docx, epub, packed, paragraph


def one(path: Path, raw: bytes) -> Document:
    path.write_bytes(raw)
    (doc,) = read_input(Input(path, kind_of(path), path.name, "d"))
    return doc


def test_a_file_of_python_docx_is_read_as_that_library_reads_it(tmp_path: Path) -> None:
    made = python_docx.Document()
    made.core_properties.title = "玛丽·居里"
    made.add_heading("Life", 1)
    made.add_paragraph("She was born in ").add_run("Warsaw").bold = True
    made.add_paragraph("tabs\tand\nbreaks", style="List Bullet")
    made.add_paragraph("最后一段。")
    made.save(str(tmp_path / "a.docx"))
    doc = one(tmp_path / "a.docx", (tmp_path / "a.docx").read_bytes())
    assert (
        doc.text
        == "\n".join(p.text for p in made.paragraphs)
        == "Life\nShe was born in Warsaw\ntabs\tand\nbreaks\n最后一段。"
    )
    assert doc.meta == {"source": str(tmp_path / "a.docx"), "kind": "docx", "title": "玛丽·居里"}


def test_tables_stay_in_their_place(tmp_path: Path) -> None:
    made = python_docx.Document()
    made.add_paragraph("before")
    table = made.add_table(2, 2)
    for at, text in enumerate(("姓名", "出生地", "王菲", "北京")):
        table.cell(at // 2, at % 2).text = text
    made.add_paragraph("after")
    made.save(str(tmp_path / "a.docx"))
    doc = one(tmp_path / "a.docx", (tmp_path / "a.docx").read_bytes())
    assert doc.text == "before\n姓名\t出生地\n王菲\t北京\nafter"


@pytest.mark.parametrize("space", [W, STRICT])
def test_changes_controls_boxes_and_notes_are_read(tmp_path: Path, space: str) -> None:
    inserted = "<w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>"
    control = "<w:sdt><w:sdtContent><w:r><w:t>chosen</w:t></w:r></w:sdtContent></w:sdt>"
    box = f"<w:txbxContent>{paragraph('in a box')}</w:txbxContent>"
    either = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    boxes = f"<w:r><mc:AlternateContent>{either}</mc:AlternateContent></w:r>"
    field = "<w:r><w:instrText>PAGE \\* MERGEFORMAT</w:instrText></w:r>"
    body = paragraph(inserted, control, field) + paragraph("second", boxes) + paragraph() + paragraph("last")
    rule = f'<w:footnote w:type="separator" w:id="0">{paragraph("___")}</w:footnote>'
    notes = f"{rule}<w:footnote w:id='1'>{paragraph('a note')}</w:footnote>"
    assert one(tmp_path / "a.docx", docx(body, space, footnotes=notes)).text == (
        "new chosen\nsecond\nin a box\n\nlast\na note"
    )


@pytest.mark.parametrize(
    "raw, reason",
    [
        (b"", "not a zip file"),
        (b"\xd0\xcf\x11\xe0 an old .doc file", "not a zip file"),
        (packed({"x": "y"}), "there is no word/document.xml"),
        (packed({"word/document.xml": "<w:document"}), "word/document.xml"),
        (packed({"word/document.xml": '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'}), "declares entities"),
        (docx(paragraph("王")).replace(b"word/document.xml", b"word/other222.xml"), "there is no"),
        (docx("<w:sdt>" * 5000 + "</w:sdt>" * 5000), "nested too deeply"),
    ],
)
def test_a_broken_docx_is_a_clear_error(tmp_path: Path, raw: bytes, reason: str) -> None:
    with pytest.raises(BadFile, match=r"a\.docx: cannot be read as docx .*Save it again, or as text") as caught:
        one(tmp_path / "a.docx", raw)
    assert reason in str(caught.value)


def test_damaged_packages_never_end_in_another_error(tmp_path: Path) -> None:
    for name, whole in (("a.docx", docx(paragraph("王小明。"))), ("a.epub", epub("<p>王小明。</p>"))):
        for place in range(0, len(whole), 5):
            try:
                one(tmp_path / name, whole[:place] + b"\xff\x00<#" + whole[place + 4 :])
            except BadFile as error:
                assert name in str(error)


@pytest.mark.parametrize("name, raw", [("a.docx", docx(paragraph(" "))), ("a.epub", epub("<p><img/></p>"))])
def test_a_package_without_text_is_a_clear_error(tmp_path: Path, name: str, raw: bytes) -> None:
    with pytest.raises(BadFile, match="no text was found"):
        one(tmp_path / name, raw)


def test_a_package_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = docx(paragraph("王" * 200_000))
    assert len(raw) < 5_000
    assert len(one(tmp_path / "a.docx", raw).text) == 200_000
    monkeypatch.setenv("FACTPIN_MAX_RECORD", "100K")
    with pytest.raises(BadFile, match="its unpacked text is longer than 100K"):
        one(tmp_path / "a.docx", raw)


def test_a_book_has_its_chapters_in_reading_order(tmp_path: Path) -> None:
    first = "<h1>第一章</h1>\n<p>王菲\n  <b>出生</b>于北京。</p><p>A&amp;B&nbsp;C<br/>D</p><script>x()</script>"
    second = "<div><table><tr><td>a</td><td>b</td></tr></table></div><p><ruby>東<rt>とう</rt></ruby>京</p>"
    doc = one(tmp_path / "b.epub", epub(first, second, title="书名"))
    assert doc.text == "第一章\n王菲 出生于北京。\nA&B\xa0C\nD\n\na b\n東京"
    assert [doc.text[start:end].split("\n")[0] for start, end in doc.meta["chapters"]] == ["第一章", "a b"]
    assert doc.meta["title"] == "书名" and doc.meta["kind"] == "epub"
    assert one(tmp_path / "c.epub", epub(first, folder="")).text == doc.text.split("\n\n")[0]
