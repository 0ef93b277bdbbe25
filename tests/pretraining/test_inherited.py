"""Who goes on with an encoder goes on with its heads: those of transformers, and those of a run before."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoConfig, AutoModelForMaskedLM, BertForMaskedLM

from factpin.encoders import Encoder
from factpin.errors import BadModel
from factpin.objectives import OBJECTIVES
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.head_names import HEAD_NAMES
from factpin.pretraining.inherited import heads_in, inherit
from factpin.pretraining.learner import Beside, Learners, build_learner
from factpin.pretraining.pretrain import pretrain
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from tests.conftest import corpus

STILL = TrainConfig(max_steps=1, batch_size=4, learning_rate=1e-12, seed=3)
IDS = torch.arange(10, 30)[None]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(12)), encoding="utf-8")
    return path


def went_on(
    texts: Path, encoder: Path, folder: Path, objective: str = "roberta", how: TrainConfig = STILL, **more: Any
) -> tuple[dict[str, Any], Learners]:
    """What the run reports, and its model, which has learned next to nothing."""
    models: list[Learners] = []
    config = PretrainConfig(objective, str(encoder), length=48, buffer=16, heldout=0, **more)
    report = pretrain([texts], config, how, folder, quiet=True, at=lambda model, *_: models.append(model))
    return report, models[-1]


def speaking(config: Any, folder: Path) -> Any:
    """A model of transformers that names hidden pieces, saved with weights of its own in every part of its head."""
    torch.manual_seed(5)
    model = AutoModelForMaskedLM.from_config(config).eval()
    base = {id(parameter) for parameter in model.base_model.parameters()}
    for parameter in model.parameters():
        if id(parameter) not in base:
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    return model


@torch.no_grad()
def said(model: Learners) -> Tensor:
    model.eval()
    h = model.encoder(IDS, torch.ones_like(IDS, dtype=torch.bool)).hidden
    return model.learner.head.words(h, model.reader.words.weight)


@torch.no_grad()
def same_words(model: Learners, theirs: Any) -> None:
    wanted = theirs(IDS).logits
    torch.testing.assert_close(said(model)[..., : wanted.shape[-1]], wanted, atol=1e-4, rtol=0)


def in_a_folder(kind: str, encoder: Path, folder: Path, **more: Any) -> Any:
    """A small one of this kind with the tokenizer of `encoder`."""
    tokenizer = Tokenizer.load(encoder)
    size = {"vocab_size": tokenizer.vocab_size, "max_position_embeddings": 64, "pad_token_id": tokenizer.pad_id}
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    if kind == "distilbert":
        shape = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
    if kind == "albert":
        shape["embedding_size"] = 16
    model = speaking(AutoConfig.for_model(kind, **{**size, **shape, **more}), folder)
    tokenizer.save(folder)
    return model


def on(folder: Path, row: str = "roberta", beside: Beside | None = None) -> Learners:
    return build_learner({row: OBJECTIVES[row]}, Encoder.load(folder), 0, beside)


@pytest.mark.parametrize("kind", [*(kind for kind, names in HEAD_NAMES.items() if names.words), "relu"])
def test_a_head_of_transformers_names_what_it_named(kind: str, encoder_folder: Path, tmp_path: Path) -> None:
    more = {"hidden_act": "relu"} if kind == "relu" else {}
    theirs = in_a_folder("bert" if more else kind, encoder_folder, tmp_path, **more)
    model = on(tmp_path)
    assert not inherit(model, {})
    assert inherit(model, heads_in(tmp_path, Encoder.load(tmp_path)))
    same_words(model, theirs)


@pytest.mark.parametrize("more", [{"tie_word_embeddings": False}, {"hidden_act": "silu"}])
def test_a_head_that_cannot_be_had_here_is_none(more: Any, encoder_folder: Path, tmp_path: Path) -> None:
    in_a_folder("bert", encoder_folder, tmp_path, **more)
    assert not heads_in(tmp_path, Encoder.load(tmp_path))


@pytest.fixture
def bert(encoder_folder: Path, tmp_path: Path) -> tuple[Path, BertForMaskedLM]:
    return tmp_path / "bert", in_a_folder("bert", encoder_folder, tmp_path / "bert")


def test_a_run_begins_with_it(bert: tuple[Path, BertForMaskedLM], texts: Path, tmp_path: Path) -> None:
    folder, theirs = bert
    report, model = went_on(texts, folder, tmp_path / "run")
    assert not any("has no head" in note for note in report["notes"])
    same_words(model, theirs)


@pytest.mark.parametrize("spare", [0, 1])
def test_new_words_begin_without_a_bias_and_leave_the_others_as_they_were(
    spare: int, encoder_folder: Path, tmp_path: Path
) -> None:
    """Also where the table of the model has a row that no piece used."""
    (tmp_path / "texts.txt").write_text("\n\n".join(["The phosphatase binds phosphorylase."] * 30))
    known = Tokenizer.load(encoder_folder).vocab_size
    theirs = in_a_folder("bert", encoder_folder, tmp_path / "bert", vocab_size=known + spare)
    report, model = went_on(tmp_path / "texts.txt", tmp_path / "bert", tmp_path / "run", extend=2)
    assert report["vocabulary"]["added"] == 2 and said(model).shape[-1] == known + 2
    torch.testing.assert_close(model.learner.head.words.bias[known:].detach(), torch.zeros(2), atol=1e-6, rtol=0)
    with torch.no_grad():
        torch.testing.assert_close(said(model)[..., :known], theirs(IDS).logits[..., :known], atol=1e-4, rtol=0)


def test_names_of_the_first_years_are_known(bert: tuple[Path, BertForMaskedLM]) -> None:
    folder, _ = bert
    encoder = Encoder.load(folder)
    heads, weights = heads_in(folder, encoder), load_file(folder / "model.safetensors")
    older = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
             for name, value in weights.items()}  # fmt: skip
    save_file(older, folder / "model.safetensors", metadata={"format": "pt"})
    again = heads_in(folder, encoder)
    assert again.keys() == heads.keys() and len(heads) == 5
    assert all(torch.equal(value, heads[name]) for name, value in again.items())


def test_half_a_head_is_none(bert: tuple[Path, BertForMaskedLM], encoder_folder: Path) -> None:
    folder, _ = bert
    encoder, weights = Encoder.load(folder), load_file(folder / "model.safetensors")
    del weights["cls.predictions.transform.dense.bias"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert not heads_in(folder, encoder) and not heads_in(encoder_folder, encoder)


def test_the_head_for_words_beside_electra_has_learned_nothing(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    report, _ = went_on(texts, encoder_folder, tmp_path / "judge", "electra")
    assert not report["notes"]
    heads = heads_in(tmp_path / "judge", Encoder.load(tmp_path / "judge"))
    assert {name.split(".")[1] for name in heads} == {"replaced"}
    report, _ = went_on(texts, tmp_path / "judge", tmp_path / "run")
    assert "has no head" in report["notes"][0]


def test_a_decoder_is_taken_whole_or_not_at_all(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    _, first = went_on(texts, encoder_folder, tmp_path / "first", "bart", decoder_layers=1)
    heads, before = heads_in(tmp_path / "first", Encoder.load(tmp_path / "first")), first.learner.state_dict()
    apart = {name for name in before if not name.startswith(("head.", first.inside))}
    for layers in (1, 2):
        model = on(tmp_path / "first", "bart", Beside(48, layers))
        drawn = {name: value.clone() for name, value in model.learner.state_dict().items()}
        assert inherit(model, heads)
        wanted = before if layers == 1 else drawn
        assert apart and all(torch.equal(model.learner.state_dict()[name], wanted[name]) for name in apart)


def test_a_run_goes_on_with_the_heads_of_the_one_before(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    learning = TrainConfig(max_steps=3, batch_size=4, learning_rate=3e-3, seed=7)
    _, first = went_on(texts, encoder_folder, tmp_path / "first", "bert", learning)
    report, second = went_on(texts, tmp_path / "first", tmp_path / "second", "bert")
    mine, before = second.learner.state_dict(), first.learner.state_dict()
    assert any(name.startswith("head.pairs") for name in mine) and not report["notes"]
    assert all(torch.allclose(mine[name], before[name], atol=1e-6) for name in mine)


def test_an_encoder_without_a_head_is_told(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    report, _ = went_on(texts, encoder_folder, tmp_path / "run")
    assert [note for note in report["notes"] if "has no head that predicts hidden pieces" in note]


def test_a_file_of_heads_that_is_cut_short_is_named(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    shutil.copytree(encoder_folder, tmp_path / "cut")
    (tmp_path / "cut" / "heads.safetensors").write_bytes(b"half")
    with pytest.raises(BadModel, match=r"heads\.safetensors: cannot be read"):
        went_on(texts, tmp_path / "cut", tmp_path / "run")
