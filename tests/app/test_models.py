"""`factpin models`: what ships and what can be fetched, for people and for programs."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from factpin.app.cli import main
from factpin.encoders import CATALOGUE
from factpin.encoders.fetch import READY
from factpin.models import shipped
from factpin.models.settings import Settings, write_settings

Door = Callable[..., tuple[int, str, str]]


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Door:
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("FACTPIN_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "models")

    def call(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["models", *map(str, words)])
        return int(stop.value.code or 0), *capsys.readouterr()

    return call


def ship(folder: Path, name: str, language: str, labels: tuple[str, ...] = ("person", "place")) -> None:
    (folder / name).mkdir(parents=True)
    settings = Settings("spans", labels, "crf", {}, "minilm-en", language, name=name, finds="people")
    write_settings(settings, folder / name)


def test_a_copy_without_models_says_so(door: Door) -> None:
    assert door() == (0, "No model ships with this copy. Train one: factpin train --help\n", "")
    assert json.loads(door("--json")[1]) == {"models": []}


def test_shipped_models_are_listed_with_what_they_find(door: Door, tmp_path: Path) -> None:
    ship(tmp_path / "models", "zh-entities", "zh")
    ship(tmp_path / "models", "all-entities", "")
    code, out, err = door("--json")
    assert code == 0 and err == ""
    rows = json.loads(out)["models"]
    assert [(row["name"], row["language"]) for row in rows] == [("all-entities", "any"), ("zh-entities", "zh")]
    assert rows[1].pop("folder") == str(tmp_path / "models" / "zh-entities")
    assert rows[1] == {"name": "zh-entities", "task": "spans", "language": "zh", "finds": "people",
                       "labels": ["person", "place"], "encoder": "minilm-en"}  # fmt: skip
    shown = door()[1]
    assert "zh-entities" in shown and "person, place" in shown and str(tmp_path) not in shown


def test_encoders_are_listed_with_licence_and_whether_they_are_here(door: Door, tmp_path: Path) -> None:
    here, cut = list(CATALOGUE)[:2]
    for name in (here, cut):
        (tmp_path / "home" / "encoders" / name).mkdir(parents=True)
    (tmp_path / "home" / "encoders" / here / READY).write_text(here)  # the other lacks it: it is not complete
    rows = {row["name"]: row for row in json.loads(door("--encoders", "--json")[1])["encoders"]}
    assert rows.keys() == CATALOGUE.keys()
    assert [name for name, row in rows.items() if row["fetched"]] == [here]
    assert all(row["licence"] == CATALOGUE[name].licence for name, row in rows.items())
    shown = door("--encoders")[1]
    assert all(name in shown for name in CATALOGUE) and "Apache-2.0" in shown


def test_lists_fit_a_terminal_of_80_columns(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ship(tmp_path / "models", "en-many", "en", tuple(f"[label{i}]" for i in range(20)))
    monkeypatch.setenv("COLUMNS", "80")
    for shown, names in ((door()[1], ["en-many"]), (door("--encoders")[1], list(CATALOGUE))):
        assert all(len(line) <= 80 for line in shown.splitlines()) and all(name in shown for name in names)
    said = " ".join(door()[1].replace("│", " ").split())
    assert "[label0], [label1]" in said and "20 in all (--json)" in said and "[label19]" not in said


def test_an_encoder_that_is_here_is_not_fetched_again(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "encoders" / "minilm-en"
    folder.mkdir(parents=True)
    (folder / READY).write_text("minilm-en")
    assert door("--fetch", "minilm-en") == door("--fetch", "minilm_en") == (0, f"{folder}\n", "")
    told = json.loads(door("--fetch", "minilm-en", "--json")[1])
    assert told == {"name": "minilm-en", "folder": str(folder), "licence": CATALOGUE["minilm-en"].licence}


def test_refusals_are_one_line_and_exit_code_2(door: Door, tmp_path: Path) -> None:
    for words, said in ((["--fetch", "minilm"], "Did you mean 'minilm-en'?"), (["--to", "x"], "--fetch NAME")):
        code, out, err = door(*words)
        assert code == 2 and said in err and out == "" and len(err.splitlines()) == 1
    ship(tmp_path / "models", "zh-entities", "zh")
    (tmp_path / "models" / "zh-entities" / "factpin.json").write_text("{")
    code, out, err = door()
    assert code == 2 and "damaged" in err and out == ""


@pytest.mark.parametrize("words", [["models"], ["models", "--json"], ["models", "--help"]])
def test_the_list_of_models_loads_no_torch(words: list[str]) -> None:
    code = (
        "import sys; from factpin.app.cli import main\n"
        f"try: main({words!r})\nexcept SystemExit: pass\nsys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
