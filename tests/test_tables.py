"""A table imports a value when it is asked for, and not before."""

import json
import subprocess
import sys

import pytest

from factpin.tables import Table
from factpin.tasks import TASKS


def test_a_table_is_a_mapping_of_what_its_places_hold() -> None:
    table: Table[object] = Table({"dumps": "json:dumps", "json": "json"})
    assert [*table] == ["dumps", "json"] and len(table) == 2 and "dumps" in table and "loads" not in table
    assert table["dumps"] is json.dumps and table["json"] is json
    assert dict(table) == {"dumps": json.dumps, "json": json}
    with pytest.raises(KeyError):
        table["loads"]


def test_values_are_set_and_removed() -> None:
    table: Table[object] = Table({"dumps": "json:dumps"})
    table["dumps"] = table["more"] = 3
    assert table["dumps"] == 3 and [*table] == ["dumps", "more"]
    del table["dumps"]
    assert [*table] == ["more"] and table.get("dumps") is None


def test_every_place_exists_and_only_what_is_asked_for_is_imported() -> None:
    assert all(task.name == name for name, task in TASKS.items())
    code = (
        "import sys; from factpin.tasks import TASKS; from factpin.formats import FORMATS\n"
        "assert 'spans' in TASKS and 'brat' in FORMATS; TASKS['spans']\n"
        "print(sorted(n for n in sys.modules if n.startswith(('factpin.tasks.', 'factpin.formats.'))))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "factpin.tasks.spans.task" in loaded
    assert "factpin.tasks.coreference" not in loaded and "factpin.formats.brat" not in loaded
