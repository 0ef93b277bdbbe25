"""Tables in, a document for each row: every way to write them that people use, and no text cut or shifted unnoticed."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Document
from factpin.errors import BadFile, BadRecord
from factpin.extraction.csv_rows import Row, read_rows
from factpin.extraction.inputs import Input, find_inputs
from factpin.extraction.read import read_input, read_inputs
from factpin.extraction.rejects import Rejects


def write(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


def documents(path: Path, column: str = "", encoding: str | None = None) -> list[Document]:
    return list(read_inputs(find_inputs([path], column=column)[0], encoding))


@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\r")), st.text('a",\n王;')), min_size=1)
)
def test_what_python_writes_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("comment", "other"), *rows])
    path = write(tmp_path_factory.mktemp("rows") / "a.csv", out.getvalue())
    found = [row for row in read_rows(path, "csv", "comment") if isinstance(row, Row)]
    assert [(row.text, row.others.get("other", "")) for row in found] == rows


def test_a_row_is_a_document_with_its_other_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", '\ufeffid,Text,title,stars\r\nr1,"王菲，\r\n歌手。",标题,5\r\n\r\n,"a ""b"" c",,\r\n'
    )
    first, second = documents(path)
    assert (first.id, first.text, first.meta["title"]) == ("r1", "王菲，\n歌手。", "标题")
    assert first.meta["columns"] == {"id": "r1", "title": "标题", "stars": "5"}
    assert (second.id, second.text) == ("a-5", 'a "b" c') and "columns" not in second.meta


@pytest.mark.parametrize(
    "content, column, texts",
    [
        ("a;text\nx;1,5 kg\n", "", ["1,5 kg"]),  # as spreadsheets write it where the comma is for decimals
        ("a\ttext\nx\t1,5 kg\n", "", ["1,5 kg"]),
        ("文本,标签\n好,1\n", "文本", ["好"]),
        ("一,好\n二,坏\n", "2", ["好", "坏"]),  # no names
        ("1,2\n好,坏\n", "2", ["坏"]),  # names that are numbers
        ("text\n", "", []),
        ('text\n""\n', "", [""]),
    ],
)
def test_columns_are_found_by_name_and_number(tmp_path: Path, content: str, column: str, texts: list[str]) -> None:
    assert [doc.text for doc in documents(write(tmp_path / "a.csv", content), column)] == texts


def test_other_encodings_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "评论\n王菲的歌。\n", "gb18030")
    assert [doc.text for doc in documents(path, "评论", "gb18030")] == ["王菲的歌。"]


def test_quotes_in_tsv_are_text_unless_they_enclose_a_field(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'text\tn\n"Hi" he said\t1\n"a ""b"" c"\t2\n"\t3\n5" disk\t4\n')
    assert [doc.text for doc in documents(path)] == ['"Hi" he said', 'a "b" c', '"', '5" disk']


@pytest.mark.parametrize(
    "content, column, message",
    [
        ("", "", "is empty"),
        ("id,comment\n1,x\n", "", r"which column has the texts\? Name it with --column \(its columns: id, comment\)"),
        ("id,comment\n1,x\n", "coment", "no column 'coment'. Did you mean 'comment'"),
        ("id,comment\n1,x\n", "3", "no column 3; the first row has 2"),
    ],
)
def test_a_missing_column_is_a_clear_error(tmp_path: Path, content: str, column: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        documents(write(tmp_path / "a.csv", content), column)


@pytest.mark.parametrize(
    "content, line, message",
    [
        ("id,text\n1,Hello, world\n", 2, "the row has 3 fields, the first one 2"),
        ('id,text\n1,"a\nb"\n2\n', 4, "the row has 1 field, the first one 2"),
        ('id,text\n1,"a" b\n', 2, "not CSV"),
        ('id,text\n1,"a\nb\n', 2, "not CSV"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, content: str, line: int, message: str) -> None:
    with pytest.raises(BadRecord, match=message) as caught:
        documents(write(tmp_path / "a.csv", content))
    assert caught.value.line == line


def test_bad_rows_can_be_set_aside(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "id,text\n1,a\n2,b,c\n3,d\n")
    with Rejects(tmp_path / "rejects.jsonl") as rejects:
        found = list(read_inputs([Input(path, "csv", "a.csv", "a")], None, rejects))
    assert [doc.id for doc in found] == ["1", "3"] and rejects.count == 1
    seen: list[int] = []
    list(read_input(Input(path, "csv", "a.csv", "a"), on_reject=lambda error, _: seen.append(error.line)))
    assert seen == [3]
