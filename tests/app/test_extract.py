"""`factpin extract` as users meet it: every kind of input and output, pipes, folders, refusals."""

import gzip
import io
import json
import lzma
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from factpin import formats
from factpin.app.cli import main
from factpin.extraction.folder import TOGETHER
from factpin.layers import half
from factpin.models import shipped
from tests.conftest import corpus
from tests.extraction.papers import locked, pdf
from tests.models.small_model import small_model, variant

TEXT = "王小明出生于北京。"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out.splitlines()]


Door = Callable[..., Done]


@pytest.fixture(scope="module")
def model(encoder_folder: Path) -> Path:
    return small_model(encoder_folder)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Door:
    """The command line in this process, without a terminal."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["extract", *map(str, words)])
        return Done(int(stop.value.code or 0), *capsys.readouterr())

    return call


@pytest.fixture
def door(bare: Door, model: Path) -> Door:
    return lambda *words, stdin=b"": bare("--model", model, *words, stdin=stdin)


def spans(record: dict[str, object]) -> list[tuple[int, int, str]]:
    return [(m["start"], m["end"], m["type"]) for m in record.get("mentions", [])]  # type: ignore[attr-defined]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_chinese_goes_through_a_pipe(model: Path) -> None:
    words = [sys.executable, "-m", "factpin", "extract", "-", "--model", str(model)]
    done = subprocess.run(words, input=f"{TEXT}\n".encode(), capture_output=True)
    assert done.returncode == 0, done.stderr
    (record,) = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    assert record["id"] == "stdin" and record["text"] == f"{TEXT}\n" and record["language"] == "zh"
    assert spans(record) == [(0, 3, "person"), (6, 8, "place")]
    assert done.stderr.decode("utf-8").startswith(
        "1 document, 10 characters, 100 % read in 1 window; found 2 mentions (1 person, 1 place)"
    )


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_file_is_not_called_read(door: Door, tmp_path: Path, text: str) -> None:
    done = door(write(tmp_path / "a.txt", text))
    assert done.code == 0 and "empty: 1 document without text: a\n" in done.err and "Nothing was found." in done.err
    assert "read" not in done.err


def test_a_store_without_a_link_and_a_text_in_place_of_a_file_are_explained(door: Door, tmp_path: Path) -> None:
    done = door(write(tmp_path / "a.txt", TEXT), "--db", tmp_path / "kb.db")
    assert done.code == 2 and "--link" in done.err and f"factpin index … --db {tmp_path / 'kb.db'}" in done.err
    assert "echo TEXT | factpin extract -" in door("Anna Weber was born in Berlin.").err


def test_standard_input_is_one_text_unless_jsonl_is_said(door: Door) -> None:
    lines = "\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in (TEXT, "李雷出生于广州。"))
    assert len(door(stdin=lines.encode()).records) == 1
    done = door("-", "--from", "jsonl", stdin=lines.encode())
    assert [r["text"] for r in done.records] == [TEXT, "李雷出生于广州。"]
    assert [spans(r) for r in done.records] == [
        [(0, 3, "person"), (6, 8, "place")],
        [(0, 2, "person"), (5, 7, "place")],
    ]


def test_every_kind_is_read_by_its_ending_with_offsets_into_its_text(door: Door, tmp_path: Path) -> None:
    english = "Anna Weber was born in Berlin."
    page = f"<html><body><nav>Menu</nav><article><h1>News</h1><p>{english}</p></article></body></html>"
    files = [write(tmp_path / "a.txt", TEXT), write(tmp_path / "b.md", f"# 标题\n\n**{TEXT}**"),
             write(tmp_path / "c.jsonl", json.dumps({"id": "own", "text": TEXT})), write(tmp_path / "d.html", page),
             write(tmp_path / "e.pdf", pdf("Nobody spoke.", english)),
             write(tmp_path / "f.txt.xz", lzma.compress(TEXT.encode()))]  # fmt: skip
    done = door(*files)
    assert done.code == 0, done.err
    assert [r["id"] for r in done.records] == ["a", "b", "own", "d", "e", "f"]
    for record in done.records:
        found = {record["text"][s:e] for s, e, _ in spans(record)}  # type: ignore[index]
        assert {"王小明", "北京"} <= found or {"Anna Weber", "Berlin"} <= found
    assert done.records[1]["text"] == f"# 标题\n\n**{TEXT}**"
    assert done.records[4]["meta"]["pages"] == [[0, 13], [15, 45]]  # type: ignore[index]
    assert done.err.startswith("6 documents, ")


def test_a_table_shows_the_page(door: Door, tmp_path: Path) -> None:
    path = write(tmp_path / "e.pdf", pdf("Nobody spoke.", "Anna Weber was born in Berlin."))
    done = door(path, "--to", "table")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.out.splitlines() if "│" in line]
    assert [row[:5] for row in rows] == [
        ["15", "25", "2", "Anna Weber", "person"],
        ["38", "44", "2", "Berlin", "place"],
    ]


def test_colour_without_a_terminal_has_no_escape_codes_and_no_new_line_breaks(door: Door) -> None:
    text = TEXT * 30
    done = door("--to", "color", stdin=text.encode())
    assert "\x1b" not in done.out + done.err
    title, shown = done.out.rstrip("\n").split("\n")
    assert title == "── stdin (zh)" and shown == "[王小明|person]出生于[北京|place]。" * 30


def test_brat_is_written_and_read_again(door: Door, tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.txt", TEXT)
    write(tmp_path / "in" / "sub" / "a.txt", "李雷出生于广州。")
    done = door(tmp_path / "in", "--to", "brat", "--output", tmp_path / "out")
    assert done.code == 0 and done.out == "" and "not held by brat: " in done.err and "4 scores" in done.err
    documents = list(formats.read(tmp_path / "out", format="brat"))
    assert [(d.id, d.text) for d in documents] == [("a", TEXT), ("sub/a", "李雷出生于广州。")]
    assert [[(m.text, m.type) for m in d.mentions] for d in documents] == [
        [("王小明", "person"), ("北京", "place")], [("李雷", "person"), ("广州", "place")]]  # fmt: skip
    again = door(tmp_path / "in", "--to", "brat", "--output", tmp_path / "out")
    assert again.code == 2 and "the folder is not empty" in again.err


def test_a_file_is_written_whole_and_packed_by_its_ending(door: Door, tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.txt", TEXT)
    write(tmp_path / "in" / "b.txt", TEXT)
    done = door(tmp_path / "in", "--output", tmp_path / "all.jsonl.xz")
    assert done.code == 0 and done.out == ""
    lines = lzma.decompress((tmp_path / "all.jsonl.xz").read_bytes()).decode().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["a", "b"]
    write(tmp_path / "in" / "a.jsonl", b"not JSON")  # part of such a file would be read before its error
    assert door(tmp_path / "in", "--output", tmp_path / "new.jsonl").code == 2
    assert not (tmp_path / "new.jsonl").exists()


def test_quiet_says_nothing(door: Door, tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.txt", TEXT)
    write(tmp_path / "in" / "b.odt", "x")
    assert "skipped: 1 .odt" in door(tmp_path / "in").err
    done = door(tmp_path / "in", "--quiet")
    assert done.code == 0 and done.err == "" and len(done.records) == 1


def test_annotation_that_came_along_is_replaced_with_a_note(door: Door) -> None:
    line = {"text": TEXT, "mentions": [{"start": 3, "end": 5, "text": "出生", "type": "verb"}], "colour": "red"}
    done = door("--from", "jsonl", stdin=json.dumps(line).encode())
    assert "replaced: the annotation that 1 document already had" in done.err
    assert spans(done.records[0]) == [(0, 3, "person"), (6, 8, "place")]
    assert done.records[0]["meta"] == {"colour": "red"}


def test_without_model_every_shipped_one_that_fits_the_language_is_asked(
    bare: Door, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "models")
    done = bare(stdin=TEXT.encode())
    assert done.code == 2 and "No model ships" in done.err
    variant(model, tmp_path / "models" / "zh-entities", language="zh", labels=("人物", "地点"))
    variant(model, tmp_path / "models" / "en-entities", language="en", labels=("man", "town"))
    lines = "\n".join(json.dumps({"id": id, "text": text}) for id, text in (
        ("c", TEXT), ("e", "Anna Weber was born in Berlin."), ("r", "Столица России это Москва."),
        ("d", "Der Mann ist nicht mit der Frau nach Berlin gefahren."),
    ))  # fmt: skip
    done = bare("--from", "jsonl", stdin=lines.encode())
    assert [{label for *_, label in spans(r)} for r in done.records] == [
        {"人物", "地点"},
        {"man", "town"},
        set(),
        set(),
    ]
    assert "2 documents in a language that no model reads: r (unknown), d (de)" in done.err
    assert bare("--from", "jsonl", "--model", "zh_entities", stdin=lines.encode()).records[1].get("mentions") is None


def test_several_models_are_chained(door: Door, model: Path, tmp_path: Path) -> None:
    other = variant(model, tmp_path / "towns", labels=("person", "town"))
    done = door("--model", other, stdin=TEXT.encode())
    assert spans(done.records[0]) == [(0, 3, "person"), (6, 8, "place"), (6, 8, "town")]


def test_a_folder_run_is_taken_up_again(door: Door, tmp_path: Path) -> None:
    for name in ("a.txt", "a.md", "sub/c.txt"):
        write(tmp_path / "in" / name, TEXT)
    done = door(tmp_path / "in", "--output", tmp_path / "in" / "found")
    assert done.code == 0 and "3 documents" in done.err
    write(tmp_path / "in" / "d.txt", TEXT)
    done = door(tmp_path / "in", "--output", tmp_path / "in" / "found")
    assert "3 of 4 inputs were already done" in done.err and "1 document, " in done.err
    names = sorted(p.relative_to(tmp_path / "in" / "found").as_posix() for p in (tmp_path / "in").rglob("found/**/*.*"))
    assert names == ["a.md.jsonl", "a.txt.jsonl", "d.txt.jsonl", "factpin-run.json", "sub/c.txt.jsonl"]
    done = door(tmp_path / "in", "--output", tmp_path / "in" / "found", "--on-overflow", "error")
    assert (
        done.code == 2 and "--on-overflow window, --min-score 0.5; now --on-overflow error, --min-score 0.5" in done.err
    )


def test_a_killed_folder_run_goes_on_and_gives_the_same_files(door: Door, model: Path, tmp_path: Path) -> None:
    source, last = tmp_path / "in", tmp_path / "last.txt"
    for i, doc in enumerate(corpus(TOGETHER + 4, 31)):
        write(source / f"{i:03}.txt", doc.text)
    os.mkfifo(last)  # the run waits here, after its first group of inputs and before its second
    killed, fresh = tmp_path / "killed", tmp_path / "fresh"
    words = [sys.executable, "-m", "factpin", "extract", source, last, "--model", model, "--output", killed]
    child = subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE)
    while len(list(killed.rglob("*.jsonl"))) < TOGETHER:
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    last.unlink()
    write(last, TEXT)
    done = door(source, last, "--output", killed)
    assert done.code == 0 and f"of {TOGETHER + 5} inputs were already done" in done.err
    assert door(source, last, "--output", fresh).code == 0
    files = [{p.relative_to(f): p.read_bytes() for p in f.rglob("[!.]*") if p.is_file()} for f in (killed, fresh)]
    assert files[0] == files[1] and len(files[0]) == TOGETHER + 6


def test_bad_files_are_set_aside_by_choice(door: Door, tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.txt", TEXT)
    write(tmp_path / "in" / "b.pdf", b"%PDF-1.4 broken")
    write(tmp_path / "in" / "c.txt", b"\xff\xfe")
    for output, rejects in ((tmp_path / "all.jsonl", tmp_path / "all.jsonl.rejects.jsonl"),
                            (tmp_path / "found", tmp_path / "found" / "factpin-rejects.jsonl")):  # fmt: skip
        named = door(tmp_path / "in", "--output", output)
        assert named.code == 1 and "b.pdf: cannot be read as PDF" in named.err and "c.txt: not UTF-8" in named.err
        assert "1 document" in named.err and not rejects.exists()
        done = door(tmp_path / "in", "--output", output, "--skip-bad")
        assert done.code == 0 and "set aside: 2 bad files or records" in done.err
        reasons = [json.loads(line) for line in rejects.read_text().splitlines()]
        assert [Path(r["file"]).name for r in reasons] == ["b.pdf", "c.txt"]
        assert "not UTF-8" in reasons[1]["reason"]
    write(tmp_path / "in" / "b.pdf", pdf("Anna Weber"))
    write(tmp_path / "in" / "c.txt", TEXT)
    done = door(tmp_path / "in", "--output", tmp_path / "found")
    assert done.code == 0 and not (tmp_path / "found" / "factpin-rejects.jsonl").exists()


def test_rejects_of_a_run_to_standard_output_lie_here_and_are_no_input_of_the_next(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.txt", TEXT)
    write(tmp_path / "b.jsonl", "{broken\n")
    for _ in range(2):
        done = door(".", "--skip-bad")
        assert [r["id"] for r in done.records] == ["a"]
        assert done.err.splitlines()[-1] == "set aside: 1 bad file or record in stdout.rejects.jsonl"


def test_a_note_is_one_line_in_a_narrow_terminal(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert len(door(write(tmp_path / "a.txt", TEXT)).err.splitlines()) == 1


def test_another_encoding_is_read_when_it_is_named(door: Door, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", TEXT.encode("gb18030"))
    refused = door(path)
    assert refused.code == 2 and "--encoding gb18030" in refused.err
    assert door(path, "--encoding", "gb18030").records[0]["text"] == TEXT


@pytest.mark.parametrize(
    "name, content, words, said",
    [
        ("in/x.odt", "x", ["in"], "no file in it has a known ending"),
        ("x.odt", "x", ["x.odt"], "its ending does not say what it is"),
        ("x.txt", "x", ["absent.txt"], "absent.txt: there is no such file"),
        ("x.txt", "x", ["x.txt", "--from", "txt"], "Did you mean 'text'?"),
        ("x.txt", "x", ["x.txt", "--to", "jsnol"], "Did you mean 'jsonl'?"),
        ("x.txt", "x", ["x.txt", "--to", "brat"], "name it with --output"),
        ("x.txt", "x", ["x.txt", "--to", "table", "--output", "t"], "Leave --output out"),
        ("x.txt", "x", ["x.txt", "--min-score", "high"], "'high' is not a valid number"),
        ("x.txt", "x", ["x.txt", "--output", "o.xlsx"], "the ending .xlsx names no kind of output"),
        ("x.txt", "x", ["x.txt", "--output", "o.json.gz"], "Use one of .csv, .htm, .html, .jsonl, or add --to."),
        ("x.txt", "x", ["x.txt", "--model", "zh-entitis"], "There is no model 'zh-entitis'"),
        ("x.txt", "x", ["x.txt", "--model", "."], "factpin.json is missing"),
        ("x.txt", "x", ["x.txt", "--model", "en-entities", "--device", "abacus"], "no device 'abacus' here"),
        ("x.txt", "王小明，" * 60, ["x.txt", "--on-overflow", "error"], "--on-overflow window"),
        ("x.txt", "x", ["x.txt", "--encoding", "utf-99"], "There is no text encoding 'utf-99'"),
        ("x.pdf", pdf(""), ["x.pdf"], "no text on any of its pages"),
        ("x.pdf", locked(pdf("Anna"), user="secret"), ["x.pdf"], "locked with a password"),
        ("x.pdf", b"%PDF-1.7 cut", ["x.pdf"], "cannot be read as PDF"),
        ("x.html", "<html></html>", ["x.html"], "no text was found"),
        ("x.jsonl", '{"text": "a"}\n{"txt": 1}\n', ["x.jsonl"], "x.jsonl:2"),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_2(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, words: list[str],
    said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    write(tmp_path / name, content)
    done = door(*words)
    assert done.code == 2 and said in done.err
    assert len(done.err.strip().splitlines()) == 1 and done.out == ""


@pytest.mark.parametrize("library, ending", [("trafilatura", "html"), ("pypdf", "pdf")])
def test_a_missing_extra_names_the_command(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, ending: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    done = door(write(tmp_path / f"a.{ending}", "x"), "--skip-bad", "--output", tmp_path / "o.jsonl")
    assert done.code == 2 and f"pip install 'factpin[{ending}]'" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_at_a_terminal_without_files_it_says_so_and_does_not_wait() -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run([sys.executable, "-m", "factpin", "extract"], stdin=theirs, capture_output=True, text=True)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2 and "Nothing to read" in done.stderr


@pytest.mark.parametrize("emulates", [True, False])
def test_half_precision_that_is_emulated_is_said(door: Door, monkeypatch: pytest.MonkeyPatch, emulates: bool) -> None:
    monkeypatch.setattr(half, "emulates_bf16", lambda: emulates)
    done = door("-", "--bf16", stdin=TEXT.encode())
    assert done.code == 0 and spans(done.records[0]) and ("Float32 is faster" in done.err) == emulates


def test_a_terminal_shows_at_once_that_models_are_loaded(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", TEXT)
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "factpin", "extract", path, "--model", model, "--output", tmp_path / "o.jsonl"]
    child = subprocess.Popen([str(word) for word in words], stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # the end of a terminal, on Linux
        while part := os.read(ours, 1 << 16):
            shown += part
    os.close(ours)
    assert child.wait() == 0 and shown.index(b"loading models") < shown.index(b"1 document, ")


def test_the_ending_of_the_output_says_what_it_is(door: Door, tmp_path: Path) -> None:
    done = door("--output", tmp_path / "a.csv", "--only", "entities", stdin=TEXT.encode())
    assert done.code == 0, done.err
    assert (tmp_path / "a.csv").read_text(encoding="utf-8-sig").splitlines() == [
        "document,start,end,mention,type,score,entity",
        *(f"stdin,{start},{end},{TEXT[start:end]},{kind},{score},"
          for start, end, kind, score in scored(door(stdin=TEXT.encode()).records[0])),
    ]  # fmt: skip
    assert door("--output", tmp_path / "a.csv.gz", stdin=TEXT.encode()).code == 0
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode("utf-8-sig").startswith("document,head,")
    assert door("--output", tmp_path / "a.txt", "--to", "jsonl", stdin=TEXT.encode()).code == 0
    door("--output", tmp_path / "a.html", stdin=TEXT.encode())
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def scored(record: dict[str, object]) -> list[tuple[int, int, str, float]]:
    return [(m["start"], m["end"], m["type"], m["score"]) for m in record["mentions"]]  # type: ignore[attr-defined]


def test_rows_of_a_table_are_documents(door: Door, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"id,comment\nx,{TEXT}\ny,李雷出生于广州。\n")
    done = door(path, "--column", "comment")
    assert [(r["id"], len(spans(r))) for r in done.records] == [("x", 2), ("y", 2)]
    assert (door(path).code, "which column has the texts?" in door(path).err) == (2, True)
    door(path, "--column", "comment", "--output", tmp_path / "found")
    assert len((tmp_path / "found" / "a.csv.jsonl").read_text().splitlines()) == 2


def test_one_part_alone_is_shown(door: Door, tmp_path: Path) -> None:
    assert spans(door("--only", "facts", stdin=TEXT.encode()).records[0]) == []
    assert door("--only", "facts", "--to", "table", stdin=TEXT.encode()).out == "no facts in stdin (zh)\n"
    assert "王小明" in door("--only", "entities", "--to", "table", stdin=TEXT.encode()).out


@pytest.mark.parametrize(
    "words, message",
    [
        (["--to", "csv", "--output", "found"], "csv is one file, but found is a folder"),
        (["--to", "csv", "--only", "facts", "--only", "events"], "CSV is one table; --only names 2"),
        (["--to", "triples", "--only", "entities"], "triples are facts, but --only asks for entities"),
        (["--only", "fact"], "Did you mean 'facts'"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(door: Door, words: list[str], message: str) -> None:
    done = door(*words, stdin=TEXT.encode())
    assert done.code == 2 and message in done.err
