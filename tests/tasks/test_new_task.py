"""A new task is one folder and one line: every command then knows it (tests/names_task)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from factpin import formats
from factpin.documents import Document
from factpin.models.checks import SUMS
from factpin.tokens.small import build_tokenizer
from tests.conftest import corpus
from tests.names_task.targets import targets

ROOT = Path(__file__).parents[2]


def run(*words: object, fails: bool = False) -> str:
    """What `python -m tests.names_task …` prints on standard output; on standard error where it fails."""
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.names_task", *map(str, words)],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, encoder_folder: Path) -> Path:
    """Corpora, and a model of the new task that the command trained."""
    folder = tmp_path_factory.mktemp("names")
    formats.write(corpus(120, 1), folder / "train.jsonl")
    formats.write(corpus(30, 2), folder / "dev.jsonl")
    run("train", "names", "--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--encoder", encoder_folder,
        "--epochs", 8, "--batch-size", 8, "--learning-rate", 3e-3, "--head-learning-rate", 3e-3,
        "--output", folder / "model", "--quiet")  # fmt: skip
    return folder


def test_it_is_trained_tuned_and_described(home: Path) -> None:
    settings = json.loads((home / "model" / "factpin.json").read_text())
    assert (settings["task"], settings["labels"]) == ("names", ["name"])
    assert settings["temperature"] != 1.0  # tuned on dev
    metrics = json.loads((home / "model" / "metrics.json").read_text())
    assert metrics["f1"] > 0.8 and metrics["reliability"]
    card = (home / "model" / "card.md").read_text(encoding="utf-8")
    assert "| task | names |" in card and "Names (start and end), micro-averaged." in card


def test_it_predicts_and_is_evaluated(home: Path) -> None:
    run("predict", home / "model", home / "dev.jsonl", home / "predicted.jsonl")
    table = run("evaluate", home / "predicted.jsonl", home / "dev.jsonl", "--task", "nm")
    assert "names" in table and "partial" in table
    report = json.loads(run("evaluate", home / "predicted.jsonl", home / "dev.jsonl", "--task", "names", "--json"))
    assert report["strict"]["f1"] == json.loads((home / "model" / "metrics.json").read_text())["f1"]
    assert report["conventions"].keys() == {"partial"}


def test_it_extracts_and_shows_a_table(home: Path) -> None:
    documents = [doc for doc in corpus(12, 3) if doc.mentions]
    (home / "text.txt").write_text("\n".join(doc.text for doc in documents), encoding="utf-8")
    shown = run("extract", home / "text.txt", "--model", home / "model", "--to", "table")
    mentions = [m.text for doc in documents for m in doc.mentions]
    assert sum(text in shown for text in mentions) > len(mentions) / 2 and "name" in shown


def test_the_notes_say_where_it_did_not_look(home: Path) -> None:
    english = home / "english"
    shutil.copytree(home / "model", english, ignore=shutil.ignore_patterns("checkpoints", SUMS))
    record = json.loads((english / "factpin.json").read_text())
    (english / "factpin.json").write_text(json.dumps(record | {"language": "en"}))
    text = "王小明出生于北京。\nAnna Weber was born in Berlin.\n"
    (home / "both.txt").write_text(text, encoding="utf-8")
    found = json.loads(run("extract", home / "both.txt", "--model", "zh-entities", "--model", english, "--to", "jsonl"))
    assert "person" in {m["type"] for m in found["mentions"]}
    assert any(note.startswith("mentions were not looked for in 0–") for note in found["coverage"]["notes"])


def test_what_its_targets_hold_comes_back() -> None:
    for doc in corpus(20, 4):
        assert isinstance(doc, Document)
        pieces = build_tokenizer([doc.text]).encode(doc.text)
        whole = targets(doc, pieces)
        places = {(int(pieces.start[i]), int(pieces.end[j])) for i, j in zip(whole.first, whole.last, strict=True)}
        assert places == {(m.start, m.end) for m in doc.mentions} - {(m.start, m.end) for m in whole.unalignable}


def test_a_name_that_no_task_has_is_refused_with_the_new_one_among_the_known() -> None:
    assert "names" in run("train", "nmes", "--train", "x.jsonl", fails=True)
