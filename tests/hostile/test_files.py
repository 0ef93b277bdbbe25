"""Files that are meant to break a run, and files that another process writes, locks or leaves behind."""

import gzip
import lzma
import os
import random
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from factpin import files, formats
from factpin.documents import Document, Entity, Event, Fact, Mention
from factpin.documents.given import as_documents
from factpin.errors import BadDocument, BadFile, BadInput
from factpin.extraction.inputs import Input
from factpin.extraction.read import read_inputs
from factpin.extraction.rejects import Rejects
from factpin.files.encodings import likely_encoding
from factpin.files.leftovers import part_name
from factpin.files.limits import size_of
from factpin.files.process import is_dead, own_mark
from tests.formats.test_mutations import at_most

ODD = ["undefined", "punycode", "zlib", "unicode_escape", "idna", "utf-7", "base64", "rot13", "mbcs", "x\x00y", "hex"]


@pytest.mark.parametrize("charset", ODD)
def test_a_page_with_an_odd_charset_is_read_as_utf8(charset: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<html><meta charset='{charset}'><body><p>小明到了北京。他很高兴。</p></body></html>", "utf-8")
    (doc,) = read_inputs([Input(page, "html", "page.html", "page")])
    assert "小明到了北京。" in doc.text


@pytest.mark.parametrize("charset", ODD)
def test_one_bad_page_does_not_stop_a_run(charset: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(f"<html><meta charset='{charset}'><p>".encode() + "小明到了北京。".encode("gb18030"))
    (tmp_path / "good.txt").write_text("好。", "utf-8")
    sources = [Input(page, "html", "page.html", "page"), Input(tmp_path / "good.txt", "text", "good.txt", "good")]
    with Rejects(tmp_path / "rejects.jsonl") as rejects:
        assert [doc.id for doc in read_inputs(sources, rejects=rejects)] == ["good"]
    assert rejects.count == 1


SAID = "<html><body><p>Anna Weber was born in Berlin.</p>"


@pytest.mark.parametrize("more", ["<a " * 200_000, "<a '" * 200_000, '<a "x' * 200_000, "<" * 500_000, "<i>" * 90_000])
def test_a_page_of_open_tags_is_read_soon(more: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(SAID + more, "utf-8")
    with at_most(60):
        (doc,) = read_inputs([Input(tmp_path / "page.html", "html", "page.html", "page")])
    assert doc.text.startswith("Anna Weber was born in Berlin.")


@pytest.mark.parametrize("one", ["a{}='x'", 'a{}="<>"', "a{}", "a{}=1", "a{}='x'b=\"'\""])
def test_an_element_with_very_many_attributes_is_refused(one: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"{SAID}<p {' '.join(one.format(i) for i in range(200_000))}>x</p>", "utf-8")
    with at_most(60), pytest.raises(BadFile, match="more than 1,000 attributes"):
        list(read_inputs([Input(page, "html", "page.html", "page")]))
    page.write_text(f"{SAID}<img src='data:image/png;base64,{'A=' * 99_999}' d='{'M0 0 ' * 9_999}'>", "utf-8")
    assert list(read_inputs([Input(page, "html", "page.html", "page")]))


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "zlib", "unicode_escape", "idna", "hex", "no", "\x00"])
def test_an_encoding_that_is_none_is_named(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for read in (files.read_text, lambda path, name: list(files.lines(path, name))):
        with pytest.raises(BadInput, match="no text encoding"):
            read(tmp_path / "a.txt", encoding)


@pytest.mark.parametrize("codec, other", [("utf-16-le", "utf-16-be"), ("utf-16-be", "utf-16-le")])
def test_utf16_without_a_byte_order_mark_names_the_likely_order(codec: str, other: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("He lives in Rome.\nYes.\n".encode(codec))
    for read in (files.read_text, lambda path, name: list(files.lines(path, name))):
        with pytest.raises(BadFile, match=f"no byte order mark.*{codec} is more likely"):
            read(path, "utf-16")
    assert files.read_text(path, codec) == "He lives in Rome.\nYes.\n"
    path.write_bytes("He.\nYes.\n".encode("utf-16"))
    assert files.read_text(path, "utf-16") == "He.\nYes.\n"
    assert [line for _, line in files.lines(path, "utf-16")] == ["He.", "Yes."]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_of_latin_text_is_no_utf8_with_zeros_in_it(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("He lives in Rome.\nYes.\n".encode(codec))
    for read in (files.read_text, lambda path: list(files.lines(path))):
        with pytest.raises(BadFile, match=f"every other byte is zero.*--encoding {codec}"):
            read(path)
    path.write_bytes(b"a\0b, and one zero only")
    assert files.read_text(path) == "a\0b, and one zero only"
    path.write_bytes(b"\0")
    assert [line for _, line in files.lines(path)] == ["\0"]


def test_the_likely_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("小明昨天到了北京，住在朝阳区的一家宾馆。他打算明天去上海。\n".encode("gb18030") * 20)
    for read in (files.read_text, lambda path: list(files.lines(path))):
        with pytest.raises(BadFile, match="not UTF-8.*looks like gb18030: try --encoding gb18030"):
            read(path)


PLACES = "小明昨天到了北京，住在朝阳区的一家宾馆。他打算明天去上海。\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress("小明到了北京。".encode(), mtime=0), "It is compressed with gzip: give it the ending .gz."),
        (lzma.compress(b"Anna was born in Rome."), "It is compressed with xz: give it the ending .xz."),
        (Path(sys.executable).resolve().read_bytes()[:100_000], "It is a program, not text."),
        (random.Random(0).randbytes(5000), "It has control characters, so it is no text file."),
    ],
)
def test_what_is_no_text_is_not_taken_for_another_encoding(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    for read in (files.read_text, lambda path: list(files.lines(path))):
        with pytest.raises(BadFile, match=re.escape(said)):
            read(path)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32", "gb18030", "big5"])
def test_the_likely_encoding_of_one_chinese_sentence_is_named(codec: str) -> None:
    text = PLACES if codec != "big5" else "小明昨天到了臺北，住在大安區的一家旅館。他打算明天去高雄。\n"
    assert likely_encoding(text.encode(codec)) == codec


@pytest.mark.parametrize("codec, text", [
    ("euc-kr", "그는 서울에서 태어났고 삼성전자에서 일한다.\n"),
    ("euc-jp", "彼は東京で生まれ、大阪で働いています。\n"),
    ("shift_jis", "彼は東京で生まれ、大阪で働いています。\n"),
])  # fmt: skip
def test_short_korean_and_japanese_texts_are_not_taken_for_chinese(codec: str, text: str) -> None:
    assert likely_encoding(text.encode(codec)) == codec.replace("_", "-")


@pytest.mark.parametrize("text", [PLACES * 30, "He met José Ñandú at the Café Müller in Zürich — twice.\n" * 30])
def test_damaged_utf8_is_called_damaged_and_nothing_else(text: str, tmp_path: Path) -> None:
    raw, path = text.encode(), tmp_path / "a.txt"
    for broken in (raw[: len(raw) // 2] + b"\xff" + raw[len(raw) // 2 :], raw[: raw.rfind(max(text).encode()) + 1]):
        path.write_bytes(broken)
        for read in (files.read_text, lambda path: list(files.lines(path))):
            with pytest.raises(BadFile, match="The rest is UTF-8, so the file is damaged or cut off there"):
                read(path)


def test_the_line_with_the_bad_byte_shows_the_encoding_of_a_file_that_begins_in_ascii(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain words\n" * 30_000 + PLACES.encode("gb18030"))
    with pytest.raises(BadFile, match=r"line 30001\) is 0x.*looks like gb18030"):
        list(files.lines(path))


def test_a_long_line_and_a_bomb_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.LIMIT, "64K")
    path = tmp_path / "zeros.txt.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    for read in (files.read_text, lambda path: list(files.lines(path))):
        with pytest.raises(BadFile, match="longer than 64K.*--max-record"):
            read(path)
    monkeypatch.setenv(files.LIMIT, "16M")
    assert len(files.read_text(path)) == 10_000_000


def test_a_limit_beyond_all_memory_reads_files_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.LIMIT, "99999999999G")
    (tmp_path / "a.csv").write_text("id,text\n1,Anna\n", "utf-8")
    assert files.read_text(tmp_path / "a.csv") == "id,text\n1,Anna\n"
    assert [doc.text for doc in read_inputs([Input(tmp_path / "a.csv", "csv", "a.csv", "a")])] == ["Anna"]


def test_a_row_of_many_long_fields_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.LIMIT, "64K")
    fields = ",".join('"' + "x\n" * 9000 + '"' for _ in range(2))
    (tmp_path / "a.csv").write_text(f"id,text\n{fields}\n{fields}\n", "utf-8")
    rows = [Input(tmp_path / "a.csv", "csv", "a.csv", "a")]
    assert len(list(read_inputs(rows))) == 2
    (tmp_path / "a.csv").write_text(f"id,text\n{fields},{fields},{fields}\n", "utf-8")
    with pytest.raises(BadFile, match="the row from line 2 on is longer than 64K"):
        list(read_inputs(rows))


def test_sizes_are_read_and_others_refused() -> None:
    assert [size_of(text) for text in ("5", "64K", "64kib", "2G", "1MB")] == [5, 1 << 16, 1 << 16, 2 << 30, 1 << 20]
    assert size_of("9" * 18 + "G") == 1 << 60
    for text in ("", "0", "-1", "1.5G", "many", "G", "²", "9" * 5000):
        with pytest.raises(BadInput, match="500M or 2G"):
            size_of(text)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a\nb\n")
    reading = files.lines(path)
    next(reading)
    with open(path, "a") as stream:
        stream.write("c\n")
    with pytest.raises(BadFile, match="changed while it was read"):
        list(reading)


def test_a_loop_of_links_is_refused_to_read_and_to_write(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BadFile, match="cannot be read"):
        files.read_text(tmp_path / "a")
    with pytest.raises(BadFile, match="loop of links"), files.write_bytes(tmp_path / "a"):
        pass


def test_a_full_device_is_a_clear_error() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with pytest.raises(BadFile, match="/dev/full: cannot be written"), files.write_bytes(Path("/dev/full")) as stream:
        stream.write(b"x")
    with open("/dev/full", "wb") as full:
        words = [sys.executable, "-m", "factpin", "models"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"No space left" in done.stderr and b"Traceback" not in done.stderr


def ended() -> str:
    """The mark of a process that has ended."""
    code = "from factpin.files.process import own_mark; print(own_mark())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_leftovers_of_dead_processes_are_removed_and_others_kept(tmp_path: Path) -> None:
    dead, mine = ended(), part_name(tmp_path / "a.jsonl")
    assert is_dead(dead) and not is_dead(own_mark()) and not is_dead("00000000-1-0")
    old = tmp_path / mine.name.replace(own_mark(), dead)
    far = tmp_path / mine.name.replace(own_mark(), "00000000-1-0")
    below = tmp_path / "below" / old.name
    below.mkdir(parents=True)
    for path in (old, mine, far, tmp_path / ".hers.part"):
        path.write_text("half")
    (below / "file").write_text("half")
    with files.write_bytes(tmp_path / "a.jsonl") as stream:
        stream.write(b"whole")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["a.jsonl", "below", mine.name, far.name, ".hers.part"])
    with files.one_writer(tmp_path, "test"):
        assert not below.exists()


def test_a_process_that_got_the_number_of_a_dead_one_is_not_it() -> None:
    host, pid, start = own_mark().split("-")
    assert start != "0" and is_dead(f"{host}-{pid}-{int(start, 16) + 1:x}")


HOLD = """
import sys, time
from pathlib import Path
from factpin.files import one_writer
with one_writer(Path(sys.argv[1]), "factpin train"):
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_folder_has_one_writer_and_a_stale_lock_is_taken_over(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    try:
        words = rf"process {child.pid} \(factpin train, since .*is writing there"
        with pytest.raises(BadInput, match=words), files.one_writer(tmp_path, "factpin extract"):
            pass
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert (tmp_path / ".factpin.lock").exists()
    with files.one_writer(tmp_path, "factpin extract"), files.one_writer(tmp_path, "a step of it"):
        (tmp_path / "result").write_text("x")
    assert [p.name for p in tmp_path.iterdir()] == ["result"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_half_written_file_and_keeps_the_rejects(number: signal.Signals, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(source)
    words = [sys.executable, "-m", "factpin", "convert", str(source), str(target), "--from", "jsonl", "--skip-bad"]
    heed = partial(signal.signal, number, signal.SIG_DFL)  # nohup and & make children ignore some signals
    child = subprocess.Popen(words, stderr=subprocess.PIPE, preexec_fn=heed)
    with open(source, "wb", buffering=0) as stream:
        stream.write(b'{"id": "a", "text": "x"}\nnot JSON\n' + b'{"id": "a", "text": "x"}\n' * 9000)
        deadline = time.monotonic() + 60
        while not any("rejects" in p.name for p in tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        child.send_signal(number)
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 128 + number, errors
    assert b"stopped" in errors and b"Traceback" not in errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl.rejects.jsonl"]
    assert "not JSON" in (tmp_path / "out.jsonl.rejects.jsonl").read_text()


def run(*words: str | bytes | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "factpin", *words], capture_output=True, check=False)


def test_names_that_are_not_utf8_do_not_break_the_output(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.jsonl"
    with open(name, "wb") as stream:
        stream.write(b'{"id": "a", "text": "x"}\nbad\n')
    for words in ((b"doctor", name, b"--json"), (b"doctor", name), (b"convert", name, name + b".conll", b"--json")):
        done = run(*words)
        assert b"Traceback" not in done.stderr, done.stderr
        done.stdout.decode("utf-8")


def test_names_that_look_like_markup_are_shown_as_they_are(tmp_path: Path) -> None:
    mentions = (Mention("m", 0, 4, "Anna", "[/red]"), Mention("n", 0, 4, "Anna", "[bold]x"))
    entities = (Entity("e", ("m",), name="[/]"), Entity("f", ("n",)))
    facts, events = (Fact("e", "[/blink]", "f"),), (Event("v", "[/i]", "m"),)
    odd = Document("[/x]", "Anna\x1b[31m", mentions=mentions, entities=entities, facts=facts, events=events)
    folder = tmp_path / "[/b]"
    formats.write([odd, odd], folder / "[i]x.jsonl")
    done = run("doctor", folder / "[i]x.jsonl", "--learn-schema", folder / "[i].toml")
    shown = done.stdout.decode()
    assert b"Traceback" not in done.stderr and b"[/b]/[i].toml" in done.stderr, done.stderr
    assert all(name in shown for name in ("[/red]", "[bold]x", "[/blink]", "[/i]", "[/x]")) and "\x1b" not in shown
    for words in (("evaluate", folder / "[i]x.jsonl"), ("convert", "--lossy", folder / "[i]x.jsonl")):
        assert b"Traceback" not in run(*words, folder / "[i]y.jsonl").stderr


def test_lone_surrogates_in_a_corpus_are_refused_or_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text": "ab", "label": [[0, 1, "\\ud83d"]]}, {"text": "cd", "label": [[0, 1, "T"]]}]')
    for words in (("doctor", path, "--from", "doccano"), ("doctor", path, "--from", "doccano", "--json")):
        done = run(*words)
        assert b"Traceback" not in done.stderr and done.returncode in (1, 2), done.stderr
    done = run("convert", path, tmp_path / "b.jsonl", "--from", "doccano", "--skip-bad")
    assert done.returncode == 0 and len((tmp_path / "b.jsonl").read_text().splitlines()) == 1, done.stderr


def test_an_empty_path_is_not_the_current_folder(tmp_path: Path) -> None:
    for words in (
        ["extract", ""],
        ["convert", "", tmp_path / "a.jsonl"],
        ["doctor", ""],
        ["index", "", "--db", "x.db"],
    ):
        done = run(*words)
        assert done.returncode == 2 and b"A path is empty." in done.stderr, done.stderr


def test_a_bad_text_among_several_is_named() -> None:
    with pytest.raises(BadDocument, match="Text 1: .*lone surrogate"):
        as_documents(["good", "bad \ud83d"])
    with pytest.raises(BadInput, match="text 2 is of type int"):
        as_documents(["good", "good", 3])  # type: ignore[list-item]
    for odd in (3, None, b"bytes", {"text": "good"}):
        with pytest.raises(BadInput, match=f"of type {type(odd).__name__}"):
            as_documents(odd)  # type: ignore[arg-type]
