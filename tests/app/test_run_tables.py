"""The tables at the end of a run: one line for the title, however wide it is, and units that are right."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from factpin.app.show.run_tables import train_table

REPORT: dict[str, Any] = {"steps": 3, "best_step": 2, "train": 12, "noted": {"not_taught": 2},
                          "scores": {"f1": 0.5, "min_score": 0.65, "utility": 3.9, "aurc": 0.125}}  # fmt: skip


def shown(width: int, unit: str = "document") -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(train_table(REPORT, Path("runs/a-long-name-of-a-run/classes"), unit))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_title_that_is_wider_than_its_table_is_one_line(width: int) -> None:
    lines = shown(width)
    assert lines[0].strip() == "runs/a-long-name-of-a-run/classes: trained on 12 documents"
    assert lines[1][0] in "┌┏" and "steps (best)" in lines[2]


def test_nothing_of_a_title_is_lost_where_the_terminal_is_narrow() -> None:
    lines = [line.strip() for line in shown(40)]
    assert lines[:2] == ["runs/a-long-name-of-a-run/classes:", "trained on 12 documents"]


def test_questions_are_not_called_documents() -> None:
    assert shown(80, "question")[0].strip().endswith("trained on 12 questions")


def test_shares_are_percent_and_other_numbers_are_not() -> None:
    rows = {cells[1].strip(): cells[2].strip() for line in shown(80) if len(cells := line.split("│")) == 4}
    assert rows == {"steps (best)": "3 (2)", "dev f1": "50.00", "dev min score": "0.65", "dev utility": "3.90",
                    "dev aurc": "12.50", "training not taught": "2"}  # fmt: skip
