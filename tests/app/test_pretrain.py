"""`factpin pretrain`: parsed, run, shown, and run again from its recipe."""

import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.app.commands.pretrain import pretrain
from factpin.errors import BadInput, UnknownName
from tests.conftest import corpus
from tests.training.test_spans import equal


def run(*words: str | Path) -> int:
    code: int = pretrain.main([str(word) for word in words], standalone_mode=False)
    return code


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "texts.txt").write_text("\n\n".join(doc.text for doc in corpus(60, 1)), encoding="utf-8")
    return tmp_path / "texts.txt"


def test_a_run_is_shown_as_json_and_its_recipe_runs_it_again(
    encoder_folder: Path, texts: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    words = ["--objective", "roberta", "--corpus", texts, "--encoder", encoder_folder, "--length", "32", "--max-steps",
             "3", "--batch-size", "4", "--extend", "2", "--output", tmp_path / "a", "--json"]  # fmt: skip
    assert run(*words) == 0
    report = json.loads(capsysbinary.readouterr().out)
    assert report["steps"] == 3 and report["vocabulary"]["before"]["words"] > 0
    assert run("--recipe", tmp_path / "a" / "recipe.toml", "--output", tmp_path / "b") == 0
    assert equal(tmp_path / "a", tmp_path / "b")
    assert "learned from" in capsysbinary.readouterr().out.decode()


def test_objectives_are_compared_on_a_recipe(
    encoder_folder: Path, texts: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    formats.write(corpus(16, 1), tmp_path / "train.jsonl", format="jsonl")
    recipe = f'[task]\nname = "spans"\ntrain = "{tmp_path}/train.jsonl"\nhold_out = 6\n[spans]\n[train]\nepochs = 1\n'
    (tmp_path / "spans.toml").write_text(recipe)
    words = ["--compare", "roberta,gpt", "--corpus", texts, "--encoder", encoder_folder, "--length", "32",
             "--max-steps", "2", "--batch-size", "4", "--points", "1", "--seeds", "2"]  # fmt: skip
    with pytest.raises(BadInput, match="--task RECIPE"):
        run(*words, "--output", tmp_path / "run")
    words += ["--task", tmp_path / "spans.toml", "--output", tmp_path / "run"]
    assert run(*words) == 0
    shown = capsysbinary.readouterr().out.decode()
    assert "f1 by pieces seen" in shown and "roberta" in shown and "none" in shown
    assert run(*words, "--resume", "--json") == 0
    report = json.loads(capsysbinary.readouterr().out)
    assert {row["objective"] for row in report["points"]} == {"none", "roberta", "gpt"} and report["verdict"]


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        ("fae", ["--corpus", "texts"]),
        ("fae", ["--dev", "texts"]),
        ("fae", ["--vectors", "facts"]),
        ("eae", ["--heldout", "0.2"]),
        ("eae", ["--recipe", "recipe.toml"]),
        ("knowbert", ["--compare", "wwm,electra"]),
        ("knowbert", ["--points", "3"]),
        ("linker", ["--config", "config.json"]),
        ("linker", ["--no-lowercase"]),
    ],
)
def test_what_an_objective_over_a_store_would_ignore_is_refused(
    objective: str, words: list[str], tmp_path: Path
) -> None:
    flag = words[0].replace("no-", "")
    with pytest.raises(BadInput, match=f"^{flag} has no effect on --objective {objective}"):
        run("--objective", objective, "--encoder", "minilm-en", "--db", "no.db", "--output", tmp_path / "run", *words)


def test_what_is_missing_or_misspelt_is_said(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    out = ["--output", tmp_path / "run"]
    with pytest.raises(BadInput, match="--corpus is missing"):
        run("--objective", "bert", *out)
    with pytest.raises(BadInput, match="--objective is missing"):
        run("--corpus", texts, "--encoder", encoder_folder, *out)
    with pytest.raises(UnknownName, match="Did you mean 'bert'"):
        run("--objective", "brt", "--corpus", texts, "--encoder", encoder_folder, *out)
    with pytest.raises(BadInput, match="--encoder.*--config"):
        run("--objective", "bert", "--corpus", texts, *out)
