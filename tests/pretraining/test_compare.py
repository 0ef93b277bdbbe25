"""Objectives compared: the same start, the same texts, scores by pieces seen, and a verdict that may be none."""

import json
import math
import shutil
import sys
import xml.etree.ElementTree as tree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from factpin import formats
from factpin.app.show.compare_table import table
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.pretraining import compare as comparing
from factpin.pretraining.compare import Comparison, compare, interval, summed, verdict
from factpin.pretraining.compare_drawing import HEIGHT, TOP, draw
from factpin.pretraining.config import PretrainConfig
from factpin.training.config import TrainConfig
from tests.conftest import corpus

HOW = TrainConfig(max_steps=5, batch_size=4, learning_rate=1e-3, seed=7)


@pytest.fixture
def world(tmp_path: Path) -> tuple[Path, str]:
    """A corpus to pretrain on, and a recipe of spans."""
    texts = tmp_path / "texts.txt"
    texts.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(16)), encoding="utf-8")
    for name, size, seed in (("train", 24, 1), ("dev", 12, 2)):
        formats.write(corpus(size, seed), tmp_path / f"{name}.jsonl", format="jsonl")
    recipe = tmp_path / "spans.toml"
    recipe.write_text(
        f'[task]\nname = "spans"\ntrain = "{tmp_path}/train.jsonl"\ndev = "{tmp_path}/dev.jsonl"\n'
        "[spans]\nhead_size = 8\n[train]\nepochs = 1\nbatch_size = 8\nlearning_rate = 3e-3\n"
    )
    return texts, str(recipe)


def small(encoder: Path, **more: Any) -> PretrainConfig:
    return PretrainConfig("", str(encoder), length=48, heldout=0.1, buffer=16, words="characters", **more)


def test_all_begin_with_the_same_weights_and_read_the_same_texts(
    encoder_folder: Path, world: tuple[Path, str], tmp_path: Path
) -> None:
    texts, recipe = world
    asked, folder = Comparison(("t5", "bert"), recipe, points=2, seeds=2), tmp_path / "run"
    report = compare([texts], small(encoder_folder), HOW, asked, folder)
    rows = {(row["objective"], row["point"]): row for row in report["points"]}
    assert set(rows) == {("none", 0), *((name, k) for name in asked.objectives for k in (1, 2))}
    assert all(len(row["scores"]) == 2 and 0 <= row["mean"] <= 1 for row in rows.values())
    for point in (1, 2):
        assert len({rows[name, point]["pieces"] for name in asked.objectives}) == 1
    assert 0 < rows["bert", 1]["pieces"] < rows["bert", 2]["pieces"]
    starts = [Encoder.load(folder / name / "start").model.state_dict() for name in asked.objectives]
    assert all(torch.equal(value, other[key]) for other in starts[1:] for key, value in starts[0].items())
    one, two = (Encoder.load(folder / "t5" / f"point-{k}").model.state_dict() for k in (1, 2))
    assert any(not torch.equal(value, two[key]) for key, value in one.items())
    assert not list((folder / "fine").iterdir())
    assert tree.parse(folder / "compare.svg").getroot().tag.endswith("svg")
    assert report["winner"] in (None, "none", *asked.objectives) and report["verdict"]


def test_what_is_done_is_not_done_again(
    encoder_folder: Path, world: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, recipe = world
    asked, folder = Comparison(("roberta",), recipe, points=1, seeds=2), tmp_path / "run"
    trains, count = comparing.run_training, 0

    def stops(*args: Any, **more: Any) -> Any:
        nonlocal count
        count += 1
        if count == 3:
            raise KeyboardInterrupt
        return trains(*args, **more)

    monkeypatch.setattr(comparing, "run_training", stops)
    with pytest.raises(KeyboardInterrupt):
        compare([texts], small(encoder_folder), HOW, asked, folder)
    before = (folder / "results.jsonl").read_text()
    with pytest.raises(BadInput, match="--resume"):
        compare([texts], small(encoder_folder), HOW, asked, folder)
    with pytest.raises(BadInput, match="other settings"):
        compare([texts], small(encoder_folder, extend=1), HOW, asked, folder, resume=True)
    with open(folder / "results.jsonl", "a") as stream:
        stream.write('{"objective": "roberta", "poi')  # as a crash would leave it
    said: list[str] = []
    report = compare([texts], small(encoder_folder), HOW, asked, folder, resume=True, note=said.append)
    assert count == 5 and said == ["none, point 0 of 1, seed 2", "roberta, point 1 of 1, seed 2"]
    assert (folder / "results.jsonl").read_text().startswith(before)
    assert sorted(len(row["scores"]) for row in report["points"]) == [2, 2]
    assert len(before.splitlines()) == 3 and all(json.loads(line) for line in before.splitlines())


def test_a_run_has_all_its_points_whatever_it_accumulates_and_however_its_loss_goes(
    encoder_folder: Path, world: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of three batches, which divide no bucket; and a rate by which nothing becomes better, so patience ends."""
    texts, recipe = world
    monkeypatch.setattr(sys.modules["factpin.tokens.batches"], "BUCKET", 8)
    monkeypatch.setattr(comparing, "run_training", fine_tuned)
    how = replace(HOW, max_steps=12, accumulation=3, early_stopping=1, learning_rate=1e-30, batch_size=2)
    said: list[str] = []
    asked, folder = Comparison(("roberta",), recipe, points=4, seeds=1), tmp_path / "run"
    report = compare([texts], small(encoder_folder), how, asked, folder, note=said.append)
    assert [row["point"] for row in report["points"]] == [0, 1, 2, 3, 4]
    shutil.rmtree(folder / "roberta" / "point-2")
    with pytest.raises(BadInput, match="point-2 is missing. Remove this folder"):
        compare([texts], small(encoder_folder), how, asked, folder, resume=True)


def fine_tuned(*given: Any, quiet: bool) -> dict[str, Any]:
    """As if a task had been trained: its folder, and a score."""
    given[-1].mkdir(parents=True)
    return {"scores": {"f1": 0.5}}


def test_a_lead_within_two_deviations_of_the_seeds_is_no_difference() -> None:
    clear = verdict({"none": [0.60, 0.61, 0.62], "a": [0.70, 0.71, 0.72], "b": [0.65, 0.66, 0.67]})
    assert clear.winner == "a" and "a is best: 71.00, 5.00 more than b" in clear.words
    close = verdict({"none": [0.60, 0.61, 0.62], "a": [0.70, 0.71, 0.72], "b": [0.69, 0.70, 0.71]})
    assert (
        close.winner is None
        and close.best == "a"
        and close.words.startswith("No difference")
        and "none" not in close.words
    )
    border = verdict({"none": [0.0, 0.0], "a": [0.50, 0.52], "b": [0.48, 0.50]})
    assert border.winner is None
    assert verdict({"none": [0.9, 0.91], "a": [0.5, 0.51]}).words.startswith("No adaptation is best")
    assert verdict({"none": [0.5], "a": [0.9]}).winner is None


def test_a_lead_that_does_not_count_is_called_a_lead() -> None:
    words = verdict({"none": [0.60, 0.8098], "wwm": [0.60, 0.80]}).words
    assert words == (
        "No difference: no adaptation is first with 70.49, but not ahead of wwm (70.00) by more than two standard "
        "deviations of the seeds (28.99)."
    )
    two = verdict({"none": [0.60, 0.80], "wwm": [0.60, 0.80], "t5": [0.61, 0.81]}).words
    assert "t5 is first with 71.00, but not ahead of no adaptation (70.00) and wwm (70.00) by more than two" in two
    assert two.endswith("seeds (28.28 and 28.28).")


def test_intervals_are_those_of_student() -> None:
    low, high = interval([0.1, 0.2, 0.3])
    assert (low, high) == pytest.approx((0.2 - 0.2484, 0.2 + 0.2484), abs=1e-4)
    assert all(math.isinf(end) for end in interval([0.5]))
    wide, narrow = interval([0.1, 0.3]), interval([0.1, 0.3] * 10)
    assert wide[0] < narrow[0] < 0.2 < narrow[1] < wide[1]


def test_a_table_shows_means_and_the_verdict_and_a_drawing_every_name(tmp_path: Path) -> None:
    arms = [("none", 0), ("wwm", 1), ("wwm", 2), ("t5", 1), ("t5", 2)]
    rows = [{"objective": name, "point": k, "pieces": 1000 * k, "seed": seed, "score": 0.5 + 0.1 * k + 0.01 * seed}
            for name, k in arms for seed in (1, 2)]  # fmt: skip
    report = summed(rows, 2, "f1")
    shown = table(report)
    assert [str(column.header) for column in shown.columns] == ["", "1,000 pieces", "2,000 pieces"]
    assert list(shown.columns[0].cells) == ["none", "wwm", "t5"]
    assert list(shown.columns[2].cells)[1].startswith("71.50 ± 6.35")
    assert str(shown.caption).startswith("No difference")
    draw(report, tmp_path / "x.svg")
    words = (tmp_path / "x.svg").read_text()
    assert tree.fromstring(words) is not None and ">wwm</text>" in words and words.count("<polyline") == 2


def drawn(path: Path, pieces: int, *scores: float) -> tuple[list[float], list[str], list[float]]:
    """What a drawing writes at its two axes, and where its intervals end."""
    arms = [("none", 0), ("wwm", 1), ("wwm", 2)]
    rows = [{"objective": name, "point": k, "pieces": pieces * k, "seed": seed, "score": score}
            for name, k in arms for seed, score in enumerate(scores)]  # fmt: skip
    draw(summed(rows, 2, "f1"), path)
    root = tree.parse(path).getroot()
    at = {key: [one.text or "" for one in root if one.get("text-anchor") == key] for key in ("end", "middle")}
    lines = [one for one in root if one.get("y2")]
    ends = [float(one.attrib[end]) for one in lines for end in ("y1", "y2")]
    return [float(value) for value in at["end"]], at["middle"][:-1], ends


def test_a_drawing_keeps_shares_within_their_range_and_writes_small_counts_in_full(tmp_path: Path) -> None:
    marks, counts, ends = drawn(tmp_path / "a.svg", 412, 0.30, 0.99)
    assert (marks[0], marks[-1]) == (0, 100) and counts == ["0", "412", "824"]
    assert len(ends) == 6 and min(ends) >= TOP and max(ends) <= TOP + HEIGHT
    marks, counts, _ = drawn(tmp_path / "b.svg", 412_000, 0.80, 0.81)
    assert 70 < marks[0] < marks[-1] < 90 and counts == ["0", "412 k", "824 k"]
    marks, _, _ = drawn(tmp_path / "c.svg", 9, 1.5, 3.5)  # no share
    assert marks[0] < 0 and marks[-1] > 350


def test_what_cannot_be_compared_is_refused(encoder_folder: Path, world: tuple[Path, str], tmp_path: Path) -> None:
    texts, recipe = world
    asked = Comparison(("bert",), recipe)
    with pytest.raises(BadInput, match="--max-steps"):
        compare([texts], small(encoder_folder), TrainConfig(), asked, tmp_path / "a")
    for names in ((), ("bert", "bert"), ("none",)):
        with pytest.raises(BadInput, match="--compare"):
            Comparison(names, recipe)
    (tmp_path / "bad.toml").write_text(f'[task]\nname = "spans"\ntrain = "{tmp_path}/train.jsonl"\n[spans]\n')
    with pytest.raises(BadInput, match="no dev"):
        compare([texts], small(encoder_folder), HOW, Comparison(("bert",), str(tmp_path / "bad.toml")), tmp_path / "c")


def test_a_network_of_our_own_is_compared_too(encoder_folder: Path, world: tuple[Path, str], tmp_path: Path) -> None:
    texts, recipe = world
    own = PretrainConfig("", shape="1x16x2", tokenizer=str(encoder_folder), length=48)
    report = compare([texts], own, HOW, Comparison(("nezha",), recipe, 1, 1), tmp_path / "run")
    assert {row["objective"] for row in report["points"]} == {"none", "nezha"}
