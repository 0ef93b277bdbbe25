"""The report of an evaluation of links for people."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from factpin.words import count

MEANINGS = {"linked": "same span and link", "nil": "mentions that are in no knowledge base"}


def render_linking(report: dict[str, Any]) -> RenderableType:
    """Links and NIL with their intervals, accuracy, calibration, and notes."""
    title = f"linking: {count(report['documents'], 'document')}, {count(report['mentions'], 'gold mention')}"
    columns = ("figure", "what it means", "P", "R", "F1", "95 % interval")
    table = Table(*columns, title=title, title_justify="left")
    for name, meaning in MEANINGS.items():
        one = report[name]
        low, high = one["interval"]
        shown = [f"{100 * one[key]:.2f}" for key in ("precision", "recall", "f1")]
        table.add_row(name, meaning, *shown, f"{100 * low:.2f} – {100 * high:.2f}")
    table.add_row("accuracy", "gold mentions with the right link or NIL", "", "", f"{100 * report['accuracy']:.2f}", "")
    for name, meaning in (("ambiguous", "with a name of several entities"), ("nil_accuracy", "that are NIL")):
        one = report[name]
        share = f"{100 * one['accuracy']:.2f}" if one["mentions"] else ""
        table.add_row(name, f"{one['mentions']:,} of them {meaning}", "", "", share, "")
    if "calibration" in report:
        meaning = "how far scores are from shares of right links"
        table.add_row("ece", meaning, "", "", f"{100 * report['calibration']['ece']:.2f}", "")
    return Group(table, *(Text(f"note: {note}", style="yellow") for note in report["notes"]))
