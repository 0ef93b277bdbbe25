"""The report of an evaluation as tables, which explain what each convention counts."""

from collections import Counter
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from factpin.tasks import TASKS
from factpin.words import count

COREFERENCE = {"muc": "links", "b_cubed": "mentions", "ceaf_e": "entities, matched one to one"}
HEADS = ("precision", "recall", "F1")
MOST_LABELS = 40
MOST_OF_A_KIND = 4


def render(report: dict[str, Any]) -> RenderableType:
    """Conventions, labels, confusions, and what else the report holds."""
    parts: list[RenderableType] = [_conventions(report)]
    if report["labels"]:
        parts.append(_labels(report))
    if "coreference" in report:
        parts.append(_coreference(report["coreference"]))
    if "calibration" in report:
        parts.append(_calibration(report["calibration"]))
    if report["confusions"]:
        parts.append(_confusions(report["confusions"]))
    if "p_value" in report:
        parts.append(_difference(report))
    parts += [Text(f"note: {note}", style="yellow") for note in report["notes"]]
    return Group(*parts)


def _conventions(report: dict[str, Any]) -> Table:
    sizes = f"{report['gold']:,} gold, {report['predicted']:,} predicted"
    title = f"{report['task']}: {count(report['documents'], 'document')}, {sizes}"
    table = Table("convention", "what is right", *HEADS, "95 % interval", title=title, title_justify="left")
    words = TASKS[report["task"]].conventions
    found = {"strict": report["strict"], **report["conventions"], **report.get("end_to_end", {})}
    found |= {name: report[name] for name in ("ign", "filtered", "intra", "inter", "evidence") if name in report}
    for name, meaning in words.items():
        if name in found:
            low, high = found[name]["interval"]
            style = "bold" if name == "strict" else ""
            table.add_row(name, meaning, *_numbers(found[name]), f"{100 * low:.2f} – {100 * high:.2f}", style=style)
    table.add_row("macro", "strict, the mean over labels", *_numbers(report["macro"]), "")
    return table


def _numbers(figures: dict[str, Any]) -> list[str]:
    return [f"{100 * figures[key]:.2f}" for key in ("precision", "recall", "f1")]


def _labels(report: dict[str, Any]) -> Table:
    table = Table("label", *HEADS, "gold", "predicted", title="by label, strict", title_justify="left")
    ordered = sorted(report["labels"].items(), key=lambda item: -item[1]["support"])
    for label, figures in ordered[:MOST_LABELS]:
        predicted = figures["tp"] + figures["fp"]
        table.add_row(escape(label) or "(no type)", *_numbers(figures), f"{figures['support']:,}", f"{predicted:,}")
    if len(ordered) > MOST_LABELS:
        table.add_row(f"and {len(ordered) - MOST_LABELS} more", *[""] * 5)
    return table


def _coreference(figures: dict[str, Any]) -> Table:
    low, high = figures["interval"]
    title = f"coreference: mean F1 {100 * figures['mean_f1']:.2f} ({100 * low:.2f} – {100 * high:.2f})"
    table = Table("metric", "counts", *HEADS, title=title, title_justify="left")
    for name, meaning in COREFERENCE.items():
        table.add_row(name, meaning, *_numbers(figures[name]))
    return table


def _calibration(figures: dict[str, Any]) -> Table:
    title = (
        f"calibration: ECE {100 * figures['ece']:.2f}, Brier {figures['brier']:.4f}, {count(figures['count'], 'score')}"
    )
    table = Table("scores", "predictions", "mean score", "right", title=title, title_justify="left")
    for row in figures["table"]:
        edges = f"{row['low']:.1f} – {row['high']:.1f}"
        table.add_row(edges, f"{row['count']:,}", f"{100 * row['score']:.1f} %", f"{100 * row['accuracy']:.1f} %")
    return table


def _confusions(confusions: list[dict[str, Any]]) -> Table:
    table = Table("count", "mistake", "gold", "predicted", "for example", title="worst mistakes", title_justify="left")
    shown = Counter[str]()
    for item in confusions:
        shown[item["kind"]] += 1
        if shown[item["kind"]] > MOST_OF_A_KIND:
            continue
        names = ["–" if item[key] is None else escape(item[key]) or "(no type)" for key in ("gold", "predicted")]
        table.add_row(f"{item['count']:,}", item["kind"], *names, Text(item["example"]))
    return table


def _difference(report: dict[str, Any]) -> Text:
    low, high = report["difference_interval"]
    return Text(
        f"against the other prediction ({100 * report['against']['f1']:.2f} strict F1): "
        f"{100 * report['difference']:+.2f} ({100 * low:+.2f} – {100 * high:+.2f}), "
        f"p = {report['p_value']:.4f} by paired bootstrap over documents"
    )
