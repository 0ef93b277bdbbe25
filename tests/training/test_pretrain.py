"""Pretraining end to end on a small world: it learns, it can be had again, and what it writes is an encoder."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from factpin.encoders import Encoder
from factpin.errors import BadFile, BadInput, UnknownName
from factpin.training.config import TrainConfig
from factpin.training.parallel import World
from factpin.training.pretrain import PretrainConfig, pretrain
from factpin.training.pretrain_job import stages_of
from factpin.training.spans import SpansConfig, train_spans
from tests.conftest import corpus
from tests.training.test_spans import equal

QUICK = TrainConfig(max_steps=6, batch_size=4, learning_rate=3e-3, seed=7)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty documents of a few sentences each."""
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(40)), encoding="utf-8")
    return path


def small(encoder: Path, objective: str = "roberta", **more: Any) -> PretrainConfig:
    return PretrainConfig(objective, str(encoder), length=48, heldout=0.1, buffer=16, words="characters", **more)


def test_what_is_held_out_becomes_likelier_and_the_folder_is_an_encoder(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    how = replace(QUICK, max_steps=40, batch_size=8, evaluate_every=20)
    report = pretrain([texts], small(encoder_folder), how, tmp_path / "run", quiet=True)
    records = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    losses = [record["heldout_loss"] for record in records if "heldout_loss" in record]
    assert losses[-1] < losses[0] < math.log(Encoder.load(encoder_folder).config.vocab_size) - 0.5
    assert report["steps"] == 40 and report["heldout"] > 0 and report["pieces"] > 40 * 8 * 20

    model = AutoModel.from_pretrained(tmp_path / "run")
    start = Encoder.load(encoder_folder).model.state_dict()
    assert any(not torch.equal(value, start[name]) for name, value in model.state_dict().items() if name in start)
    tokens = AutoTokenizer.from_pretrained(tmp_path / "run")("王小明 was born in Berlin.")["input_ids"]
    assert tokens[0] == Encoder.load(tmp_path / "run").frame(torch.zeros(0).int().numpy())[0][0]
    span = train_spans(
        corpus(8, 1), [], SpansConfig(str(tmp_path / "run")), TrainConfig(epochs=1), tmp_path / "m", quiet=True
    )
    assert span["steps"] == 1


def test_two_runs_are_equal_and_another_seed_is_not(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        pretrain([texts], small(encoder_folder), replace(QUICK, seed=seed), tmp_path / name, quiet=True)
    assert equal(tmp_path / "a", tmp_path / "b")
    assert not equal(tmp_path / "a", tmp_path / "c")


def test_a_run_that_stopped_goes_on_to_equal_weights(
    encoder_folder: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = replace(QUICK, max_steps=12, save_every=3, accumulation=2, fgm=0.1)
    config = small(encoder_folder, "bert,palm_cloze")
    pretrain([texts], config, how, tmp_path / "whole", quiet=True)

    from factpin.training import loop

    saves = loop.save_last

    def stops(*args: Any) -> None:
        saves(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "save_last", stops)
    with pytest.raises(KeyboardInterrupt):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True)
    with pytest.raises(KeyboardInterrupt):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True, resume=True)
    with pytest.raises(BadInput, match="--resume"):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True)
    with pytest.raises(BadFile, match="does not fit this run"):
        pretrain([texts], config, replace(how, seed=9), tmp_path / "cut", quiet=True, resume=True)
    with pytest.raises(BadFile, match="does not fit this run"):
        pretrain([texts], config, replace(how, clip=0.5), tmp_path / "cut", quiet=True, resume=True)
    monkeypatch.setattr(loop, "save_last", saves)
    (tmp_path / "cut" / "checkpoints" / "corpus-0.jsonl").unlink()  # marks are lost without harm
    report = pretrain([texts], config, how, tmp_path / "cut", quiet=True, resume=True)
    assert report["steps"] == 12 and equal(tmp_path / "whole", tmp_path / "cut")


def test_kill_and_resume_end_with_equal_weights(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    how = replace(QUICK, max_steps=80, save_every=8, evaluate_every=40)
    pretrain([texts], small(encoder_folder), how, tmp_path / "whole", quiet=True)
    program = (
        "import sys; from pathlib import Path; from tests.training.test_pretrain import *\n"
        "how = replace(QUICK, max_steps=80, save_every=8, evaluate_every=40)\n"
        "pretrain([Path(sys.argv[1])], small(Path(sys.argv[2])), how, Path(sys.argv[3]), quiet=True)\n"
    )
    last = tmp_path / "killed" / "checkpoints" / "last.pt"
    child = subprocess.Popen([sys.executable, "-c", program, str(texts), str(encoder_folder), str(tmp_path / "killed")])
    while not last.exists() and child.poll() is None:
        time.sleep(random.Random(0).uniform(0.01, 0.05))
    assert child.poll() is None
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    pretrain([texts], small(encoder_folder), how, tmp_path / "killed", quiet=True, resume=True)
    assert equal(tmp_path / "whole", tmp_path / "killed")


def test_an_encoder_is_made_from_a_config_and_a_trained_tokenizer(texts: Path, tmp_path: Path) -> None:
    shape = {"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
             "intermediate_size": 64, "max_position_embeddings": 64}  # fmt: skip
    (tmp_path / "bert.json").write_text(json.dumps(shape))
    for kind in ("wordpiece", "bpe"):
        config = PretrainConfig("wwm", config=str(tmp_path / "bert.json"), vocabulary=kind, vocab_size=400, length=48,
                                words="characters")  # fmt: skip
        report = pretrain([texts], config, replace(QUICK, max_steps=2), tmp_path / kind, quiet=True)
        assert report["vocabulary"]["size"] == Encoder.load(tmp_path / kind).config.vocab_size
        assert report["vocabulary"]["after"]["unknown_pieces"] == 0


def test_words_that_were_cut_up_get_pieces_of_their_own(encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n\n".join(["The phosphatase binds kinase."] * 30))
    report = pretrain([tmp_path / "t.txt"], small(encoder_folder, extend=5), replace(QUICK, max_steps=1),
                      tmp_path / "run", quiet=True)["vocabulary"]  # fmt: skip
    assert "phosphatase" in report["words"]
    assert report["after"]["pieces_per_word"] < report["before"]["pieces_per_word"]
    assert report["after"]["oversplit_words"] == 0


def test_the_table_of_objectives_is_what_names_stand_for() -> None:
    assert stages_of("bert") == ({"bert": 1.0},)
    assert stages_of("unilm")[0]["unilm_both"] == 2
    assert [list(stage) for stage in stages_of("ernie")] == [["ernie_basic"], ["ernie_phrase"], ["ernie_entity"]]
    assert stages_of("bert, wwm,bert") == ({"bert": 2.0, "wwm": 1.0},)
    with pytest.raises(UnknownName, match="Did you mean 'roberta'"):
        stages_of("robrta")
    with pytest.raises(BadInput, match="stages"):
        stages_of("ernie,bert")


def test_stages_follow_one_another_and_need_a_lexicon(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--lexicon"):
        pretrain([texts], small(encoder_folder, "ernie"), QUICK, tmp_path / "run", quiet=True)
    (tmp_path / "names.txt").write_text("王小明\n旧金山\nAnna Weber\n")
    config = small(encoder_folder, "ernie", lexicon=str(tmp_path / "names.txt"))
    assert pretrain([texts], config, QUICK, tmp_path / "run", quiet=True)["steps"] == 6


def test_mixtures_and_rows_of_two_streams_run_on_an_encoder(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    for names in ("unilm", "gpt,mpnet,spanbert,xlnet", "glm"):
        report = pretrain([texts], small(encoder_folder, names), QUICK, tmp_path / names, quiet=True)
        assert report["steps"] == 6 and math.isfinite(report["scores"]["heldout_loss"])
    assert "[START]" in (tmp_path / "glm" / "tokenizer.json").read_text(encoding="utf-8")


def test_epochs_are_counted_where_no_steps_are_given(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    one, two = (
        pretrain(
            [texts], small(encoder_folder), replace(QUICK, max_steps=None, epochs=n), tmp_path / str(n), quiet=True
        )
        for n in (1, 2)
    )
    assert one["steps"] > 1 and abs(two["steps"] - 2 * one["steps"]) <= 1


@pytest.mark.parametrize(
    ("change", "match"),
    [({"length": 100}, "at most 64"), ({"encoder": "", "config": ""}, "--encoder"), ({"extend": -1}, "extend"),
     ({"heldout": 0.9}, "heldout"), ({"decoder_layers": 0}, "decoder_layers"), ({"shape": "1x16"}, "--shape")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    change: dict[str, Any], match: str, encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=match):
        pretrain([texts], replace(small(encoder_folder), **change), QUICK, tmp_path / "run", quiet=True)


def test_processes_share_the_documents_and_no_text_is_learned_twice(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    from factpin.training.corpus import Corpus, Cut, Place
    from factpin.training.pretrain import Source

    encoder = Encoder.load(encoder_folder)
    assert encoder.tokenizer is not None
    source = Source(Corpus([texts]), encoder.tokenizer, Cut(48, words=None), None, ("roberta",), 10, False)
    shares = [
        {d for packed in source.texts(Place(), World(rank, 2, torch.device("cpu"))) for d in packed.documents}
        for rank in (0, 1)
    ]
    assert not shares[0] & shares[1]
    assert shares[0] | shares[1] == {d for d in range(40) if d % 10 != 9}
