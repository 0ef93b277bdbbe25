"""Shipped models find what they found before finding left torch."""

import json
from pathlib import Path

import pytest

from factpin.models.shipped import FOLDER
from tests.tasks.stored import TEXTS, digest, found_by

STORED = json.loads((Path(__file__).parents[1] / "data" / "found.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", TEXTS)
def test_the_cells_and_scores_are_those_of_the_version_before(model: str) -> None:
    if not (FOLDER / model).is_dir() or digest(FOLDER / model) != STORED[model]["weights"]:
        pytest.skip("other weights ship now")
    found = found_by(model, FOLDER)
    assert found.keys() == STORED[model]["found"].keys()
    for name, rows in STORED[model]["found"].items():
        assert [row for row, _ in found[name]] == [row for row, _ in rows] and rows
        assert [score for _, score in found[name]] == pytest.approx([score for _, score in rows], abs=1e-3)
