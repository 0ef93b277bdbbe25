"""What a store survives: a killed writer, two writers at once, a full disk, a damaged file."""

import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from factpin.errors import BadFile, BadInput
from factpin.memory import PassageSettings, Source, Store, open_store
from tests.memory.conformance import assert_equal
from tests.memory.conftest import url_of
from tests.memory.histories import SMALL, answers
from tests.memory.world import Said, tell
from tests.memory.writer import document

COUNT = 16  # documents of a writer
ROOT = Path(__file__).parents[2]


def writer(url: str, name: str, count: int, **more: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.memory.writer", url, name, str(count)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **more,
    )  # fmt: skip


def kill_at_random(url: str, moments: int) -> None:
    """Kill a writer again and again; after each time the store is whole and holds what was confirmed."""
    chance = random.Random(moments)
    seen: set[str] = set()
    for _ in range(moments):
        process = writer(url, "w", COUNT)
        assert process.stdout is not None
        for _ in range(chance.randrange(1, COUNT)):
            seen.add(process.stdout.readline().split()[-1])
        time.sleep(chance.random() / 100)
        process.send_signal(signal.SIGKILL)
        seen |= {line.split()[-1] for line in process.stdout if line.endswith("\n")}
        process.wait()
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.close()
        with open_store(url) as store:
            assert store.check() == []
            kept = {source.uri: doc for doc, source in store.documents()}
            assert seen <= kept.keys()
            assert all(doc == document("w", int(doc.id))[0] for doc in kept.values())
        if len(seen) == COUNT:
            with open_store(url) as store:
                for uri in sorted(seen):
                    store.remove(uri)
            seen.clear()


def finished(url: str, names: list[str], count: int) -> None:
    """After all writers the store equals one that nobody disturbed."""
    processes = [writer(url, name, count) for name in names]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    with open_store(url) as store, open_store("memory:", passages=SMALL) as undisturbed:
        for name in names:
            for i in range(count):
                undisturbed.put(*document(name, i))
        assert store.check() == []
        assert_equal(answers(store), answers(undisturbed))


def test_a_killed_writer_leaves_a_whole_store(tmp_path: Path) -> None:
    url = str(tmp_path / "kb.db")
    kill_at_random(url, 4)
    finished(url, ["w"], COUNT)


@pytest.mark.verify
def test_a_writer_killed_at_twenty_moments(tmp_path: Path) -> None:
    url = str(tmp_path / "kb.db")
    kill_at_random(url, 20)
    finished(url, ["w"], COUNT)


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    finished(str(tmp_path / "kb.db"), ["a", "b"], COUNT)


@pytest.fixture
def postgres(postgres_url: str) -> str:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE EXTENSION IF NOT EXISTS vector")
        admin.execute("DROP SCHEMA IF EXISTS crashes CASCADE")
        admin.execute("CREATE SCHEMA crashes")
    return url_of(postgres_url, "crashes")


def test_a_killed_writer_in_postgres(postgres: str) -> None:
    kill_at_random(postgres, 3)
    finished(postgres, ["w"], COUNT)


def test_two_processes_write_to_postgres_at_once(postgres: str) -> None:
    finished(postgres, ["a", "b"], COUNT)


def test_a_full_disk_leaves_the_old_state(tmp_path: Path) -> None:
    url = str(tmp_path / "kb.db")
    finished(url, ["w"], 5)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    process = writer(url, "more", 3000, preexec_fn=limit)
    said, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and "writing failed and nothing was changed" in errors
    confirmed = {line.split()[-1] for line in said.splitlines()}
    with open_store(url) as store:
        assert store.check() == []
        assert {s.uri for s in store.sources()} == confirmed | {f"w/{i}.txt" for i in range(5)}


def test_a_put_that_fails_halfway_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(str(tmp_path / "kb.db"), create=True, passages=SMALL) as store:
        store.put(tell(Said("李娜", "住", "武汉")), Source("a"))
        before = answers(store)
        real = store.tables.connection.do  # type: ignore[attr-defined]

        def failing(statement: str, rows: list[tuple[object, ...]]) -> None:
            if "INTO evidence" in statement:
                raise BadFile("halfway")
            real(statement, rows)

        monkeypatch.setattr(store.tables.connection, "do", failing)  # type: ignore[attr-defined]
        with pytest.raises(BadFile, match="halfway"):
            store.put(tell(Said("姚明", "住", "上海")), Source("a"))
        monkeypatch.undo()
        assert_equal(before, answers(store))


def test_files_that_are_no_store_are_refused(tmp_path: Path) -> None:
    for name, content in (("text.db", b"hello, this is text" * 99), ("empty.db", b"")):
        (tmp_path / name).write_bytes(content)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t(x)").connection.close()
    other = (tmp_path / "other.db").read_bytes()
    with pytest.raises(BadFile, match="damaged or not a store"):
        open_store(str(tmp_path / "text.db"))
    for name in ("other.db", "empty.db"):
        with pytest.raises(BadFile, match="not a factpin store"):
            open_store(str(tmp_path / name))
    with pytest.raises(BadFile, match="not a factpin store"):
        open_store(str(tmp_path / "other.db"), create=True)
    assert (tmp_path / "other.db").read_bytes() == other  # untouched
    with pytest.raises(BadFile, match="there is no store.*factpin index"):
        open_store(str(tmp_path / "absent.db"))
    assert not (tmp_path / "absent.db").exists()
    for path in (tmp_path, tmp_path / "no" / "kb.db"):
        with pytest.raises(BadFile, match="file in an existing folder"):
            open_store(str(path), create=True)
    with pytest.raises(BadInput, match="unknown kind of store 'mysql'"):
        open_store("mysql://host/db")
    with pytest.raises(BadFile, match="does not answer"):
        open_store("postgresql://nobody@127.0.0.1:1/none")


def test_a_store_keeps_its_settings(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kb.db'}"
    open_store(url, create=True, passages=PassageSettings(64)).close()
    with open_store(url) as store:
        assert store.settings == PassageSettings(64)
        store.tables.set_setting("terms", "0")
    with pytest.raises(BadFile, match="another version"):
        open_store(url)


def test_another_size_is_refused(tmp_path: Path) -> None:
    url = str(tmp_path / "kb.db")
    open_store(url, create=True).close()
    with pytest.raises(BadInput, match="of size 256, not 64"):
        open_store(url, passages=PassageSettings(64))


def test_a_store_belongs_to_the_thread_that_opened_it(tmp_path: Path) -> None:
    caught: list[str] = []
    with open_store(str(tmp_path / "kb.db"), create=True) as store:

        def use() -> None:
            try:
                store.sources()
            except BadInput as error:
                caught.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    assert len(caught) == 1 and "each thread" in caught[0]


def test_check_sees_rows_that_somebody_changed(tmp_path: Path) -> None:
    changes: dict[str, str] = {
        "DELETE FROM mention": "mentions: .* is missing",
        "UPDATE evidence SET score = 0.1": "evidence: .* is not expected",
        "UPDATE document SET text = text || 'x'": "its row differs",
        "UPDATE passage SET length = 99": "passages: ",
        "INSERT INTO entity VALUES('x', 'ghost', '')": "'ghost' has no mention",
        "DELETE FROM words": "its indexed words differ",
        "UPDATE document SET record = '{'": "its record cannot be read",
    }
    for i, (change, problem) in enumerate(changes.items()):
        path = tmp_path / f"{i}.db"
        with open_store(str(path), create=True) as store:
            store.put(tell(Said("李娜", "住", "武汉", score=0.5)), Source("a"))
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(change)
        connection.commit()
        connection.close()
        with open_store(str(path)) as store:
            assert any(re.search(problem, found) for found in store.check()), (change, store.check())


def test_deleting_by_sql_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "kb.db"
    with open_store(str(path), create=True) as store:
        for uri in "ab":
            store.put(tell(Said("李娜", "住", uri)), Source(uri))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("DELETE FROM document WHERE uri = 'a'")
    connection.commit()
    connection.close()
    with open_store(str(path)) as store:
        assert store.check() == [] and store.stats()["fact"] == 1


def bytes_of(path: Path) -> bytes:
    """The store's file, and its log beside it."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def test_compacting_erases_the_bytes_of_what_was_removed(tmp_path: Path) -> None:
    path = tmp_path / "kb.db"
    with open_store(str(path), create=True) as store:
        store.put(tell(Said("Zebediah", "lives in", "Quixotville"), id="a"), Source("a.txt"))
        store.put(tell(Said("谷爱凌", "住", "旧金山"), id="b"), Source("b.txt"))
        before = answers(store)
        store.remove("a.txt")
    assert b"uixotville" in bytes_of(path)
    with open_store(str(path)) as store:
        store.compact()
        assert store.check() == [] and answers(store) != before
        (left,) = store.documents()
        assert left[1].uri == "b.txt"
    assert b"uixotville" not in bytes_of(path) and b"ebediah" not in bytes_of(path)
    assert "旧金山".encode() in bytes_of(path)


def test_compacting_while_somebody_reads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kb.db"
    with open_store(str(path), create=True) as store:
        store.put(tell(Said("谷爱凌", "住", "旧金山"), id="b"), Source("b.txt"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM document").fetchall()
        with pytest.raises(BadFile, match="another process"):
            store.compact()
        other.close()
        store.compact()
        assert store.check() == []


def test_readers_see_what_others_wrote(tmp_path: Path, fresh_postgres: Callable[[], Store]) -> None:
    path = str(tmp_path / "kb.db")
    with open_store(path, create=True) as one, open_store(path) as other:
        for store in (one, other):
            assert store.words(["谷爱"], 5) == []
        one.put(tell(Said("谷爱凌", "住", "北京")), Source("a"))
        assert len(other.words(["谷爱"], 5)) == 1
        other.remove("a")
        assert one.words(["谷爱"], 5) == [] and os.path.exists(path)
