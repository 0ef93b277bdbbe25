"""`factpin pretrain`: parsed, run, shown, and run again from its recipe."""

import json
from pathlib import Path

import pytest

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
