"""The network that `--shape` builds learns as transformers' own class does, and learns a few texts by heart."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModelForCausalLM

from factpin.objectives import OBJECTIVES, collate
from factpin.objectives.generate import GenerationSearch
from factpin.objectives.text import Text
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import Corpus
from factpin.pretraining.folder import save_pretrained
from factpin.pretraining.generation import Generator
from factpin.pretraining.plan import plan_of
from factpin.pretraining.pretrain import begin, begun, notes_of, pretrain
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig

NAMES = ("Anna", "Boris", "Clara", "David", "Emma", "Felix", "Greta", "Hans", "Irene", "Jonas")
TOWNS = ("Berlin", "Paris", "Rome", "Vienna", "Oslo", "Madrid", "Prague", "Athens", "Dublin", "Lisbon")
TEXTS = [
    f"{name} came to {town} in the spring of {1900 + 7 * k}."
    for k, (name, town) in enumerate(zip(NAMES, TOWNS, strict=True))
]
TEXTS += [
    f"{town} 的 {name} 喜欢数字 {31 * k}。" for k, (name, town) in enumerate(zip(NAMES, reversed(TOWNS), strict=True))
]


def test_gpt_takes_the_same_steps_as_transformers(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    config = PretrainConfig("gpt", shape="2x32x2", length=24, vocab_size=120)
    plan = plan_of(config)
    begin(config, plan, Corpus([tmp_path / "corpus.txt"]), tmp_path, 0)
    ours, tokenizer = begun(config, plan, tmp_path, 0), Tokenizer.load(tmp_path / "start")
    save_pretrained(ours, tmp_path / "written", tokenizer)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path / "written")
    for model in (ours, theirs):
        for module in model.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
    v = vocabulary_of(tokenizer)
    ids = np.random.default_rng(0).choice(v.ordinary, (4, 24))
    texts = [Text(row, np.arange(24), np.array([24])) for row in ids]
    batch = collate([OBJECTIVES["gpt"].view(text, v, seed=0, epoch=0, index=0) for text in texts], v.pad)
    losses = {"ours": lambda: ours.loss(("gpt", batch)),
              "theirs": lambda: theirs(input_ids=torch.as_tensor(ids), labels=torch.as_tensor(ids)).loss}  # fmt: skip
    told: dict[str, list[float]] = {}
    for name, model in (("ours", ours), ("theirs", theirs)):
        model.train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(20):
            loss = losses[name]()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            told.setdefault(name, []).append(float(loss.detach()))
    assert told["ours"] == pytest.approx(told["theirs"], rel=1e-4) and told["ours"][-1] < told["ours"][0] - 0.5


@pytest.mark.parametrize("kind", ["gpt", "transformer_xl"])
def test_texts_are_learned_by_heart_and_said(kind: str, tmp_path: Path) -> None:
    for name in ("learned", "judged"):
        (tmp_path / f"{name}.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    config = PretrainConfig(kind, shape="2x64x4", length=48, vocab_size=300, packing="running", memory=None)
    how = TrainConfig(max_steps=120, batch_size=20, learning_rate=5e-3, evaluate_every=120, save_every=120)
    report = pretrain(
        [tmp_path / "learned.txt"], config, how, tmp_path / "run", dev=[tmp_path / "judged.txt"], quiet=True
    )
    assert report["scores"]["heldout_loss"] < 0.2
    generator = Generator.load(tmp_path / "run")
    search = GenerationSearch("greedy", longest=12)
    said = generator.answers("Anna came to", search)[0].text
    assert said.startswith("berlin in the spring of 1900")


def test_a_run_that_learned_only_frequencies_says_so(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    words = [f"{name.lower()}" for name in (*NAMES, *TOWNS)]
    for part, count in (("learned", 60), ("judged", 20)):  # words in no order: nothing but frequencies to learn
        lines = (" ".join(chance.choice(words, 30)) for _ in range(count))
        (tmp_path / f"{part}.txt").write_text("\n\n".join(lines), encoding="utf-8")
    how = TrainConfig(max_steps=60, batch_size=8, learning_rate=5e-3)
    config = PretrainConfig("gpt", shape="1x32x2", length=32, vocab_size=200, packing="filled")
    report = pretrain(
        [tmp_path / "learned.txt"], config, how, tmp_path / "run", dev=[tmp_path / "judged.txt"], quiet=True
    )
    assert report["frequency_loss"] == pytest.approx(np.log(len(words)), abs=0.05)
    assert report["scores"]["heldout_loss"] == pytest.approx(report["frequency_loss"], abs=0.2)
    (note,) = [line for line in notes_of({**report, "frequency_loss": 1.0}) if "context" in line]
    assert "knowing only how frequent each piece is gives 1.00" in note
    assert not any("context" in line for line in notes_of({**report, "frequency_loss": 9.0}))
