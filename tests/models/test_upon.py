"""A model that has lower layers in common with a model beside it stores them there alone."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import factpin
from factpin.errors import BadFile, BadInput, BadModel
from factpin.models.extractor import Extractor
from factpin.models.folder import Precision
from factpin.models.settings import read_settings, write_settings
from factpin.models.weights import digest, packed_weights, stored_digest
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.training.config import TrainConfig
from factpin.training.run import run_training
from tests.conftest import corpus


@pytest.fixture
def lower(encoder_folder: Path, tmp_path: Path) -> Extractor:
    how = TrainConfig(epochs=1, batch_size=8, learning_rate=1e-3, seed=7)
    run_training(SPANS, corpus(40, 1), [], SpanOptions(str(encoder_folder)), how, tmp_path / "run", quiet=True)
    return factpin.load(tmp_path / "run")


def with_other_top(extractor: Extractor, folder: Path) -> Extractor:
    """The same model with a head and a top layer that have learned on."""
    other = factpin.load(folder)
    state = other.model.state_dict()
    top = max(int(name.split("layer.")[1].split(".")[0]) for name in state if "encoder.layer." in name)
    with torch.no_grad():
        for name, w in state.items():
            if name.startswith("head.") or f"layer.{top}." in name:
                w.add_(0.01 * torch.randn_like(w))
    return other


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_what_the_folder_beside_it_holds_is_left_out_and_comes_back(
    precision: Precision, lower: Extractor, tmp_path: Path
) -> None:
    lower.save(tmp_path / "lower", precision)
    upper = with_other_top(lower, tmp_path / "lower")
    upper.save(tmp_path / "alone", precision)
    upper.save(tmp_path / "upper", precision, upon="lower")
    size = {name: (tmp_path / name / "model.safetensors").stat().st_size for name in ("alone", "upper")}
    assert size["upper"] < 0.7 * size["alone"]
    assert factpin.load(tmp_path / "upper").settings.upon == "lower"
    shared = factpin.load(tmp_path / "upper").model.state_dict()
    alone = factpin.load(tmp_path / "alone").model.state_dict()
    for name, w in upper.model.state_dict().items():
        off = (shared[name] - w).abs().max()
        assert off <= (alone[name] - w).abs().max()  # nothing is rounded twice
        assert precision != "float32" or off == 0


def test_without_the_folder_beside_it_the_error_names_what_is_missing(lower: Extractor, tmp_path: Path) -> None:
    lower.save(tmp_path / "lower")
    with_other_top(lower, tmp_path / "lower").save(tmp_path / "upper", upon="lower")
    (tmp_path / "lower" / "model.safetensors").unlink()
    with pytest.raises(BadModel, match="lower"):
        factpin.load(tmp_path / "upper")


def test_upon_is_a_plain_name(lower: Extractor, tmp_path: Path) -> None:
    lower.save(tmp_path / "lower")
    path = tmp_path / "lower" / "factpin.json"
    path.write_text(path.read_text().replace('"upon": ""', '"upon": "../../elsewhere"'))
    with pytest.raises(BadModel, match="upon"):
        factpin.load(tmp_path / "lower")


def test_another_model_in_that_folder_is_noticed(lower: Extractor, tmp_path: Path) -> None:
    lower.save(tmp_path / "lower")
    upper = with_other_top(lower, tmp_path / "lower")
    upper.save(tmp_path / "upper", upon="lower")
    with torch.no_grad():
        for w in lower.model.encoder.parameters():
            w.add_(0.1)
    lower.save(tmp_path / "lower")
    with pytest.raises(BadModel, match="not those that it was made with"):
        factpin.load(tmp_path / "upper")


@pytest.mark.parametrize(("upon", "error"), [("absent", BadFile), ("upper", BadInput), ("../lower", BadInput)])
def test_a_wrong_folder_is_refused_before_anything_is_written(
    upon: str, error: type[Exception], lower: Extractor, tmp_path: Path
) -> None:
    lower.save(tmp_path / "upper")
    with pytest.raises(error):
        lower.save(tmp_path / "upper", upon=upon)
    assert factpin.load(tmp_path / "upper").settings.upon == ""


def test_a_digest_of_the_floats_as_older_folders_have_it_is_checked_too(lower: Extractor, tmp_path: Path) -> None:
    lower.save(tmp_path / "lower", "int8")
    with_other_top(lower, tmp_path / "lower").save(tmp_path / "upper", "int8", upon="lower")
    settings = read_settings(tmp_path / "upper")
    own = packed_weights(tmp_path / "upper")
    names = factpin.load(tmp_path / "upper").model.state_dict().keys() - own.keys()
    shared = packed_weights(tmp_path / "lower").only(names)
    assert settings.upon_digest == stored_digest(shared)
    (tmp_path / "upper" / "SHA256SUMS").unlink()
    write_settings(replace(settings, upon_digest=digest(shared)), tmp_path / "upper")
    assert factpin.load(tmp_path / "upper").settings.upon == "lower"
    write_settings(replace(settings, upon_digest=digest(shared)[::-1]), tmp_path / "upper")
    with pytest.raises(BadModel, match="not those that it was made with"):
        factpin.load(tmp_path / "upper")
