"""Models by name."""

import shutil
from pathlib import Path

import pytest

from factpin.errors import BadModel
from factpin.models import shipped as module
from factpin.models.settings import Settings, write_settings
from factpin.models.shipped import choose_models, find_model, shipped


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "models"
    for name, language in (("zh-entities", "zh"), ("en-entities", "en")):
        (folder / name).mkdir(parents=True)
        write_settings(Settings("spans", ("person",), "crf", {}, "small", language), folder / name)
    (folder / "__pycache__").mkdir()
    monkeypatch.setattr(module, "FOLDER", folder)
    return folder


def test_shipped_models_are_found_by_name_with_hyphen_or_underscore(models: Path) -> None:
    assert {name: s.language for name, s in shipped().items()} == {"en-entities": "en", "zh-entities": "zh"}
    assert find_model("zh-entities") == find_model("zh_entities") == models / "zh-entities"


def test_any_folder_is_a_model_by_its_path(models: Path, tmp_path: Path) -> None:
    shutil.copytree(models / "zh-entities", tmp_path / "mine")
    assert find_model(str(tmp_path / "mine")) == tmp_path / "mine"


def test_a_shipped_name_wins_over_a_folder_beside_and_a_path_does_not(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zh-entities").mkdir()
    assert find_model("zh-entities") == models / "zh-entities"
    assert find_model("./zh-entities") == Path("zh-entities")


@pytest.mark.parametrize("name", ["zh-entites", "", "absent/place"])
def test_an_unknown_name_says_what_ships(models: Path, name: str) -> None:
    with pytest.raises(BadModel, match=r"Shipped: en-entities, zh-entities\.") as error:
        find_model(name)
    assert ("Did you mean 'zh-entities'?" in str(error.value)) == (name == "zh-entites")


def test_without_a_name_all_that_ship_are_chosen(models: Path) -> None:
    assert choose_models(()) == [models / "en-entities", models / "zh-entities"]
    assert choose_models(("zh-entities",)) == [models / "zh-entities"]


def test_a_copy_without_models_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FOLDER", tmp_path / "absent")
    assert shipped() == {}
    with pytest.raises(BadModel, match="factpin train"):
        choose_models(())
