"""`factpin store` and `factpin export` as users meet them."""

import io
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from factpin.app.show.store_tables import facts_table
from factpin.memory import Pattern, Source, open_store
from tests.app.store_door import Door, make_door, write_documents
from tests.memory.conformance import assert_equal
from tests.memory.histories import answers
from tests.memory.world import Said, tell


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Door:
    return make_door(monkeypatch, capfd, tmp_path / "kb.db")


@pytest.fixture
def docs(door: Door, tmp_path: Path) -> Path:
    path = write_documents(
        tmp_path / "d.jsonl",
        gu=tell(Said("谷爱凌", "出生地", "旧金山", score=0.9)),
        not_gu=tell(Said("谷爱凌", "出生地", "北京", score=0.8)),
        unlikely=tell(Said("姚明", "出生地", "月球", score=0.1)),
    )
    assert door("index", path, "--no-facts").code == 0
    return path


def test_facts_and_why_and_reject(door: Door, docs: Path) -> None:
    found = door("store", "facts", "--json").json["facts"]
    assert [(f["head"]["name"], f["tail"]["name"], f["status"]) for f in found] == [
        ("谷爱凌", "北京", "disputed"), ("谷爱凌", "旧金山", "disputed")]  # fmt: skip
    assert found[0].keys() >= {
        "id",
        "head",
        "relation",
        "tail",
        "confidence",
        "status",
        "valid_from",
        "valid_to",
        "evidence",
    }
    assert len(door("store", "facts", "--min-score", 0, "--json").json["facts"]) == 3
    assert "hidden: 1 fact less likely" in door("store", "facts").err
    key = found[0]["id"]
    done = door("store", "why", key[:8])
    assert "谷爱凌 – 出生地 → 北京" in done.out and f"{docs}#not_gu" in done.out
    assert (
        len(door("store", "conflicts", "--json").json["conflicts"]) == 1 and "旧金山" in door("store", "conflicts").out
    )
    assert door("store", "reject", key, "--note", "wrong").err == "rejected: 谷爱凌 – 出生地 → 北京\n"
    assert door("store", "conflicts", "--json").json["conflicts"] == []
    assert door("store", "why", key, "--json").json["verdict"] == "rejected"
    assert door("store", "decisions").out == f"verdict  {key[:8]}  谷爱凌 – 出生地 → 北京 is rejected: wrong\n"
    assert door("store", "reject", key[:8], "--undo").err == "no longer rejected: 谷爱凌 – 出生地 → 北京\n"
    assert door("store", "decisions").out == "" and "nothing" in door("store", "decisions").err
    assert door("store", "why", "zzz").code == 2


def test_filters_and_paths(door: Door, docs: Path) -> None:
    assert len(door("store", "facts", "--tail", "北京", "--json").json["facts"]) == 1
    assert len(door("store", "facts", "--head", "谷爱凌", "--relation", "出生地", "--json").json["facts"]) == 2
    assert door("store", "facts", "--head", "nobody").code == 2
    path = door("store", "facts", "--path", "旧金山", "北京", "--json").json
    assert len(path["facts"]) == 2 and len(path["paths"][0]) == 2


def test_list_show_stats_check(door: Door, docs: Path) -> None:
    listed = door("store", "list", "--json").json["documents"]
    assert [d["uri"] for d in listed] == [f"{docs}#{id}" for id in ("gu", "not_gu", "unlikely")] and listed[0]["whole"]
    assert f"{docs}#gu" in door("store", "list").out.replace("\n", "")
    assert "旧金山" in door("store", "show", f"{docs}#gu").out
    shown = door("store", "show", f"{docs}#gu", "--json").json
    assert shown["document"]["text"] == "谷爱凌的出生地是旧金山。" and len(shown["facts"]) == 1
    assert door("store", "stats", "--json").json["document"] == 3 and "passage size" in door("store", "stats").out
    assert door("store", "check", "--json").json == {"ok": True, "problems": []}
    with open_store(str(docs.parent / "kb.db")) as store:
        store.tables.connection.do("UPDATE evidence SET score = 0.5", [()])  # type: ignore[attr-defined]
    done = door("store", "check")
    assert done.code == 1 and "is not expected" in done.out


def answers_of_a_copy(home: Path) -> Any:
    """What every query says; of a copy, since the questions embed passages with an encoder of the tests."""
    shutil.copy(home / "kb.db", home / "copy.db")
    with open_store(str(home / "copy.db")) as store:
        return answers(store)


def test_removed_is_never_ingested(door: Door, docs: Path, tmp_path: Path) -> None:
    more = write_documents(tmp_path / "more.jsonl", x=tell(Said("谷爱凌", "住", "上海"), Said("姚明", "住", "上海")))
    before = answers_of_a_copy(tmp_path)
    assert door("index", more, "--no-facts").code == 0
    assert door("ask", "姚明住在哪里？").out.startswith("上海")
    done = door("store", "remove", f"{more}#x", "--json")
    assert done.json["documents"] == 1 and done.json["facts"] == 2
    assert_equal(answers_of_a_copy(tmp_path), before)
    assert door("ask", "姚明住在哪里？").code == 1
    assert door("store", "remove", f"{docs}#gu", "nothing").code == 2  # all or none
    assert len(door("store", "list", "--json").json["documents"]) == 3


def test_add_join_and_split(door: Door, docs: Path) -> None:
    uri = door(
        "store", "add", "--head", "Eileen Gu", "--relation", "国籍", "--tail", "中国", "--head-type", "PER"
    ).out.strip()
    assert uri.startswith("manual:")
    assert door("ask", "谷爱凌的国籍是什么？").code == 1
    assert door("store", "join", "谷爱凌", "Eileen Gu").err == "谷爱凌 and Eileen Gu are one entity now\n"
    assert door("store", "decisions").out in (
        "same     谷爱凌 and Eileen Gu are one entity\n", "same     Eileen Gu and 谷爱凌 are one entity\n")  # fmt: skip
    assert door("ask", "谷爱凌的国籍是什么？").out.startswith("中国")
    assert door("store", "join", "谷爱凌", "Eileen Gu", "--undo").code == 0
    assert door("ask", "谷爱凌的国籍是什么？").code == 1
    key = door("store", "split", f"{docs}#not_gu", "谷爱凌").out.strip()
    assert len(key) == 24 and door("store", "conflicts", "--json").json["conflicts"] == []
    assert door("store", "decisions").out == f"apart    in {docs}#not_gu, 谷爱凌 is another entity than elsewhere\n"
    assert door("store", "split", f"{docs}#not_gu", "谷爱凌", "--undo").code == 0
    assert len(door("store", "conflicts", "--json").json["conflicts"]) == 1


def test_a_store_must_be_named_and_there(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "there is no store" in door("store", "list").err
    monkeypatch.delenv("FACTPIN_DB")
    done = door("store", "list")
    assert done.code == 2 and "--db kb.db" in done.err


def test_a_narrow_table_of_facts_cuts_no_word() -> None:
    said = Said("The Wandering Earth", "publication date", "5 February 2019", date="2019-02-05")
    with open_store("memory:", create=True) as store:
        store.put(tell(replace(said, frame="{h} has {t}, {d}.")), Source("a"))
        console = Console(width=60, record=True, file=io.StringIO())
        console.print(facts_table(store.judged(Pattern())))
    assert "…" not in console.export_text()
