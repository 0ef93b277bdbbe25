"""The lock of a folder: who may write, whose lock is taken over, and what is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from factpin.errors import BadFile, BadInput
from factpin.files import lock
from factpin.files.leftovers import PART, part_name
from factpin.files.lock import NAME, Writer, one_writer
from factpin.files.process import is_dead, machine, own_mark, start_of


def locked(folder: Path, mark: object, pid: int = 7) -> Path:
    """A lock as another process has left it."""
    folder.mkdir(exist_ok=True)
    file = folder / NAME
    file.write_bytes(orjson.dumps({"mark": mark, "pid": pid, "doing": "factpin train", "since": "2026-01-01 00:00:00"}))
    return file


def ended() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_the_lock_names_its_process_and_goes_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with one_writer(folder, "factpin extract"):
        holder = Writer(**orjson.loads((folder / NAME).read_bytes()))
        assert (holder.mark, holder.pid, holder.doing) == (own_mark(), os.getpid(), "factpin extract")
        (folder / "x").write_text("x")
    assert [path.name for path in folder.iterdir()] == ["x"]


def test_a_folder_in_which_nothing_was_written_is_removed(tmp_path: Path) -> None:
    with one_writer(tmp_path / "a", "x"):
        pass
    assert not (tmp_path / "a").exists()


def test_a_step_of_the_same_process_leaves_the_lock(tmp_path: Path) -> None:
    with one_writer(tmp_path / "a", "whole"):
        with one_writer(tmp_path / "a", "step"):
            pass
        assert orjson.loads((tmp_path / "a" / NAME).read_bytes())["doing"] == "whole"


@pytest.mark.parametrize("mark", [f"{machine()}-1-0", "00000000-7-a"])  # it runs; another machine, where it may run
def test_another_writer_is_named(tmp_path: Path, mark: str) -> None:
    before = locked(tmp_path, mark).read_bytes()
    with pytest.raises(BadInput, match=r"process 7 \(factpin train, since 2026"), one_writer(tmp_path, "x"):
        pass
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize(
    "mark",
    [
        f"{machine()}-{10**18}-0",
        f"{machine()}-{10**30}-0",
        f"{machine()}-{'1' * 5000}-0",
        f"{machine()}-1-0abc",
        "",
        "x",
        "a-b-c",
        5,
        None,
    ],
)
def test_a_stale_or_damaged_lock_is_taken_over(tmp_path: Path, mark: object) -> None:
    locked(tmp_path, mark)
    with one_writer(tmp_path, "x"):
        assert orjson.loads((tmp_path / NAME).read_bytes())["mark"] == own_mark()
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"{}", b"\xff"])
def test_a_lock_that_cannot_be_read_is_taken_over(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / NAME).write_bytes(raw)
    with one_writer(tmp_path, "x"):
        assert Writer(**orjson.loads((tmp_path / NAME).read_bytes())).doing == "x"


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / NAME).symlink_to(tmp_path / "mine")
    with one_writer(tmp_path / "out", "x"):
        assert not (tmp_path / "out" / NAME).is_symlink()
    assert (tmp_path / "mine").read_text() == "x"


def test_a_lock_that_is_a_pipe_or_a_folder_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    with one_writer(tmp_path, "x"):
        assert Writer(**orjson.loads((tmp_path / NAME).read_bytes())).doing == "x"
    (tmp_path / "b" / NAME).mkdir(parents=True)
    with pytest.raises(BadFile, match="cannot be written"), one_writer(tmp_path / "b", "x"):
        pass


def test_a_folder_that_its_last_writer_removes_meanwhile_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed, hold = [], lock.fcntl.flock

    def flock(handle: int, how: int) -> None:
        if not removed:
            removed.append((tmp_path / "a").rmdir())
        hold(handle, how)

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    with one_writer(tmp_path / "a", "x"):
        assert removed and Writer(**orjson.loads((tmp_path / "a" / NAME).read_bytes())).doing == "x"


def test_a_lock_that_another_process_took_meanwhile_stays(tmp_path: Path) -> None:
    with one_writer(tmp_path, "x"):
        locked(tmp_path, "00000000-7-a")
    assert (tmp_path / NAME).exists()


def test_leftovers_of_dead_processes_are_removed_at_every_depth(tmp_path: Path) -> None:
    gone = own_mark().replace(f"-{os.getpid()}-", f"-{ended()}-")
    deep = tmp_path / "shards" / "0"
    deep.mkdir(parents=True)
    (deep / f".a.{gone}.00000000.part").write_text("x")
    (tmp_path / f".b.{gone}.00000000.part").mkdir()
    (tmp_path / f".b.{gone}.00000000.part" / "c").write_text("x")
    own = part_name(deep / "a")
    own.write_text("x")
    with one_writer(tmp_path, "x"):
        assert [p.name for p in tmp_path.rglob("*") if PART.match(p.name)] == [own.name]


def test_a_place_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "a"):
        with pytest.raises(BadFile, match="file.*Choose another place"), one_writer(place, "x"):
            pass


def test_processes_are_told_apart_by_number_and_start() -> None:
    pid, start = os.getpid(), start_of(os.getpid())
    assert not is_dead(own_mark()) and not is_dead(f"{machine()}-{pid}-0")
    assert not is_dead("00000000-1-0")
    assert is_dead(f"{machine()}-{ended()}-{start}")
    if start:  # the system says when processes started
        assert is_dead(f"{machine()}-{pid}-{start}0")
