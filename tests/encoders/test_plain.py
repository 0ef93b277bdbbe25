"""The encoder that predicts without transformers gives what transformers gives."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from factpin.encoders import Encoder
from factpin.encoders.plain import PlainConfig, PlainEncoder
from factpin.errors import BadInput
from factpin.models.extractor import Extractor
from factpin.models.folder import load_model
from factpin.models.model import torch_model
from factpin.models.predictor import LatePredictor
from factpin.models.shapes import shapes_only
from factpin.models.shipped import shipped_folders
from factpin.tokens.small import build_tokenizer
from tests.encoders.architectures import WORDS, tiny
from tests.encoders.test_encoder import TEXTS, a_batch
from tests.models.small_model import small_model

NEAR = {"atol": 2e-6, "rtol": 0.0}


def a_config(folder: Path, **changes: object) -> Path:
    """A config.json that is computed here, but for the changes."""
    record = {
        "model_type": "bert",
        "vocab_size": 50,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 12,
        "type_vocab_size": 2,
    }
    path = folder / "config.json"
    path.write_text(json.dumps(record | changes), encoding="utf-8")
    return path  # fmt: skip


@pytest.mark.parametrize("name", ["bert", "electra"])
def test_plain_and_transformers_agree(name: str, tmp_path: Path) -> None:
    whole = tiny(name).eval()
    whole.config.save_pretrained(tmp_path)
    config = PlainConfig.read(tmp_path / "config.json")
    assert config is not None
    plain = PlainEncoder(config, build_tokenizer(TEXTS, WORDS)).eval()
    plain.load_state_dict(whole.state_dict())
    ids, mask = a_batch()
    segments = torch.arange(ids.shape[1]).remainder(2).expand_as(ids) * mask
    with torch.no_grad():
        for more in ({}, {"segments": segments}):
            torch.testing.assert_close(
                plain(ids, mask, **more).hidden[mask], whole(ids, mask, **more).hidden[mask], **NEAR
            )
        again = Encoder.of_plain(plain)
        torch.testing.assert_close(again(ids, mask).hidden, whole(ids, mask).hidden, **NEAR)
    assert not again.training and again.state_dict().keys() == plain.state_dict().keys()
    with pytest.raises(BadInput, match="reads at most"):
        plain(torch.ones(1, 999, dtype=torch.int64), torch.ones(1, 999, dtype=torch.bool))
    with pytest.raises(BadInput, match="no attention"):
        plain(ids, mask, torch.zeros(1, 2, dtype=torch.int64))  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [{"model_type": "roberta"}, {"hidden_act": "relu"}, {"is_decoder": True}, {"hidden_size": 9}, {"vocab_size": 0},
     {"position_embedding_type": "relative_key"}, {"layer_norm_eps": "x"}, {"pad_token_id": 50},
     {"type_vocab_size": True},
     {"_attn_implementation": "eager"}, {"num_hidden_layers": 1.0}],
)  # fmt: skip
def test_what_is_not_computed_here_is_left_to_transformers(changes: dict[str, object], tmp_path: Path) -> None:
    assert PlainConfig.read(a_config(tmp_path)) is not None
    assert PlainConfig.read(a_config(tmp_path, **changes)) is None


def test_a_model_that_predicts_can_be_trained_and_saved(encoder_folder: Path, tmp_path: Path) -> None:
    folder = small_model(encoder_folder)
    settings, whole, _ = load_model(folder)
    loaded = Extractor.load(folder, runtime="torch")
    assert isinstance(loaded.model.encoder, PlainEncoder) and not isinstance(whole.encoder, PlainEncoder)
    texts = ["Anna lives in Rome.", "Boris works for Acme in Paris, and Anna does not."]
    before = loaded.extract(texts, 0.0)
    loaded.save(tmp_path / "again")
    assert isinstance(torch_model(loaded.model).encoder, Encoder)
    assert [doc.mentions for doc in loaded.extract(texts, 0.0)] == [doc.mentions for doc in before]
    name = "encoder/config.json"
    assert json.loads((tmp_path / "again" / name).read_text()) == json.loads((folder / name).read_text())


@pytest.mark.parametrize("folder", shipped_folders(), ids=lambda folder: folder.name)
def test_no_shipped_model_needs_transformers(folder: Path) -> None:
    assert PlainConfig.read(folder / "encoder" / "config.json") is not None


def test_one_sentence_with_torch_imports_little() -> None:
    """Neither transformers nor the compiler of torch nor the models of the other language."""
    program = (
        "import sys, factpin\n"
        "pipeline = factpin.load(runtime='torch')\n"
        "(doc,) = pipeline.extract(['谷爱凌出生于旧金山。'])\n"
        "late = {name: e.model._predictor is not None for name, e in zip(pipeline.models, pipeline.extractors)}\n"
        "heavy = {'transformers', 'torch._dynamo', 'sympy', 'huggingface_hub', 'onnxruntime'} & sys.modules.keys()\n"
        "print(len(doc.facts), sorted(heavy), late)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    late = {"en-entities": False, "en-facts": False, "zh-entities": True, "zh-facts": True}
    assert done.stdout.strip() == f"1 [] {late}"


def test_a_late_predictor_is_loaded_once() -> None:
    made: list[int] = []

    def load() -> LatePredictor:
        made.append(1)
        return LatePredictor(lambda: None)  # type: ignore[arg-type, return-value]

    late = LatePredictor(load)
    assert made == [] and late.loaded() is late.loaded() and made == [1]


def test_shapes_need_no_values() -> None:
    with shapes_only():
        layer = torch.nn.Linear(10**7, 10**5)
    assert layer.weight.shape == (10**5, 10**7) and layer.weight.is_meta
