"""`factpin link`, `factpin extract --link` and `factpin evaluate --task linking`, from files to files."""

from pathlib import Path

import orjson
import pytest

from tests.app.store_door import Door, make_door, write_documents
from tests.memory.world import Said, tell

SAMPLE = Path(__file__).parents[1] / "formats" / "samples" / "elevant.jsonl"


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Door:
    return make_door(monkeypatch, capfd, tmp_path / "kb.db")


@pytest.fixture
def corpus(door: Door, tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    assert door("convert", SAMPLE, path, "--to", "jsonl", "--quiet").code == 0
    assert door("index", path, "--no-facts", "--quiet").code == 0
    return path


def test_a_corpus_is_linked_and_scored(door: Door, corpus: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked.jsonl"
    assert "linked" in door("link", corpus, linked).err
    report = door("evaluate", linked, corpus, "--task", "linking", "--train", corpus, "--json").json
    assert report["task"] == "linking" and report["mentions"] == 7
    assert report["linked"]["recall"] == 1.0 and "ece" in report["calibration"]
    shown = door("evaluate", linked, corpus, "--task", "linking")
    assert shown.code == 0 and "ambiguous" in shown.out


def test_extraction_links_what_it_finds(door: Door, corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "new.txt"
    text.write_text("Marie Curie lived in Manchester.", encoding="utf-8")
    done = door("extract", text, "--link", "--to", "jsonl", "--quiet")
    record = orjson.loads(done.out)
    assert done.code == 0 and "Manchester" in {one["name"] for one in record["meta"]["links"]}
    assert "Q7186" in {entity.get("link") for entity in record["entities"]}


def test_a_table_shows_what_was_linked(door: Door, corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "new.txt"
    text.write_text("Marie Curie lived in Manchester.", encoding="utf-8")
    assert "Q7186" in door("extract", text, "--link", "--to", "table", "--quiet").out


def test_every_mention_is_counted(door: Door, tmp_path: Path) -> None:
    path = write_documents(
        tmp_path / "d.jsonl",
        gu=tell(Said("Ann Ash", "home", "Oslo", "{h} of {t}."), Said("she", "home", "Rome", "{h} of {t}.")),
    )
    assert door("index", path, "--no-facts", "--quiet").code == 0
    found = door("link", path, tmp_path / "linked.jsonl", "--json").json
    assert found["linked"] + found["nil"] + found["skipped"] == found["mentions"] == 4 and found["skipped"] == 1
    assert "1 pronoun not looked up" in " ".join(door("link", path, tmp_path / "again.jsonl").err.split())


def test_a_text_without_mentions_is_pointed_to_extract(door: Door, corpus: Path, tmp_path: Path) -> None:
    text = tmp_path / "new.txt"
    text.write_text("Marie Curie lived in Manchester.", encoding="utf-8")
    said = " ".join(door("link", text, tmp_path / "linked.jsonl").err.split())
    assert "has no mentions" in said and f"--db {tmp_path / 'kb.db'} --link" in said
    assert "has no mentions" not in door("link", corpus, tmp_path / "linked.jsonl").err


def test_what_is_missing_is_said(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FACTPIN_DB", raising=False)
    (tmp_path / "a.txt").write_text("Ann.", encoding="utf-8")
    done = door("extract", tmp_path / "a.txt", "--link")
    assert done.code == 2 and "--db" in done.err
