"""Shipped models and encoders, as records and as a table."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

MOST_LABELS = 12


def model_rows() -> list[dict[str, Any]]:
    """A record for each shipped model."""
    from factpin.models.shipped import find_model, shipped

    return [
        {
            "name": name,
            "task": settings.task,
            "language": settings.language or "any",
            "finds": settings.finds,
            "labels": settings.labels,
            "encoder": settings.encoder,
            "folder": str(find_model(name)),
        }
        for name, settings in shipped().items()
    ]


def encoder_rows() -> list[dict[str, Any]]:
    """A record for each encoder of the catalogue."""
    from factpin.encoders import CATALOGUE, home
    from factpin.encoders.fetch import READY

    return [
        {
            "name": name,
            "language": encoder.language,
            "shape": encoder.shape,
            "licence": encoder.licence,
            "may_ship": encoder.ships,
            "fetched": (home() / name / READY).is_file(),
            "note": encoder.note,
        }
        for name, encoder in CATALOGUE.items()
    ]


def models_table(rows: Sequence[dict[str, Any]]) -> Table:
    """A name and a description in each row, narrow enough for 80 columns."""
    table = Table(show_header=False, show_lines=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for row in rows:
        lines = _model_lines(row) if "task" in row else _encoder_lines(row)
        table.add_row(row["name"], Text("\n".join(lines)))
    return table


def _model_lines(row: dict[str, Any]) -> list[str]:
    labels = row["labels"]
    more = f" … {len(labels)} in all (--json)" if len(labels) > MOST_LABELS else ""
    about = f"{row['task']}; language: {row['language']}; encoder: {row['encoder']}"
    return [row["finds"], ", ".join(labels[:MOST_LABELS]) + more, about]


def _encoder_lines(row: dict[str, Any]) -> list[str]:
    ships = "may ship" if row["may_ship"] else "may not ship"
    return [
        f"{row['shape']}; language: {row['language']}",
        row["note"],
        f"licence: {row['licence']}; {ships}",
        "fetched" if row["fetched"] else "not fetched yet",
    ]
