"""`factpin export`, and reading it back."""

from pathlib import Path

import pytest

from factpin.memory import open_store
from tests.app.store_door import Door, make_door, write_documents
from tests.memory.conformance import assert_equal
from tests.memory.histories import answers
from tests.memory.world import Said, tell


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Door:
    door = make_door(monkeypatch, capfd, tmp_path / "kb.db")
    path = write_documents(tmp_path / "d.jsonl", gu=tell(Said("谷爱凌", "出生地", "旧金山", score=0.9)))
    door("index", path, "--no-facts", "--published", "2022-02-08")
    return door


@pytest.mark.parametrize("name", ["f.csv", "f.graphml", "f.jsonl", "f.jsonld", "f.nq", "f.ttl"])
def test_every_format_by_its_ending(door: Door, tmp_path: Path, name: str) -> None:
    done = door("export", tmp_path / name)
    assert done.code == 0 and "written to" in done.err
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert "旧金山" in written
    assert door("export", tmp_path / name, "--as-of", "2020").code == 0
    assert "旧金山" not in (tmp_path / name).read_text(encoding="utf-8")


def test_facts_that_are_unlikely_or_do_not_hold_are_left_out_and_counted(door: Door, tmp_path: Path) -> None:
    said = (Said("李娜", "出生地", "武汉", score=0.3), Said("李娜", "国籍", "中国", assertion="negated"))
    door("index", write_documents(tmp_path / "more.jsonl", li=tell(*said)), "--no-facts")
    for name in ("f.csv", "f.jsonl", "f.ttl"):
        done = door("export", tmp_path / name)
        assert done.err.splitlines() == [
            f"1 fact written to {tmp_path / name}",
            "left out: 2 facts that are less likely than 0.5 or not active (--min-score 0 writes all)",
        ]
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert "旧金山" in written and "武汉" not in written
        assert "3 facts" in door("export", tmp_path / name, "--min-score", "0").err
        assert "武汉" in (tmp_path / name).read_text(encoding="utf-8")
    assert "2 facts" in door("export", tmp_path / "f.nq", "--min-score", "0.2").err
    assert door("store", "import", tmp_path / "f.nq", "--db", tmp_path / "other.db", "--json").json == {"added": 2}
    with open_store(str(tmp_path / "other.db")) as other:
        assert len(other.facts()) == 3, "documents are whole"


def test_disputed_facts_are_counted(door: Door, tmp_path: Path) -> None:
    door(
        "index",
        write_documents(tmp_path / "b.jsonl", li=tell(Said("谷爱凌", "出生地", "广州", score=0.8))),
        "--no-facts",
    )
    assert door("export", tmp_path / "f.csv").err.splitlines()[1:] == [
        "left out: 2 facts that are less likely than 0.5 or not active (--min-score 0 writes all)",
        "2 of them are disputed, though likely: `factpin store conflicts` shows what contradicts what",
    ]
    assert "store conflicts" not in door("export", tmp_path / "f.csv", "--min-score", "0").err


def test_neo4j_is_a_folder(door: Door, tmp_path: Path) -> None:
    assert door("export", tmp_path / "graph", "--to", "neo4j").code == 0
    assert any("旧金山" in p.read_text(encoding="utf-8") for p in (tmp_path / "graph").iterdir())


def test_quads_come_back(door: Door, tmp_path: Path) -> None:
    door("export", tmp_path / "f.nq")
    assert door("store", "import", tmp_path / "f.nq", "--db", tmp_path / "other.db", "--json").json == {"added": 1}
    with open_store(str(tmp_path / "kb.db")) as one, open_store(str(tmp_path / "other.db")) as other:
        assert_equal(answers(one), answers(other))


def test_a_table_of_facts_comes_in(door: Door, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("head,relation,tail,tail_type\nFrance,capital,Paris,LOC\n", encoding="utf-8")
    assert door("store", "import", tmp_path / "f.csv").code == 0
    assert door("ask", "What is the capital of France?").out.startswith("Paris")
    assert "expected .csv or .nq" in door("store", "import", tmp_path / "f.ttl").err


def test_an_unknown_format_is_refused(door: Door, tmp_path: Path) -> None:
    done = door("export", tmp_path / "f.xlsx")
    assert done.code == 2 and "There is no export 'xlsx'" in done.err
