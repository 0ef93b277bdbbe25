"""`factpin train` as users meet it: what it says about choices that could not be kept."""

import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.app.cli import main
from tests.conftest import corpus


def test_windows_longer_than_the_encoder_reads_are_told(
    encoder_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    formats.write(corpus(12, 5), tmp_path / "train.jsonl")
    words = ["train", "spans", "--train", tmp_path / "train.jsonl", "--hold-out", 4, "--encoder", encoder_folder,
             "--max-steps", 1]  # fmt: skip
    for output, more in (("long", ["--max-length", 2000]), ("json", ["--max-length", 2000, "--json"]), ("own", [])):
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([*map(str, words), *map(str, more), "--output", str(tmp_path / output)])
        assert not stop.value.code
        out, err = capsys.readouterr()
        read = json.loads((tmp_path / output / "factpin.json").read_text())["max_length"]
        assert read < 2000
        assert (f"max_length 2,000: this encoder reads at most {read} tokens" in err) == (output == "long")
        if output == "json":
            assert json.loads(out)["max_length"] == read


def test_one_file_for_training_and_dev_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where it is written in two ways, or given by a recipe; the run itself is stopped by a missing encoder."""
    formats.write(corpus(3, 5), tmp_path / "own.jsonl")
    formats.write(corpus(3, 6), tmp_path / "other.jsonl")
    own, again = str(tmp_path / "own.jsonl"), f"{tmp_path}/./own.jsonl"
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f'[task]\nname = "spans"\ntrain = ["{own}"]\ndev = "{again}"\n')
    other = str(tmp_path / "other.jsonl")
    cases = ((["--train", own, "--dev", again], True), (["--train", own, "--dev", other], False),
             (["--recipe", str(recipe)], True))  # fmt: skip
    for more, named in cases:
        with pytest.raises(SystemExit) as stop:
            main(["train", "spans", *more, "--encoder", str(tmp_path / "none"), "--output", str(tmp_path / "run")])
        assert stop.value.code == 2
        assert ("both the training corpus and the dev corpus" in capsys.readouterr().err) == named


def test_json_has_the_advice_that_people_see(
    encoder_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    formats.write(corpus(12, 5), tmp_path / "train.jsonl")
    words = ["train", "spans", "--train", tmp_path / "train.jsonl", "--encoder", encoder_folder, "--max-steps", 1]
    for more in (["--json"], []):
        with pytest.raises(SystemExit) as stop:
            main([*map(str, words), *more, "--output", str(tmp_path / f"run{len(more)}")])
        assert not stop.value.code
        out, err = capsys.readouterr()
        if more:
            (advice,) = json.loads(out)["advice"]
            assert "there is no dev set" in advice and "dev set" not in err
        else:
            assert " ".join(advice.split()) in " ".join(err.split())
