"""Two files side by side: lines that belong together, and the message where they do not."""

from pathlib import Path

import pytest

from factpin.documents import Document, Mention
from factpin.errors import BadFile, BadRecord
from factpin.formats import Options, ReadContext, Report, parallel
from factpin.formats._guess import head

DATA = Path(__file__).parents[3] / "shared" / "data"
SAMPLE = Path(__file__).parent / "samples" / "parallel"


def folder(path: Path, sentences: str, tags: str) -> Path:
    path.mkdir()
    (path / "sentences.txt").write_text(sentences, encoding="utf-8")
    (path / "tags.txt").write_text(tags, encoding="utf-8")
    return path


def test_chinese_characters_are_joined_without_blanks_and_words_with_them() -> None:
    first, second, third = parallel.read(ReadContext(SAMPLE))
    assert first.text == "林小雨在青湖大学读书。"
    assert [(m.start, m.end, m.text, m.type) for m in first.mentions] == [
        (0, 3, "林小雨", "PER"),
        (4, 8, "青湖大学", "ORG"),
    ]
    assert second.text == "展览2031年开幕"
    assert third.text == "Mara Olsen lives in Lindby ."
    assert [doc.id for doc in (first, second, third)] == ["parallel-1", "parallel-2", "parallel-3"]


def test_the_path_may_be_the_sentences_file() -> None:
    assert list(parallel.read(ReadContext(SAMPLE / "sentences.txt"))) == list(parallel.read(ReadContext(SAMPLE)))
    assert parallel.fits(head(SAMPLE / "sentences.txt", "utf-8"))
    assert not parallel.fits(head(SAMPLE / "tags.txt", "utf-8"))


@pytest.mark.parametrize(
    ("sentences", "tags", "file", "line", "words"),
    [
        ("a b\nc d\n", "O O\nO\n", "sentences.txt", 2, "2 tokens, but 1 tag"),
        ("a b\nc\n", "O O\n", "tags.txt", 2, "sentences.txt has more"),
        ("a b\n", "O O\nO\n", "sentences.txt", 2, "tags.txt has more"),
        ("a b\n", "O PER\n", "tags.txt", 1, "got 'PER'"),
    ],
)
def test_lines_that_do_not_match_are_named(sentences, tags, file, line, words, tmp_path: Path) -> None:
    with pytest.raises(BadRecord, match=words) as caught:
        list(parallel.read(ReadContext(folder(tmp_path / "x", sentences, tags))))
    assert (Path(caught.value.file).name, caught.value.line) == (file, line)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "sentences.txt").write_text("a\n")
    with pytest.raises(BadFile, match="tags.txt"):
        list(parallel.read(ReadContext(tmp_path)))


def test_ill_formed_tags_are_noted(tmp_path: Path) -> None:
    report = Report()
    path = folder(tmp_path / "x", "北 京\n\n上 海\n", "B-L I-L\n\nO I-L\n")
    docs = list(parallel.read(ReadContext(path, report=report)))
    assert [(d.id, [m.text for m in d.mentions]) for d in docs] == [("x-1", ["北京"]), ("x-3", ["海"])]
    assert report.counts == {"ill_formed_tag": 1}


def test_overlaps_are_lost_and_a_folder_that_holds_files_is_not_replaced(tmp_path: Path) -> None:
    mentions = (Mention("m0", 0, 4, "青湖大学", "ORG"), Mention("m1", 0, 2, "青湖", "LOC"))
    doc = Document("d", "青湖大学", mentions=mentions)
    assert parallel.lost(doc, Options()) == {"overlaps": 1}
    parallel.write([doc], tmp_path / "out", Options(scheme="bmes"))
    assert (tmp_path / "out" / "tags.txt").read_text() == "B-ORG M-ORG M-ORG E-ORG\n"
    with pytest.raises(BadFile, match="folder is not empty"):
        parallel.write([doc], tmp_path / "out", Options())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


@pytest.mark.skipif(not DATA.exists(), reason="the corpora of ../shared/data are not beside this checkout")
@pytest.mark.parametrize(("split", "counts"), [("val", (3000, 142980, 5011)), ("test", (3442, 172601, 6190))])
def test_the_counts_of_msra(split: str, counts: tuple[int, int, int], tmp_path: Path) -> None:
    docs = list(parallel.read(ReadContext(DATA / "msra" / split)))
    assert (len(docs), sum(len(d.text) for d in docs), sum(len(d.mentions) for d in docs)) == counts
    assert all(not parallel.lost(doc, Options()) for doc in docs)
    parallel.write(docs, tmp_path / split, Options())
    assert list(parallel.read(ReadContext(tmp_path / split))) == docs
