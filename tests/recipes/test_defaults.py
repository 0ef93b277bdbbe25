"""recipes/defaults.py on a small world, with the tagger that it compares with, and the starts of first_weights.py."""

import importlib.util
import json
import math
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from factpin import formats
from factpin.documents import Document, Mention
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer, EfficientGlobalPointerConfig
from factpin.heads.global_pointer import GlobalPointer, GlobalPointerConfig
from factpin.training.config import TrainConfig
from tests.conftest import corpus

ROOT = Path(__file__).parents[2]


def load(path: str) -> ModuleType:
    name = f"recipe_{Path(path).stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / path)
        assert spec and spec.loader
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


defaults = load("recipes/defaults.py")
corpora = load("recipes/_corpora.py")
baseline = load("benchmarks/baseline.py")
first_weights = load("recipes/first_weights.py")


# ---- the parts of a corpus


def write(folder: Path, name: str, documents: list[Document]) -> str:
    formats.write(documents, folder / name, format="jsonl")
    return name


def distinct(size: int) -> list[Document]:
    return [Document(f"d{i}", f"文本 {i}。") for i in range(size)]


def test_a_missing_test_part_is_half_of_dev_and_a_missing_dev_part_is_cut_from_train(tmp_path: Path) -> None:
    name = write(tmp_path, "whole.jsonl", distinct(400))
    halves = corpora.files("jsonl", train=name, dev=name)(tmp_path)
    sixths = corpora.files("jsonl", train=name, test=name)(tmp_path)
    for parts, pair, share in ((halves, ("dev", "test"), 1 / 2), (sixths, ("train", "dev"), 1 / 6)):
        rest, cut = ({doc.id for doc in parts[part]} for part in pair)
        assert not rest & cut
        assert rest | cut == {f"d{i}" for i in range(400)}
        assert abs(len(cut) / 400 - share) < 0.07


def test_the_cut_depends_on_the_text_alone(tmp_path: Path) -> None:
    documents = distinct(100)
    one = corpora.files("jsonl", train=(), dev=write(tmp_path, "a.jsonl", documents))(tmp_path)
    other = corpora.files("jsonl", train=(), dev=write(tmp_path, "b.jsonl", documents[::-1]))(tmp_path)
    assert {doc.text for doc in one["test"]} == {doc.text for doc in other["test"]}


def test_the_small_size_is_part_of_the_large_one(tmp_path: Path) -> None:
    read = corpora.files("jsonl", train=write(tmp_path, "train.jsonl", distinct(90)),
                          dev=write(tmp_path, "dev.jsonl", distinct(30)))  # fmt: skip
    both = corpora.Corpus("spans", "none", read, (20, 60), ((), ()), 0.0, longest=9)
    texts = []
    for size in defaults.SIZES:
        place = defaults.Place("small-world", both, size, tmp_path / "runs", tmp_path / "done.jsonl")
        place.write_parts(tmp_path)
        texts.append({doc.text for doc in formats.read(place.part("train"), format="jsonl")})
    assert [len(found) for found in texts] == [20, 60]
    assert texts[0] < texts[1]


def test_settings_become_options() -> None:
    settings = dict(map(defaults.setting, ["learning_rate=2e-4", "epochs=10", "rope=false", "head=crf"]))
    assert list(defaults.as_options(settings)) == [
        "--learning-rate", "0.0002", "--epochs", "10", "--no-rope", "--head", "crf",
    ]  # fmt: skip
    assert defaults.point("2e-4 x 20") == {"learning_rate": 2e-4, "epochs": 20}


def test_eight_corpora_of_both_languages_and_three_tasks() -> None:
    assert len(defaults.CORPORA) == 8
    assert {c.task for c in defaults.CORPORA.values()} == {"spans", "triples", "document_relations"}
    for task in ("spans", "triples"):
        assert {c.encoder[-2:] for c in defaults.CORPORA.values() if c.task == task} == {"zh", "en"}


# ---- all arms


def test_runs_are_kept_compared_and_not_done_again(
    tmp_path: Path, encoder_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = corpora.files("jsonl", train=write(tmp_path, "train.jsonl", corpus(80, 1)),
                          dev=write(tmp_path, "dev.jsonl", corpus(30, 2)),
                          test=write(tmp_path, "test.jsonl", corpus(30, 3)))  # fmt: skip
    small = corpora.Corpus("spans", str(encoder_folder), read, (80, 80), (("1e-3 x 8",), ()), 0.0)
    place = defaults.Place("world", small, "small", tmp_path / "runs", tmp_path / "done.jsonl")
    options = Namespace(arm=("default", "baseline"), label="short", set={"epochs": 2}, memory=8, data=tmp_path)
    defaults.do_all([place], options)
    assert capsys.readouterr().err == ""
    assert defaults.planned(place, options) == []
    assert [run.label for run in defaults.planned(place, Namespace(**vars(options) | {"arm": defaults.ARMS}))] == [
        "tuned 1e-3 x 8"
    ]
    own, plain = place.record("short"), place.record("baseline short")
    assert own["steps"] == plain["steps"] == 10
    assert plain["settings"]["learning_rate"] == own["train"]["learning_rate"]
    assert not (place.run("short") / "model").exists()
    assert np.array_equal(place.rows("short"), place.count(place.run("short") / "test.jsonl.xz"))
    row = next(line for line in defaults.table([place], "short").splitlines() if line.startswith("| world"))
    assert all(f"{100 * record['test']['f1']:.1f} (" in row for record in (own, plain))


def test_the_tuned_run_is_chosen_on_dev(tmp_path: Path) -> None:
    grid = ("1e-4 x 5", "2e-4 x 5", "4e-4 x 5")
    only = corpora.Corpus("spans", "none", dict, (1, 1), (grid, ()), 0.0)
    place = defaults.Place("world", only, "small", tmp_path, tmp_path / "done.jsonl")
    assert not defaults.best_tuned(place)
    for name, dev, test in zip(grid, (0.5, 0.7, 0.6), (0.9, 0.4, 0.8), strict=True):
        record = {"corpus": "world", "documents": 1, "label": f"tuned {name}", "dev": dev, "test": {"f1": test}}
        with place.results.open("a") as stream:
            stream.write(json.dumps(record) + "\n")
    assert defaults.best_tuned(place) == "tuned 2e-4 x 5"


# ---- the tagger


def test_the_tagger_learns_the_small_world(encoder_folder: Path) -> None:
    how = TrainConfig(epochs=12, learning_rate=1e-3, seed=1)
    predicted, result = baseline.train_baseline(corpus(150, 1), corpus(40, 2), corpus(40, 3), str(encoder_folder), how)
    assert [doc.id for doc in predicted] == [doc.id for doc in corpus(40, 3)]
    assert result.f1 > 70
    assert result.low <= result.f1 <= result.high
    assert result.steps == 120


def test_of_nested_mentions_the_outermost_is_taught(encoder_folder: Path) -> None:
    text = "New York的王小明没有说话。"
    mentions = (Mention("m0", 0, 12, text[:12], "place"), Mention("m1", 9, 12, text[9:12], "person"))
    tagger = baseline.Tagger(str(encoder_folder), ["person", "place"])
    examples, lost = baseline.examples(tagger, [Document("d", text, mentions=mentions)])
    assert lost == 1
    read = tagger.reader.read(Document("d", text))
    found = baseline.annotated(read, examples[0].tags, tagger.labels)
    assert [(m.start, m.end, m.type) for m in found.mentions] == [(0, 12, "place")]


def test_a_mention_begins_with_b_and_goes_on_with_i_of_its_label() -> None:
    O, B0, I0, B1, I1 = range(5)  # noqa: E741
    assert list(baseline.spelled([B0, I0, O, B1, B1, I1, I0, I0], 0, 8)) == [(0, 0, 1), (1, 3, 3), (1, 4, 5)]
    assert list(baseline.spelled([O, I0, B0, I0], 1, 3)) == [(0, 2, 2)]


# ---- first weights


@pytest.mark.parametrize("name", ["lecun-b6", "glorot-b6", "torch-b6"])
def test_a_start_bias_lowers_every_first_score(name: str) -> None:
    head = EfficientGlobalPointer(EfficientGlobalPointerConfig(("a", "b"), head_size=16), 32)
    H, real = torch.randn(2, 7, 32), torch.ones(2, 7, dtype=torch.bool)
    first_weights.use_start(name.removesuffix("-b6"), head, 1)
    before = head.dense(head(H, real)).detach()
    first_weights.use_start(name, head, 1)
    lower = before - head.dense(head(H, real)).detach()
    torch.testing.assert_close(lower[before.isfinite()], torch.full_like(lower[before.isfinite()], 6.0))


def test_weights_of_a_start_have_its_scale() -> None:
    head = GlobalPointer(GlobalPointerConfig(("a",) * 10, head_size=64), 256)
    for name, scale in (("lecun", 1 / 16), ("lecun-x0.5", 1 / 32), ("glorot", math.sqrt(2 / (256 + 1280)))):
        first_weights.use_start(name, head, 1)
        assert abs(float(head.qk.weight.detach().std()) / scale - 1) < 0.02
        assert not head.qk.bias.any()


def test_a_start_is_trained_and_judged(tmp_path: Path, encoder_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "train.jsonl", corpus(60, 1))
    small = first_weights.Experiment("spans", first_weights.EGP, str(encoder_folder), "jsonl", "train.jsonl", 60, None,
                                     None, 2, 1e-3)  # fmt: skip
    monkeypatch.setitem(first_weights.EXPERIMENTS, "world", small)
    options = Namespace(data=tmp_path, learning_rate=None, judged=None)
    record = first_weights.run("world", "lecun-b6", 1, options)
    assert (record["steps"], record["seed"], record["start"]) == (8, 1, "lecun-b6")
    assert 0 <= record["f1"] <= 100


def test_a_start_that_is_not_known_is_refused() -> None:
    with pytest.raises(SystemExit, match="no start 'he'"):
        first_weights.parse("he")
