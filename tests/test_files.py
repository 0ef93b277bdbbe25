import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from factpin import files
from factpin.errors import BadFile, BadInput


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_what_is_written_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.txt{ending}"
    with files.write_bytes(path) as stream:
        stream.write("一\n二\r\n\u2028三".encode())
    assert list(files.lines(path)) == [(1, "一"), (2, "二"), (3, "\u2028三")]
    assert files.read_text(path) == "一\n二\r\n\u2028三"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), files.write_bytes(path) as stream:
        stream.write(b"new")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_kill_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    code = (
        "import sys, time, pathlib; from factpin import files\n"
        "with files.write_bytes(pathlib.Path(sys.argv[1])) as s:\n"
        "    s.write(b'new' * 1000); s.flush(); print('ready', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert path.read_text() == "old"


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), files.write_folder(target) as folder:
        (folder / "a").write_text("x")
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
    target.mkdir()
    with files.write_folder(target) as folder:
        (folder / "a").write_text("x")
    with pytest.raises(BadFile, match="already exists"), files.write_folder(target):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert [p.name for p in target.iterdir()] == ["a"]


def test_pipes_and_links_are_written_to_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE)
    with files.write_bytes(tmp_path / "pipe") as stream:
        stream.write(b"through")
    assert reader.communicate()[0] == b"through"
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with files.write_bytes(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"x"


def test_bytes_that_are_not_utf8_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "gb.txt"
    path.write_bytes("ok\n中文".encode("gb18030"))
    for read in (lambda: list(files.lines(path)), lambda: files.read_text(path)):
        with pytest.raises(BadFile, match=r"byte 3 \(line 2\) is 0xd6.*--encoding"):
            read()
    assert list(files.lines(path, "gb18030")) == [(1, "ok"), (2, "中文")]
    assert files.read_text(path, "gb18030") == "ok\n中文"


def test_a_byte_order_mark_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "bom.txt"
    path.write_bytes(b"\xef\xbb\xbfabc\n")
    assert list(files.lines(path)) == [(1, "abc")]
    assert files.read_text(path) == "abc\n"


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_a_damaged_packed_file_is_a_clear_error(tmp_path: Path, ending: str) -> None:
    whole = tmp_path / f"whole{ending}"
    with files.write_bytes(whole) as stream:
        stream.write(os.urandom(50_000))
    cut = tmp_path / f"cut{ending}"
    cut.write_bytes(whole.read_bytes()[:20_000])
    with pytest.raises(BadFile), files.open_bytes(cut) as stream:
        stream.read()


@pytest.mark.parametrize("name, words", [("absent.txt", "no such file"), (".", "folder")])
def test_what_cannot_be_opened_says_why(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(BadFile, match=words):
        list(files.lines(tmp_path / name))


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(BadInput, match="no text encoding 'utf9'"):
        list(files.lines(tmp_path / "a", "utf9"))


def test_writing_where_one_may_not_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadFile, match="cannot be written"), files.write_bytes(tmp_path / "file" / "inside"):
        pass


@pytest.mark.parametrize("ending", files.PACKED)
def test_the_same_content_is_packed_to_the_same_bytes(ending: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with files.write_bytes(tmp_path / f"{name}{ending}") as stream:
            stream.write(b"content")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
