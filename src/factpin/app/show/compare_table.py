"""The report of a comparison of objectives as a table."""

from typing import Any

from rich.table import Table

from factpin.pretraining.compare_drawing import mean_and_half_width
from factpin.words import count


def table(report: dict[str, Any]) -> Table:
    """One row per objective, one column per point: the mean in per cent, and half the width of its interval."""
    begins = next(row for row in report["points"] if row["point"] == 0)
    points = sorted({row["point"] for row in report["points"]} - {0})
    pieces = {row["point"]: row["pieces"] for row in report["points"]}
    shown = Table("", *(count(pieces[point], "piece") for point in points), title=f"{report['metric']} by pieces seen")
    shown.add_row(begins["objective"], *[mean_and_half_width(begins)] * len(points))
    for name in dict.fromkeys(row["objective"] for row in report["points"] if row["point"]):
        own = {row["point"]: row for row in report["points"] if row["objective"] == name}
        shown.add_row(name, *(mean_and_half_width(own[point]) if point in own else "" for point in points))
    shown.caption, shown.caption_justify, shown.title_justify = report["verdict"], "left", "left"
    return shown
