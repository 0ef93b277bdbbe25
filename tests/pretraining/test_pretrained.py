"""What `pretrain` writes can speak: a folder that is loaded says what the model said that was trained."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel

from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.layers.masks import Ints
from factpin.objectives import OBJECTIVES, Batch, Text, Vocabulary, collate, generate, prompts
from factpin.objectives.generate import GenerationSearch
from factpin.objectives.prompts import Prompt
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.folder import load_pretrained
from factpin.pretraining.learner import Learners
from factpin.pretraining.pretrain import pretrain
from factpin.pretraining.readers import Plain
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from proofs.world import VOCABULARY
from tests.conftest import corpus

HOW = TrainConfig(max_steps=4, batch_size=4, learning_rate=3e-3, seed=7)
IDS = np.arange(20, 32)


def blanked(at: int, mark: int) -> Ints:
    return np.concatenate([IDS[:at], [mark], IDS[at + 2 :]])


PROMPTS: dict[str, Callable[[Vocabulary], Prompt]] = {
    "bart": lambda v: prompts.bart(blanked(3, v.mask), v),
    "glm": lambda v: prompts.glm(blanked(3, v.mask), 3, v),
    "gpt": lambda v: prompts.gpt(IDS, v),
    "mass": lambda v: prompts.mass(IDS, 4, 9, v),
    "palm": lambda v: prompts.palm(IDS, v),
    "pegasus": lambda v: prompts.pegasus(blanked(3, v.gap), v),
    "t5": lambda v: prompts.t5(blanked(3, v.sentinels[0]), v),
    "transformer_xl": lambda v: prompts.transformer_xl(IDS[:5], IDS[5:], v),
    "unilm": lambda v: prompts.unilm(IDS, v),
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n\n".join("\n".join(d.text for d in corpus(5, seed)) for seed in range(12)), encoding="utf-8")
    return path


def trained(texts: Path, objective: str, folder: Path, **where: Any) -> Learners:
    """PretrainedModel for a few steps; the very model that was."""
    models: list[Learners] = []
    config = PretrainConfig(objective, length=48, buffer=16, heldout=0, words="characters", decoder_layers=1, **where)
    pretrain([texts], config, HOW, folder, quiet=True, at=lambda model, *_: models.append(model))
    return models[-1]


@pytest.mark.parametrize("name", PROMPTS)
def test_a_folder_says_what_the_model_said(name: str, encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    where: dict[str, Any] = {"encoder": str(encoder_folder)}
    if name in ("t5", "pegasus", "transformer_xl"):
        where = {"shape": "1x16x2", "tokenizer": str(encoder_folder)}
    live = trained(texts, name, tmp_path, **where)
    loaded = load_pretrained(tmp_path)
    assert all(torch.equal(value, live.learner.state_dict()[key]) for key, value in loaded.learner.state_dict().items())
    prompt, search = PROMPTS[name](loaded.vocabulary), GenerationSearch(beams=3, count=3, longest=6, penalty=0.6)
    here, there = (generate.generate(one, prompt, loaded.vocabulary, search) for one in (live.learner, loaded.learner))
    assert [said.ids.tolist() for said in here] == [said.ids.tolist() for said in there]
    assert [said.score for said in here] == pytest.approx([said.score for said in there], abs=1e-5)
    drawn = replace(search, how="sample", top_k=5)
    here, there = (
        generate.generate(one, prompt, loaded.vocabulary, drawn, chance=torch.Generator().manual_seed(1))
        for one in (live.learner, loaded.learner)
    )
    assert [said.ids.tolist() for said in here] == [said.ids.tolist() for said in there]


def test_what_speaks_lies_beside_an_encoder_that_needs_none_of_it(
    encoder_folder: Path, texts: Path, tmp_path: Path
) -> None:
    live = trained(texts, "glm_token,t5,electra", tmp_path, encoder=str(encoder_folder))
    assert {"heads.json", "heads.safetensors", "config.json"} <= {path.name for path in tmp_path.iterdir()}
    loaded = load_pretrained(tmp_path).learner
    names = set(loaded.state_dict())
    assert names == set(live.learner.state_dict()) and {"encoder.below.second.weight", "head.words.bias"} <= names
    for name in ("heads.json", "heads.safetensors"):
        (tmp_path / name).rename(tmp_path / f"{name}.away")
    own = Encoder.load(tmp_path).model.state_dict()
    theirs = AutoModel.from_pretrained(tmp_path).state_dict()
    assert all(torch.equal(value, theirs[key]) for key, value in own.items())
    with pytest.raises(BadModel, match=r"has no heads\.json"):
        load_pretrained(tmp_path)


def test_heads_of_another_run_are_refused(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    trained(texts, "gpt", tmp_path / "a", encoder=str(encoder_folder))
    trained(texts, "mass", tmp_path / "b", encoder=str(encoder_folder))
    (tmp_path / "b" / "heads.safetensors").replace(tmp_path / "a" / "heads.safetensors")
    with pytest.raises(BadModel, match=r"heads\.safetensors does not fit"):
        load_pretrained(tmp_path / "a")


def test_a_folder_is_asked_only_what_it_can_read(encoder_folder: Path, texts: Path, tmp_path: Path) -> None:
    """PretrainedModel with wwm it has no decoder and reads all at once, with t5 it has one, with gpt it has none."""
    for name, wrong in (
        ("wwm", {"bart", "glm", "gpt", "mass", "palm", "pegasus", "t5", "unilm"}),
        ("t5", PROMPTS.keys() - {"t5"}),
        ("gpt", PROMPTS.keys() - {"gpt", "transformer_xl"}),
    ):
        trained(texts, name, tmp_path / name, encoder=str(encoder_folder))
        model = load_pretrained(tmp_path / name)
        v = model.vocabulary if model.vocabulary.sentinels else replace(model.vocabulary, sentinels=(IDS[0],))
        for prompt in wrong:
            with pytest.raises(BadInput, match="Load a folder"):
                generate.generate(model.learner, PROMPTS[prompt](v), v, GenerationSearch(longest=2))


def test_an_encoder_that_is_told_no_mask_refuses_all_but_its_own(encoder_folder: Path) -> None:
    encoder, of_encoder = Encoder.load(encoder_folder), vocabulary_of(Tokenizer.load(encoder_folder))

    def batch(name: str, v: Vocabulary) -> Batch:
        texts = [Text(IDS[:n], np.arange(n), np.array([n])) for n in (9, 5)]
        return collate([OBJECTIVES[name].view(x, v, seed=1, epoch=0, index=0) for x in texts], v.pad)

    assert Plain(encoder)(batch("roberta", of_encoder)).hidden["content"].shape[:2] == (2, 11)
    for name, words in (("gpt", "every cell from every other"), ("t5", "got encoder and decoder")):
        with pytest.raises(BadInput, match=words):
            Plain(encoder)(batch(name, VOCABULARY))
