"""Raw files in, documents out: every kind, packed or not, in folders, and what cannot be read is said."""

import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pytest

from factpin.documents import Document
from factpin.errors import BadFile, BadInput, BadRecord, MissingExtra
from factpin.extraction.html import declared_encoding
from factpin.extraction.inputs import Input, find_inputs, kind_of, rejects_of
from factpin.extraction.pdf import page_of, pages_of
from factpin.extraction.read import read_input, read_inputs
from factpin.extraction.rejects import Rejects
from tests.extraction.papers import locked, pdf

ARTICLE = """<!DOCTYPE html><html><head><meta charset="{charset}"><title>News</title><style>p {{ color: red }}</style>
<script>var person = "Nobody";</script></head><body><article><h1>{title}</h1><p>{first}</p><p>{second}</p></article>
</body></html>"""


def one(path: Path, kind: str | None = None, encoding: str | None = None) -> Document:
    (doc,) = read_input(Input(path, kind or kind_of(path), path.name, "d"), encoding)
    return doc


def names(*paths: Path, kind: str | None = None, output: Path | None = None) -> list[tuple[str, str, str]]:
    return [
        (i.name, i.id, i.kind)
        for i in find_inputs(list(paths), kind, exclude=() if output is None else (output, rejects_of(output)))[0]
    ]


def fill(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("王小明。", encoding="utf-8")
    return folder


@pytest.mark.parametrize("text", ["王小明。\r\n北京。\n", "", "\n\n # 标题 *x*\n", "😀é\u200b", "a\x00b"])
@pytest.mark.parametrize("ending", [".txt", ".md"])
def test_text_and_markdown_are_read_as_they_stand(tmp_path: Path, text: str, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(text.encode())
    assert one(path).text == text


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeff王小明".encode())
    assert one(tmp_path / "a.txt").text == "王小明"


def test_packed_files_are_what_they_hold(tmp_path: Path) -> None:
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress("王小明".encode()))
    (tmp_path / "b.pdf.gz").write_bytes(gzip.compress(pdf("Anna Weber")))
    assert names(tmp_path) == [("a.txt.xz", "a", "text"), ("b.pdf.gz", "b", "pdf")]
    assert [doc.text for doc in read_inputs(find_inputs([tmp_path])[0])] == ["王小明", "Anna Weber"]


def test_a_pdf_has_its_text_and_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf("Anna Weber was born\nin Berlin.", "", "Tom Hill lives in Rome."))
    doc = one(path)
    assert [doc.text[start:end] for start, end in doc.meta["pages"]] == [
        "Anna Weber was born\nin Berlin.", "", "Tom Hill lives in Rome."]  # fmt: skip
    pages = pages_of(doc)
    assert [page_of(pages, doc.text.index(name)) for name in ("Anna", "Berlin", "Tom", "Rome")] == [1, 1, 3, 3]
    assert page_of(pages, pages[0][1]) is None
    for at in range(len(doc.text)):
        assert page_of(pages, at) == next((i for i, (s, e) in enumerate(pages, start=1) if s <= at < e), None)


@pytest.mark.parametrize("other", [12, "ix-xii", [1, 2], [[0, 5], "x"], [[0, 5, 9]], [["0", "5"]], {"a": 1}, None])
def test_pages_that_mean_something_else_are_no_pages(other: object) -> None:
    assert pages_of(Document("d", "x", meta={"pages": other})) == []


def test_a_pdf_locked_for_changes_only_is_read_and_one_with_a_password_is_not(tmp_path: Path) -> None:
    (tmp_path / "open.pdf").write_bytes(locked(pdf("Anna Weber"), user=""))
    (tmp_path / "shut.pdf").write_bytes(locked(pdf("Anna Weber"), user="secret"))
    assert one(tmp_path / "open.pdf").text == "Anna Weber"
    with pytest.raises(BadFile, match="password"):
        one(tmp_path / "shut.pdf")


@pytest.mark.parametrize("raw", [b"", b"%PDF-1.4\n", b"no pdf at all" * 50, pdf("Anna")[:300]])
def test_a_broken_pdf_is_a_clear_error(tmp_path: Path, raw: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pdf").write_bytes(raw)
    with pytest.raises(BadFile, match=r"a\.pdf: (cannot be read as PDF|its 0 pages)"):
        one(tmp_path / "a.pdf")
    assert capfd.readouterr().err == ""


def test_a_damaged_pdf_never_ends_in_another_error(tmp_path: Path) -> None:
    whole, path = pdf("Anna Weber was born in Berlin."), tmp_path / "a.pdf"
    for place in range(9, len(whole), 7):
        path.write_bytes(whole[:place] + b"<</#" + whole[place + 3 :])
        try:
            one(path)
        except BadFile as error:
            assert "a.pdf" in str(error)


def test_a_pdf_without_text_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "scan.pdf").write_bytes(pdf("", "", ""))
    with pytest.raises(BadFile, match="no text on any of its pages"):
        one(tmp_path / "scan.pdf")


@pytest.mark.parametrize("charset, encoding", [("utf-8", "utf-8"), ("gb2312", "gb18030"), ("GBK", "gbk"),
                                               ("big5", "big5"), ("utf-8", "utf-8")])  # fmt: skip
def test_a_page_is_read_in_the_encoding_that_it_declares(tmp_path: Path, charset: str, encoding: str) -> None:
    path = tmp_path / "news.html"
    page = ARTICLE.format(charset=charset, title="北京下雪", first="小明到了北京。", second="今天李雷也到了。")
    path.write_bytes(page.encode(encoding))
    text = one(path).text
    assert "小明到了北京。" in text and "今天李雷也到了。" in text
    assert "Nobody" not in text and "color" not in text and "<" not in text


def test_a_page_in_another_encoding_than_it_says_is_refused_and_read_by_choice(tmp_path: Path) -> None:
    path = tmp_path / "news.html"
    page = ARTICLE.format(charset="utf-8", title="北京下雪", first="小明到了北京。", second="今天李雷也到了。")
    path.write_bytes(page.encode("gb18030"))
    with pytest.raises(BadFile, match=r"not utf-8: byte \d+ .*--encoding gb18030"):
        one(path)
    assert "小明到了北京。" in one(path, encoding="gb18030").text
    with pytest.raises(BadInput, match="There is no text encoding 'gb99'"):
        one(path, encoding="gb99")


@pytest.mark.parametrize(
    "raw, name",
    [(b'<?xml version="1.0" encoding="ISO-8859-1"?><html>', "cp1252"), (b"<html>", "utf-8"),
     (b'<meta http-equiv="Content-Type" content="text/html; charset=gb2312">', "gb18030"),
     (b"<meta charset=utf-16>", "utf-8"), (b"<meta charset=klingon>", "utf-8"), ("<p>".encode("utf-16"), "utf-16"),
     (b"\xef\xbb\xbf<meta charset=gbk>", "utf-8")],
)  # fmt: skip
def test_declarations_are_understood_as_browsers_do(raw: bytes, name: str) -> None:
    assert declared_encoding(raw) == name


def test_a_short_page_is_not_broken_at_inline_tags(tmp_path: Path) -> None:
    body = "<div>The <b>Bank of England</b>, said <a href='x'>Andrew Bailey</a>.</div><p>二<i>三</i></p>"
    (tmp_path / "a.html").write_text(f"<html><body>{body}</body></html>")
    assert one(tmp_path / "a.html").text == "The Bank of England, said Andrew Bailey.\n二三"


@pytest.mark.parametrize("page", ["", "  \n", "<html><body><img src='a.png'></body></html>", "\x00"])
def test_a_page_without_text_is_a_clear_error(tmp_path: Path, page: str) -> None:
    (tmp_path / "a.html").write_text(page)
    with pytest.raises(BadFile, match="no text was found"):
        one(tmp_path / "a.html")


def test_a_short_page_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "a.htm").write_text("<p>王小明出生于北京。</p>", encoding="utf-8")
    assert one(tmp_path / "a.htm").text == "王小明出生于北京。"


@pytest.mark.parametrize("library, ending", [("trafilatura", "html"), ("pypdf", "pdf")])
def test_a_missing_extra_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, ending: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    source = find_inputs([fill(tmp_path, f"a.{ending}")])[0]
    with pytest.raises(MissingExtra, match=rf"pip install 'factpin\[{ending}\]'"):
        list(read_inputs(source))
    with Rejects(tmp_path / "rejects") as rejects, pytest.raises(MissingExtra):
        list(read_inputs(source, rejects=rejects))  # not the file's fault: nothing is set aside
    assert rejects.count == 0


def test_text_that_is_not_utf8_is_refused_and_read_with_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("王小明".encode("gb18030"))
    with pytest.raises(BadFile, match=r"not UTF-8: byte 0 \(line 1\)"):
        one(tmp_path / "a.txt")
    assert one(tmp_path / "a.txt", encoding="gb18030").text == "王小明"


def test_standard_input_is_one_text_and_may_be_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    for raw, kind, text in (("王\n明".encode(), None, "王\n明"), (pdf("Anna"), "pdf", "Anna")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(raw))))
        (source,), _ = find_inputs([Path("-")], kind)
        (doc,) = read_input(source)
        assert (doc.id, doc.text, doc.meta.get("source")) == ("stdin", text, None)


def test_folders_are_read_in_order_and_hidden_files_are_not(tmp_path: Path) -> None:
    fill(tmp_path, "b.txt", "a/z.md", "a/c.txt", ".hidden.txt", ".git/x.txt", "a/B.HTML", "notes.odt", "README")
    assert names(tmp_path) == [("b.txt", "b", "text"), ("a/B.HTML", "a/B", "html"), ("a/c.txt", "a/c", "text"),
                               ("a/z.md", "a/z", "markdown")]  # fmt: skip
    assert find_inputs([tmp_path])[1] == {".odt": 1, "no ending": 1}


def test_with_a_kind_every_file_of_a_folder_is_taken(tmp_path: Path) -> None:
    fill(tmp_path, "a.log", "README")
    assert names(tmp_path, kind="text") == [("README", "README", "text"), ("a.log", "a", "text")]


def test_inputs_that_share_a_stem_have_ids_of_their_own(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "a.md", "b.txt")
    assert [id for _, id, _ in names(tmp_path)] == ["a.md", "a.txt", "b"]
    fill(tmp_path, "a.md.txt")
    ids = [id for _, id, _ in names(tmp_path)]
    assert len(set(ids)) == len(ids) == 4


def test_files_of_one_name_in_two_places_have_names_of_their_own(tmp_path: Path) -> None:
    fill(tmp_path, "x/a.txt", "y/a.txt")
    assert [id for _, id, _ in names(tmp_path / "x", tmp_path / "y")] == ["x/a", "y/a"]
    apart = names(tmp_path / "x/a.txt", tmp_path / "y/a.txt")
    assert len({name for name, _, _ in apart}) == len({id for _, id, _ in apart}) == 2


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "b.txt")
    assert len(names(tmp_path / "a.txt", tmp_path, tmp_path / "a.txt")) == 2


def test_what_was_written_before_is_no_input(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "found/a.txt.jsonl", "all.jsonl", "all.jsonl.rejects.jsonl")
    assert len(names(tmp_path)) == 4
    assert len(names(tmp_path, output=tmp_path / "found")) == 3
    assert len(names(tmp_path, output=tmp_path / "all.jsonl")) == 2


def test_names_that_are_not_utf8_are_made_readable(tmp_path: Path) -> None:
    for name in (b"/\xff.txt", b"/\xfe.txt"):
        with open(os.fsencode(tmp_path) + name, "w") as stream:
            stream.write("x")
    assert [(name, id) for name, id, _ in names(tmp_path)] == [("%FE.txt", "%FE"), ("%FF.txt", "%FF")]
    assert [doc.meta["source"][-7:] for doc in read_inputs(find_inputs([tmp_path])[0])] == ["%FE.txt", "%FF.txt"]


def test_an_absent_path_and_an_unknown_ending_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no such file or folder"):
        find_inputs([tmp_path / "absent"])
    with pytest.raises(
        BadInput, match=r"a\.odt: its ending .*--from: text, markdown, jsonl, html, pdf, docx, epub, csv, tsv"
    ):
        find_inputs([fill(tmp_path, "a.odt") / "a.odt"])
    assert find_inputs([tmp_path])[0] == []


def test_a_bad_file_among_others_stops_or_is_set_aside(tmp_path: Path) -> None:
    folder = fill(tmp_path / "in", "a.txt", "c.txt")
    (folder / "b.txt").write_bytes(b"\xff\xfe\xfa")
    (folder / "d.jsonl").write_text('{"text": "x"}\n{broken\n{"text": "y"}\n')
    inputs, _ = find_inputs([folder])
    with pytest.raises(BadFile, match=r"b\.txt: not UTF-8"):
        list(read_inputs(inputs))
    with pytest.raises(BadRecord, match=r"d\.jsonl:2"):
        list(read_inputs(inputs[3:]))
    with Rejects(tmp_path / "rejects.jsonl") as rejects:
        assert [doc.id for doc in read_inputs(inputs, rejects=rejects)] == ["a", "c", "d-1", "d-3"]
    lines = (tmp_path / "rejects.jsonl").read_text().splitlines()
    assert rejects.count == len(lines) == 2
    assert "b.txt" in lines[0] and "not UTF-8" in lines[0] and "{broken" in lines[1]
