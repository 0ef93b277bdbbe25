"""`factpin index` as users meet it: the report, bad files, the shipped models, and a process that is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from factpin.memory import open_store
from tests.app.store_door import Door, make_door, write_documents
from tests.memory.conformance import assert_equal
from tests.memory.histories import answers
from tests.memory.world import Said, tell


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Door:
    return make_door(monkeypatch, capfd, tmp_path / "kb.db")


def test_nothing_is_stored_where_the_embedder_is_missing(door: Door, tmp_path: Path) -> None:
    path = write_documents(tmp_path / "d.jsonl", gu=tell(Said("谷爱凌", "出生地", "旧金山", score=0.9)))
    assert door("index", path, "--no-facts", "--vectors", tmp_path / "missing").code == 2
    assert door("store", "facts", "--json").json["facts"] == []


def test_the_report(door: Door, tmp_path: Path) -> None:
    path = write_documents(tmp_path / "d.jsonl", gu=tell(Said("谷爱凌", "出生地", "旧金山", score=0.9)))
    record = door("index", path, "--no-facts", "--json").json
    assert record.keys() == {
        "db",
        "documents",
        "passages",
        "facts",
        "evidence",
        "entities",
        "vectors",
        "seconds",
        "notes",
    }
    assert record["documents"] == {"added": 1, "unchanged": 0, "replaced": 0, "removed": 0, "rejected": 0}
    assert (record["passages"], record["facts"], record["evidence"], record["entities"]) == (1, 1, 1, 2)
    assert "1 unchanged" in door("index", path, "--no-facts").err


def test_an_empty_file_is_called_empty(door: Door, tmp_path: Path) -> None:
    for name, text in (("a.txt", ""), ("b.txt", " \n"), ("c.txt", "冰墩墩是吉祥物。")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = door("index", tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt", "--no-facts")
    assert done.code == 0 and "empty: 2 documents without text: " in done.err and "c.txt" not in done.err


def test_bad_files_are_named_and_set_the_exit_code(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / "news"
    folder.mkdir()
    (folder / "a.txt").write_text("谷爱凌出生于旧金山。", encoding="utf-8")
    (folder / "b.txt").write_bytes(b"\xff\xff")
    (folder / "c.xyz").write_bytes(b"")
    done = door("index", folder, "--no-facts")
    assert done.code == 1 and "set aside:" in done.err and "b.txt" in done.err and "1 .xyz" in done.err
    assert door("index", folder, "--no-facts", "--skip-bad").code == 0
    (folder / "a.txt").unlink()
    (folder / "b.txt").unlink()
    done = door("index", folder, "--no-facts")
    assert "kept: 1 document whose text is no longer in these files (--remove-missing removes it)" in done.err
    assert "1 removed" in door("index", folder, "--no-facts", "--remove-missing").err
    assert "kept" not in door("index", folder, "--no-facts").err
    assert door("store", "list", "--json").json == {"documents": []}


def test_standard_input_and_refusals(door: Door, tmp_path: Path) -> None:
    assert door("index", "-", "--no-facts", stdin="冰墩墩是吉祥物。").code == 0
    assert door("store", "show", "stdin", "--json").json["document"]["text"] == "冰墩墩是吉祥物。"
    assert door("index", "-", "--no-facts", "--published", "soon").code == 2
    assert door("index", "-", "--no-facts", "--model", "zh-facts").code == 2
    assert door("index", tmp_path / "absent.txt", "--no-facts").code == 2


def test_a_schema_is_kept(door: Door, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[relations."住"]\nfunctional = true\n', encoding="utf-8")
    path = write_documents(
        tmp_path / "d.jsonl", a=tell(Said("姚明", "住", "上海")), b=tell(Said("姚明", "住", "休斯顿"))
    )
    door("index", path, "--no-facts")
    assert door("store", "conflicts", "--json").json["conflicts"] == []
    door("index", path, "--no-facts", "--schema", tmp_path / "s.toml")
    assert len(door("store", "conflicts", "--json").json["conflicts"]) == 1


def test_the_shipped_models_fill_a_store(door: Door, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("电影《活着》由张艺谋执导，葛优、巩俐主演，于1994年上映。", encoding="utf-8")
    assert door("index", tmp_path / "a.txt", "--json").json["documents"]["added"] == 1
    assert door("index", tmp_path / "a.txt", "--json").json["documents"]["unchanged"] == 1
    shown = door("store", "show", tmp_path / "a.txt", "--json").json
    text = shown["document"]["text"]
    assert shown["source"]["model"].count(":") >= 1 and shown["document"]["mentions"]
    for fact in shown["facts"]:
        for citation in fact["evidence"]:
            assert text[citation["start"] : citation["end"]] == citation["quote"]
    assert door("store", "check").code == 0
    record = door("ask", "《活着》的导演是谁？", "--json").json
    for citation in [*record["citations"], *(c for other in record["alternatives"] for c in other["citations"])]:
        assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_a_killed_index_leaves_a_whole_store_and_goes_on(tmp_path: Path) -> None:
    kill_index(tmp_path, moments=3, size=400)


@pytest.mark.verify
def test_an_index_killed_at_twenty_moments(tmp_path: Path) -> None:
    kill_index(tmp_path, moments=20, size=1200)


def kill_index(tmp_path: Path, moments: int, size: int) -> None:
    """Kill `factpin index` again and again: the store stays whole, and at last equals one that was not disturbed."""
    documents = {f"d{i}": tell(Said(f"人{i}", "住", f"城{i % 7}"), extra="后来如此。" * 20) for i in range(size)}
    path = write_documents(tmp_path / "d.jsonl", **documents)
    db, whole = tmp_path / "kb.db", tmp_path / "whole.db"

    def start(target: Path) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "factpin", "index", str(path), "--no-facts", "--quiet", "--db", str(target)]
        return subprocess.Popen(words, env={**os.environ, "OMP_NUM_THREADS": "1"})

    chance, counts = random.Random(5), []
    for _ in range(moments):
        process = start(db)
        least = counts[-1] if counts else 0
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if db.exists() and _count(db) > least:
                break
            time.sleep(0.02)
        time.sleep(chance.random() / 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open_store(str(db)) as store:
            assert store.check() == []
            counts.append(len(store.sources()))
    assert counts == sorted(counts) and counts[0] > 0
    assert start(db).wait(timeout=300) == 0 and start(whole).wait(timeout=300) == 0
    with open_store(str(db)) as one, open_store(str(whole)) as other:
        assert one.check() == [] and len(one.sources()) == size
        assert_equal(answers(one), answers(other))


def _count(db: Path) -> int:
    """How many documents there are, 0 while the file is still being made."""
    try:
        with open_store(str(db)) as store:
            return len(store.sources())
    except Exception:  # the store is not there yet
        return 0
