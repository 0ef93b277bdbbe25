"""What version 0.1 wrote is still read: a model folder, and the recipe of its run (tests/data/model-0.1).

The folder was trained and saved by version 0.1, and found.json is what version 0.1 found with it.
"""

from pathlib import Path

import orjson
import pytest

import factpin
from factpin.training.plan import make_plan
from factpin.training.request import train_request

FOLDER = Path(__file__).parents[1] / "data" / "model-0.1"


def test_a_model_folder_finds_what_it_found() -> None:
    expected = orjson.loads((FOLDER / "found.json").read_bytes())
    extractor = factpin.load(FOLDER)
    for doc, old in zip(extractor.extract([one["text"] for one in expected]), expected, strict=True):
        assert [[m.start, m.end, m.type] for m in doc.mentions] == [row[:3] for row in old["mentions"]]
        assert [m.score for m in doc.mentions] == pytest.approx([row[3] for row in old["mentions"]], abs=2e-4)


def test_the_recipe_of_a_run_is_read(tmp_path: Path) -> None:
    files = {"train": str(tmp_path / "train.jsonl")}
    request = train_request(None, FOLDER / "recipe.toml", files, {}, tmp_path / "run")
    plan = make_plan(request.task, request.settings, request.tables)
    assert (plan.name, plan.config.head_size, plan.how.batch_size, plan.how.seed) == ("spans", 16, 8, 7)
