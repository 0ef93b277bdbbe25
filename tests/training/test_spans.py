"""Training end to end on a small world: every head learns it, every switch works, every run can be had again."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import safetensors.torch
import torch

import factpin
from factpin import formats
from factpin.documents import Document, Mention, Span
from factpin.encoders import Encoder
from factpin.errors import BadFile, BadInput, BadModel
from factpin.heads import SPAN_HEADS
from factpin.scoring import align, spans
from factpin.scoring.counts import total
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.training.board import Board
from factpin.training.config import TrainConfig, from_dict, read_recipe
from factpin.training.run import run_training
from tests.conftest import corpus

QUICK = TrainConfig(epochs=12, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return safetensors.torch.load((folder / "model.safetensors").read_bytes())


def equal(a: Path, b: Path) -> bool:
    one, two = weights(a), weights(b)
    return one.keys() == two.keys() and all(torch.equal(one[k], two[k]) for k in one)


@pytest.mark.parametrize("head", SPAN_HEADS)
def test_every_head_learns_a_small_world(head: str, encoder_folder: Path, tmp_path: Path) -> None:
    config = SpanOptions(str(encoder_folder), head=head)
    report = run_training(SPANS, corpus(160, 1), corpus(60, 2), config, QUICK, tmp_path / "m", quiet=True)
    assert report["scores"]["f1"] > 0.9
    assert report["labels"] == ["person", "place"]
    assert report["noted"] == {"mentions": report["noted"]["mentions"], "unalignable": 0, "not_taught": 0}


def test_two_runs_are_equal_and_another_seed_is_not(encoder_folder: Path, tmp_path: Path) -> None:
    how = replace(QUICK, epochs=2)
    config = SpanOptions(str(encoder_folder))
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        run_training(SPANS, corpus(40, 1), [], config, replace(how, seed=seed), tmp_path / name, quiet=True)
    assert equal(tmp_path / "a", tmp_path / "b")
    assert not equal(tmp_path / "a", tmp_path / "c")


@pytest.mark.parametrize(
    "change",
    [{"ema": 0.9}, {"fgm": 0.5}, {"rdrop": 1.0}, {"layer_decay": 0.8}, {"schedule": "cosine"}, {"accumulation": 2},
     {"bf16": True}, {"clip": 0.0}],
)  # fmt: skip
def test_every_switch_trains_and_changes_the_run(
    change: dict[str, float], encoder_folder: Path, tmp_path: Path
) -> None:
    how = replace(QUICK, epochs=1)
    for head in SPAN_HEADS:
        config = SpanOptions(str(encoder_folder), head=head)
        run_training(SPANS, corpus(40, 1), corpus(10, 2), config, how, tmp_path / f"plain-{head}", quiet=True)
        run_training(SPANS, corpus(40, 1), corpus(10, 2), config, replace(how, **change), tmp_path / head, quiet=True)
        assert all(torch.isfinite(w).all() for w in weights(tmp_path / head).values())
        assert not equal(tmp_path / f"plain-{head}", tmp_path / head)


def test_frozen_layers_stay_and_the_others_learn(encoder_folder: Path, tmp_path: Path) -> None:
    before = Encoder.load(encoder_folder).state_dict()
    how = replace(QUICK, epochs=1, freeze_layers=1)
    run_training(SPANS, corpus(40, 1), [], SpanOptions(str(encoder_folder)), how, tmp_path / "run", quiet=True)
    after = factpin.load(tmp_path / "run").model.encoder.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    low = {name for name in before if "embeddings." in name or ".layer.0." in name}
    assert low
    assert not moved & low
    assert {name for name in before if ".layer.1." in name and "weight" in name} <= moved


def test_more_frozen_layers_than_there_are_is_an_error(encoder_folder: Path, tmp_path: Path) -> None:
    how = replace(QUICK, freeze_layers=9)
    with pytest.raises(BadInput, match="has 2 layers"):
        run_training(SPANS, corpus(10, 1), [], SpanOptions(str(encoder_folder)), how, tmp_path / "run", quiet=True)


def test_accumulation_equals_a_larger_batch(encoder_folder: Path, tmp_path: Path) -> None:
    calm = SpanOptions(str(_without_dropout(encoder_folder, tmp_path / "calm")), dropout=0.0)
    for fgm in (0.0, 0.5):
        for name, size, pieces in (("whole", 8, 1), ("pieces", 2, 4)):
            how = replace(QUICK, epochs=1, batch_size=size, accumulation=pieces, fgm=fgm)
            run_training(SPANS, corpus(40, 1), [], calm, how, tmp_path / f"{name}{fgm}", quiet=True)
        one, two = weights(tmp_path / f"whole{fgm}"), weights(tmp_path / f"pieces{fgm}")
        assert all(torch.allclose(one[k], two[k], atol=2e-4) for k in one)


def _without_dropout(folder: Path, target: Path) -> Path:
    from factpin.encoders import Encoder

    encoder = Encoder.load(folder)
    encoder.config.hidden_dropout_prob = encoder.config.attention_probs_dropout_prob = 0.0
    encoder.save(target)
    return target


def test_early_stopping_and_max_steps_end_a_run(encoder_folder: Path, tmp_path: Path) -> None:
    config = SpanOptions(str(encoder_folder))
    idle = replace(QUICK, epochs=9, learning_rate=1e-12, head_learning_rate=1e-12, early_stopping=2)
    assert run_training(SPANS, corpus(16, 1), corpus(8, 2), config, idle, tmp_path / "a", quiet=True)["steps"] == 6
    with pytest.raises(BadInput, match="needs a dev set"):
        run_training(SPANS, corpus(16, 1), [], config, idle, tmp_path / "c", quiet=True)
    short = replace(QUICK, epochs=9, max_steps=3)
    assert run_training(SPANS, corpus(40, 1), [], config, short, tmp_path / "b", quiet=True)["steps"] == 3


def test_a_run_that_has_not_ended_says_how_to_go_on(encoder_folder: Path, tmp_path: Path) -> None:
    config = SpanOptions(str(encoder_folder))
    run_training(SPANS, corpus(16, 1), [], config, replace(QUICK, epochs=1), tmp_path, quiet=True)
    (tmp_path / "factpin.json").unlink()
    with pytest.raises(BadModel, match=r"has not finished.*--resume"):
        factpin.load(tmp_path)


def test_training_reload_command_line_and_python_give_the_same_figures(encoder_folder: Path, tmp_path: Path) -> None:
    dev = corpus(40, 2)
    formats.write(corpus(80, 1), tmp_path / "train.jsonl")
    formats.write(dev, tmp_path / "dev.jsonl")
    folder = tmp_path / "model"
    files = ["--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl", "--output", folder]
    how = ["--epochs", "4", "--learning-rate", "3e-3", "--batch-size", "8"]
    command(["train", "spans", *files, "--encoder", encoder_folder, *how])
    records = [orjson.loads(line) for line in (folder / "metrics.jsonl").read_bytes().splitlines()]
    in_training = max(record["f1"] for record in records if "f1" in record)
    saved = orjson.loads((folder / "metrics.json").read_bytes())["f1"]
    reloaded = factpin.load(folder)
    found = reloaded.extract([doc.text for doc in dev])
    in_python = total(spans.score(align([replace(p, id=g.id) for p, g in zip(found, dev, strict=True)], dev).pairs)
                      .rows["strict"]).f1  # fmt: skip
    command(["predict", folder, tmp_path / "dev.jsonl", tmp_path / "out.jsonl"])
    printed = orjson.loads(command(["evaluate", tmp_path / "out.jsonl", tmp_path / "dev.jsonl", "--json"]))
    assert 0 < in_training == saved == in_python == printed["strict"]["f1"]


def command(words: list[object]) -> str:
    done = subprocess.run([sys.executable, "-m", "factpin", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_recipe_runs_again(encoder_folder: Path, tmp_path: Path) -> None:
    formats.write(corpus(30, 1), tmp_path / "train.jsonl")
    first = ["train", "spans", "--train", tmp_path / "train.jsonl", "--encoder", encoder_folder, "--output",
             tmp_path / "a", "--max-steps", "3", "--batch-size", "4", "--no-rope", "--quiet"]  # fmt: skip
    command(first)
    tables = read_recipe(tmp_path / "a" / "recipe.toml")
    assert from_dict(TrainConfig, tables["train"], "train").max_steps == 3
    assert tables["spans"]["rope"] is False
    command(["train", "--recipe", tmp_path / "a" / "recipe.toml", "--output", tmp_path / "b", "--quiet"])
    assert equal(tmp_path / "a", tmp_path / "b")


def test_a_run_says_how_long_it_takes_and_that_there_was_nothing_to_resume(
    encoder_folder: Path, tmp_path: Path
) -> None:
    formats.write(corpus(60, 1), tmp_path / "train.jsonl")
    words = ["train", "spans", "--train", tmp_path / "train.jsonl", "--hold-out", "5", "--encoder", encoder_folder,
             "--output", tmp_path / "a", "--max-steps", "12", "--batch-size", "4", "--resume"]  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "factpin", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stderr.splitlines() if tmp_path.name in line or "pace" in line]
    assert notes == [
        f"there is no checkpoint in {tmp_path / 'a'} to go on from: the run starts at its first step",
        f"12 steps ahead, in {tmp_path / 'a'}",
        "less than a minute left at this pace, and the time to score on dev",
    ]


def test_the_score_beside_the_bar_is_on_the_scale_of_the_table(tmp_path: Path) -> None:
    with Board(tmp_path, quiet=True, tensorboard=False, resumed_at=None) as board:
        board.record(1, {"f1": 0.4804})
        board.step(2, 4, 1.5)
        assert [task.description for task in board._progress.tasks] == ["loss 1.5000 dev f1 48.04"]


def test_a_killed_run_resumes_to_the_same_weights(encoder_folder: Path, tmp_path: Path) -> None:
    formats.write(corpus(120, 1), tmp_path / "train.jsonl")
    formats.write(corpus(10, 2), tmp_path / "dev.jsonl")
    words = [sys.executable, "-m", "factpin", "train", "spans", "--train", str(tmp_path / "train.jsonl"), "--dev",
             str(tmp_path / "dev.jsonl"), "--encoder", str(encoder_folder), "--epochs", "3", "--batch-size", "4",
             "--save-every", "5", "--ema", "0.9", "--quiet"]  # fmt: skip
    subprocess.run([*words, "--output", str(tmp_path / "whole")], check=True)
    killed = tmp_path / "killed"
    child = subprocess.Popen([*words, "--output", str(killed)])
    while not (killed / "checkpoints" / "last.pt").exists():
        assert child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not (killed / "factpin.json").exists()
    subprocess.run([*words, "--output", str(killed), "--resume"], check=True)
    assert equal(tmp_path / "whole", killed)
    steps = [[orjson.loads(line)["step"] for line in (run / "metrics.jsonl").read_bytes().splitlines()]
             for run in (tmp_path / "whole", killed)]  # fmt: skip
    assert steps[0] == steps[1]


def test_two_processes_equal_one_on_the_same_global_batch(encoder_folder: Path, tmp_path: Path) -> None:
    calm = _without_dropout(encoder_folder, tmp_path / "calm")
    formats.write(corpus(30, 1), tmp_path / "train.jsonl")
    words = ["-m", "factpin", "train", "spans", "--train", str(tmp_path / "train.jsonl"), "--encoder", str(calm),
             "--max-steps", "6", "--dropout", "0", "--quiet"]  # fmt: skip
    subprocess.run([sys.executable, *words, "--batch-size", "8", "--output", str(tmp_path / "one")], check=True)
    subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *words,
         "--batch-size", "4", "--output", str(tmp_path / "two")],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    one, two = weights(tmp_path / "one"), weights(tmp_path / "two")
    assert all(torch.allclose(one[k], two[k], atol=2e-5) for k in one)


def test_a_folder_that_holds_a_model_is_not_overwritten(encoder_folder: Path, tmp_path: Path) -> None:
    config, how = SpanOptions(str(encoder_folder)), replace(QUICK, max_steps=1)
    run_training(SPANS, corpus(8, 1), [], config, how, tmp_path / "m", quiet=True)
    with pytest.raises(BadInput, match="holds a model already"):
        run_training(SPANS, corpus(8, 1), [], config, how, tmp_path / "m", quiet=True)


def test_nothing_to_learn_is_a_clear_error(encoder_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no mention"):
        run_training(
            SPANS, [Document("d", "x")], [], SpanOptions(str(encoder_folder)), QUICK, tmp_path / "m", quiet=True
        )


@pytest.mark.parametrize("change", ["head", "seed", "ema", "data"])
def test_resuming_with_other_settings_is_refused(change: str, encoder_folder: Path, tmp_path: Path) -> None:
    how, config, docs = replace(QUICK, max_steps=1), SpanOptions(str(encoder_folder)), corpus(8, 1)
    run_training(SPANS, docs, [], config, how, tmp_path / "m", quiet=True)
    recipe = (tmp_path / "m" / "recipe.toml").read_bytes()
    config = replace(config, head="global_pointer") if change == "head" else config
    how = replace(how, seed=8) if change == "seed" else replace(how, ema=0.9) if change == "ema" else how
    docs = corpus(8, 2) if change == "data" else docs
    with pytest.raises(BadFile, match="belongs to another run"):
        run_training(SPANS, docs, [], config, how, tmp_path / "m", resume=True, quiet=True)
    assert (tmp_path / "m" / "recipe.toml").read_bytes() == recipe


def test_an_unfinished_run_is_not_started_over_without_a_word(encoder_folder: Path, tmp_path: Path) -> None:
    config, how = SpanOptions(str(encoder_folder)), replace(QUICK, max_steps=1)
    run_training(SPANS, corpus(8, 1), [], config, how, tmp_path / "m", quiet=True)
    (tmp_path / "m" / "factpin.json").unlink()
    with pytest.raises(BadInput, match="unfinished run"):
        run_training(SPANS, corpus(8, 1), [], config, how, tmp_path / "m", quiet=True)
    (tmp_path / "m" / "checkpoints" / "last.pt").write_bytes(b"garbage")
    with pytest.raises(BadFile, match="not a checkpoint"):
        run_training(SPANS, corpus(8, 1), [], config, how, tmp_path / "m", resume=True, quiet=True)


@pytest.mark.parametrize(
    "record, words",
    [({"epochs": "3"}, "a whole number"), ({"schedule": "liner"}, "'linear'"), ({"epoch": 3}, "Did you mean"),
     ({"max_steps": 0}, "at least 1"), ({"early_stopping": 0}, "at least 1"), ({"bf16": 1}, "true or false")],
)  # fmt: skip
def test_a_typo_in_a_recipe_is_an_error_at_once(record: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        from_dict(TrainConfig, record, "train")


def test_nested_spans_are_learned_by_the_pointer_heads(encoder_folder: Path, tmp_path: Path) -> None:
    def nested(id: str, city: str, person: str) -> Document:
        text = f"{city}的{person}来了。"
        whole = f"{city}的{person}"
        return Document(id, text, sentences=(Span(0, len(text)),), mentions=(
            Mention("a", 0, len(city), city, "place"), Mention("b", 0, len(whole), whole, "person"),
            Mention("c", len(city) + 1, len(whole), person, "person")))  # fmt: skip

    cities, people = ["北京", "上海市", "广州", "旧金山"], ["王小明", "李雷", "韩梅", "赵云飞"]
    docs = [nested(f"{c}{p}", c, p) for c in cities for p in people]
    for head in ("global_pointer", "efficient_global_pointer"):
        report = run_training(SPANS, docs, docs, SpanOptions(str(encoder_folder), head=head), replace(QUICK, epochs=40),
                             tmp_path / head, quiet=True)  # fmt: skip
        assert report["scores"]["f1"] == 1.0
    crf = run_training(SPANS, docs, docs, SpanOptions(str(encoder_folder), head="crf"), replace(QUICK, epochs=2),
                      tmp_path / "crf", quiet=True)  # fmt: skip
    assert crf["noted"]["not_taught"] == 2 * len(docs), "what a CRF cannot be taught is counted"
