"""The corpus of recipes/pretraining/en-science.toml: nothing that a recipe is judged on is in it."""

import runpy
import tomllib
from pathlib import Path

RECIPES = Path(__file__).parents[2] / "recipes"


def test_no_recipe_is_judged_on_what_is_pretrained_on() -> None:
    read = set(runpy.run_path(str(RECIPES / "pretraining" / "abstracts.py"))["SOURCES"])
    files: dict[str, set[str]] = {"train": set(), "dev": set(), "test": set()}
    for path in RECIPES.rglob("*.toml"):
        task = tomllib.loads(path.read_text(encoding="utf-8")).get("task", {})
        for part, found in files.items():
            found |= {"/".join(Path(name).parts[-2:]) for name in [task.get(part)] if isinstance(name, str)}
    assert "genia/test.jsonlines.xz" in files["test"]
    assert not read & ((files["test"] | files["dev"]) - files["train"])
