"""What a model adds to training documents, what its silence says, and scores that are moved."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from factpin.documents import Document
from factpin.models.checks import check_sums
from factpin.models.settings import read_settings, settings_bytes
from factpin.models.shipped import find_model
from tests.recipes.test_prepare_facts import RECIPES, load

TEXT = "甲公司由乙创立。"


@pytest.fixture(scope="module")
def fill() -> Iterator[ModuleType]:
    kept = list(sys.path)
    sys.path.insert(0, str(RECIPES))
    yield load("fill_facts.py")
    sys.path[:] = kept


def test_silence_says_nothing_if_only_what_is_found_counts(fill: ModuleType) -> None:
    doc = Document("d", TEXT, "zh", meta=fill.make_meta("plain", ["父亲"]))
    founder = fill.Told(fill.Place(0, 3, "organization"), "创始人", fill.Place(4, 5, "person"))
    guesses = {"创始人": {founder: 0.9}, "董事长": {}, "父亲": {}}
    every = fill.fill(doc, guesses, 0.1, 0.6)
    assert fill.annotated(every) == {"创始人", "董事长", "父亲"} and len(every.facts) == 1
    found = fill.fill(doc, fill.found_alone(guesses, 0.6), 0.1, 0.6)
    assert fill.annotated(found) == {"创始人", "父亲"} and len(found.facts) == 1
    unsure = fill.fill(doc, fill.found_alone({"创始人": {founder: 0.4}}, 0.6), 0.1, 0.6)
    assert fill.annotated(unsure) == {"父亲"} and not unsure.facts


def test_no_word_hints_at_some_relations(fill: ModuleType) -> None:
    silent = fill.unhinted(Document("d", TEXT, "zh"), fill.read_table("zh"))
    assert "票房" in silent and "创始人" not in silent


def test_a_model_whose_scores_were_moved_is_whole(fill: ModuleType, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(find_model("zh-facts"), tmp_path / "zh-facts"))
    show = load("show_facts_from.py")
    moved = show.shifted(read_settings(folder), {"作者": 0.6})
    show.store(moved, folder)
    check_sums(folder)
    assert (folder / "factpin.json").read_bytes() == settings_bytes(moved)
    assert (folder / "SHA256SUMS").read_text().count("graph") == 4
