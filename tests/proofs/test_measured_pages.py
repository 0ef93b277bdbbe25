"""The pages on what was measured are what their programs write, and have no empty cell."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from factpin.pretraining.generation import KINDS
from proofs import SYSTEMS

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "objectives"


@pytest.fixture(scope="module")
def programs() -> dict[str, dict[str, Any]]:
    return {name: runpy.run_path(str(ROOT / "benchmarks" / f"{name}.py")) for name in ("hour", "networks")}


def test_every_method_was_trained_and_every_generating_one_has_samples(programs: dict[str, dict[str, Any]]) -> None:
    figures = json.loads((PAGES / "networks.json").read_text(encoding="utf-8"))
    assert programs["networks"]["NETWORKS"].keys() == SYSTEMS.keys() == figures.keys() - {"pairs"}
    assert set(programs["networks"]["SPEAKS"]) == set(KINDS)
    for name in SYSTEMS:
        for language in ("zh", "en"):
            one = figures[name][language]
            assert one["last"] < one["first"] and ("sample" in one) == (name in KINDS), (name, language)
        assert figures[name]["zh"]["trains"]
    assert figures["pairs"]["transformer"]["exact"] > figures["pairs"]["copy"]["exact"]


def test_the_table_of_networks_has_a_row_for_every_method_and_no_empty_cell() -> None:
    text = (ROOT / "docs" / "objectives.md").read_text(encoding="utf-8")
    table = text.split("<!-- made by benchmarks/networks.py table -->")[1].split("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
    assert [row[0].split("]")[0].strip("[") for row in rows] == sorted(SYSTEMS)
    assert all(len(row) == 8 and all(row) for row in rows)
    assert {row[0].split("]")[0].strip("[") for row in rows if row[7] == "yes"} == set(KINDS)


@pytest.mark.parametrize("name", ["hour", "networks"])
def test_a_page_is_what_its_program_writes(name: str, programs: dict[str, dict[str, Any]]) -> None:
    figures = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == programs[name]["page_of"](figures)
