"""Every row of the table trains through `pretrain`: on an encoder that is there, and anew by a shape."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.objectives import OBJECTIVES, collate
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.folder import load_pretrained
from factpin.pretraining.learner import Beside, build_learner
from factpin.pretraining.networks import NETWORKS, architecture, shape_of
from factpin.pretraining.pretrain import pretrain
from factpin.pretraining.readers import cut
from factpin.pretraining.vocabulary import vocabulary_of, with_marks
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from tests.conftest import corpus
from tests.training.test_spans import equal

HOW = TrainConfig(max_steps=2, batch_size=4, learning_rate=3e-3, seed=7, save_every=1)
KINDS = {"bart": "bart", "electra": "electra", "gpt": "openai-gpt", "mass": "bart", "pegasus": "pegasus", "t5": "t5",
         "unilm_sequence": "bert", "xlnet": "xlnet"}  # fmt: skip


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(12)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("names") / "names.txt"
    path.write_text("王小明\n旧金山\nAnna Weber\n", encoding="utf-8")
    return str(path)


def small(objective: str, names: str = "", **more: Any) -> PretrainConfig:
    return PretrainConfig(objective, length=48, heldout=0.2, buffer=16, words="characters", lexicon=names,
                          decoder_layers=1, **more)  # fmt: skip


@pytest.mark.parametrize("row", OBJECTIVES)
def test_a_row_learns_on_an_encoder_that_is_there(
    row: str, encoder_folder: Path, texts: Path, names: str, tmp_path: Path
) -> None:
    report = pretrain([texts], small(row, names, encoder=str(encoder_folder)), HOW, tmp_path, quiet=True)
    assert report["steps"] == 2 and math.isfinite(report["scores"]["heldout_loss"])
    before, after = Encoder.load(tmp_path / "start").model, AutoModel.from_pretrained(tmp_path)
    own = dict(before.named_parameters())
    moved = {name for name, value in after.named_parameters() if name in own and not torch.equal(value, own[name])}
    assert {"embeddings.word_embeddings.weight", "encoder.layer.1.attention.self.query.weight"} <= moved


@pytest.mark.parametrize(
    "row", ["bart", "electra", "glm_token", "gpt", "mass", "nezha", "palm_continue", "pegasus", "t5", "transformer_xl",
            "unilm_sequence", "xlnet"],
)  # fmt: skip
def test_a_row_begins_anew_by_a_shape(row: str, encoder_folder: Path, texts: Path, names: str, tmp_path: Path) -> None:
    config = small(row, names, shape="1x16x2", tokenizer=str(encoder_folder))
    report = pretrain([texts], config, HOW, tmp_path, quiet=True)
    assert report["steps"] == 2 and math.isfinite(report["scores"]["heldout_loss"])
    encoder = Encoder.load(tmp_path)
    assert encoder.width == 16 and encoder.config.model_type == KINDS.get(row, "factpin")
    assert load_pretrained(tmp_path).learner.encoder.words.num_embeddings == Tokenizer.load(tmp_path).vocab_size


def test_every_row_has_a_network_and_rows_of_several_share_a_bert() -> None:
    assert {row.network for row in OBJECTIVES.values()} <= NETWORKS.keys()
    assert architecture([OBJECTIVES["xlnet"], OBJECTIVES["bert"]]) == "bert"
    assert architecture([OBJECTIVES["ernie_basic"], OBJECTIVES["ernie_distance"]]) == "ernie2"


def test_stages_with_and_without_a_decoder_and_a_mixture_with_electra_run(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    for objective in ("palm", "electra,bert,t5"):
        config = small(objective, encoder=str(encoder_folder))
        report = pretrain([texts], config, replace(HOW, max_steps=6), tmp_path / objective, quiet=True)
        assert report["steps"] == 6 and math.isfinite(report["scores"]["heldout_loss"])


@pytest.mark.parametrize("row", ["electra", "t5", "transformer_xl"])
def test_a_run_with_a_part_that_is_left_away_goes_on_to_equal_weights(
    row: str, encoder_folder: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: dict[str, Any] = {"encoder": str(encoder_folder)}
    if row == "transformer_xl":
        where = {"shape": "1x16x2", "tokenizer": str(encoder_folder)}
    config, how = small(row, **where), replace(HOW, max_steps=4)
    pretrain([texts], config, how, tmp_path / "whole", quiet=True)

    from factpin.training import loop

    saves = loop.save_last

    def stops(*args: Any) -> None:
        saves(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "save_last", stops)
    with pytest.raises(KeyboardInterrupt):
        pretrain([texts], config, how, tmp_path / "cut", quiet=True)
    monkeypatch.setattr(loop, "save_last", saves)
    pretrain([texts], config, how, tmp_path / "cut", quiet=True, resume=True)
    assert equal(tmp_path / "whole", tmp_path / "cut")


def test_a_gpt_of_transformers_reads_from_left_to_right_by_itself(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    shape = {"model_type": "gpt2", "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 48}
    (tmp_path / "gpt2.json").write_text(json.dumps(shape))
    config = small("gpt", config=str(tmp_path / "gpt2.json"), tokenizer=str(encoder_folder))
    pretrain([texts], config, HOW, tmp_path / "run", quiet=True)
    encoder = Encoder.load(tmp_path / "run")
    ids = torch.tensor([[5, 6, 7, 8, 9]])
    other = torch.tensor([[5, 6, 7, 30, 31]])
    mask = torch.ones_like(ids, dtype=torch.bool)
    with torch.no_grad():
        a, b = encoder(ids, mask).hidden, encoder(other, mask).hidden
    assert torch.equal(a[:, :3], b[:, :3]) and not torch.equal(a[:, 3:], b[:, 3:])
    with pytest.raises(BadModel, match="positions"):
        pretrain([texts], replace(config, objective="bert"), HOW, tmp_path / "bert", quiet=True)


def test_a_decoder_says_what_the_encoder_saw(encoder_folder: Path) -> None:
    """BART on four texts: learned by heart, which needs the source since the beginnings are equal."""
    encoder = Encoder.load(encoder_folder)
    assert encoder.tokenizer is not None
    tokenizer = with_marks(encoder.tokenizer, ("mask",))
    vocabulary, row = vocabulary_of(tokenizer), OBJECTIVES["bart_mask"]
    chance = np.random.default_rng(0)
    from factpin.objectives import Text

    views = []
    for index in range(4):
        ids = np.append([20, 21], chance.choice(vocabulary.ordinary, 8))
        text = Text(ids, np.arange(10), np.array([10]))
        views.append(row.view(text, vocabulary, seed=0, epoch=0, index=index))
    batch = collate(views, vocabulary.pad)
    model = build_learner({"bart_mask": row}, encoder, 0, Beside(48, 1)).eval()
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(120):
        optimiser.zero_grad()
        loss = model.loss(("bart_mask", batch))
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] / 10
    gradient = encoder.model.encoder.layer[0].attention.self.value.weight.grad
    assert gradient is not None and gradient.any()


def test_a_source_that_became_too_long_is_cut_for_all_who_see_it(encoder_folder: Path) -> None:
    encoder = Encoder.load(encoder_folder)
    assert encoder.tokenizer is not None
    vocabulary = vocabulary_of(with_marks(encoder.tokenizer, ("gap",)))
    from factpin.objectives import Text

    text = Text(np.arange(20, 60), np.arange(40), np.array([10, 20, 40]))
    batch = collate([OBJECTIVES["pegasus"].view(text, vocabulary, seed=0, epoch=0, index=0)], vocabulary.pad)
    short = cut(batch, 12)
    assert short.streams["encoder"].ids.shape == (1, 12) and short.streams["decoder"].sees["encoder"].shape[2] == 12
    assert (short.streams["encoder"].ids == batch.streams["encoder"].ids[:, :12]).all()
    assert cut(batch, 100) is batch and cut(batch, None) is batch


def test_shapes_are_read_and_nonsense_is_refused(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    assert (shape_of("4x256").layers, shape_of("4x256").heads, shape_of("2x32").heads) == (4, 4, 1)
    for bad in ("4", "4x", "0x64", "2x30x4", "axb"):
        with pytest.raises(BadInput):
            shape_of(bad)
    for more in ({"shape": "1x16", "encoder": str(encoder_folder)}, {"encoder": str(encoder_folder), "memory": 8}):
        with pytest.raises(BadInput, match="--shape"):
            pretrain([texts], small("transformer_xl", **more), HOW, tmp_path, quiet=True)
