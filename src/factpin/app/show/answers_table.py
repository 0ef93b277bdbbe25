"""The report of an evaluation of answers for people."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from factpin.words import count

FIGURES = {
    "em": "the text is right",
    "f1": "words or characters in common",
    "support_em": "the sentences given as proof are right",
    "support_f1": "sentences in common",
    "joint_em": "text and proof are right",
    "joint_f1": "both in common",
}
RATES = {
    "answered": "share of the questions that was answered",
    "precision": "share of right answers among these",
    "precision_at_half": "share of right answers among the surest, for half of the questions",
    "ece": "how far scores are from shares of right answers",
    "aurc": "mean error over all shares of answered questions",
}


def render_answers(report: dict[str, Any]) -> RenderableType:
    """Figures with their intervals, rates, the comparison, and notes."""
    title = f"answers: {count(report['questions'], 'question')}, {report['answers']:,} answered"
    table = Table("figure", "what it means", "value", "95 % interval", title=title, title_justify="left")
    for name, figure in report["figures"].items():
        low, high = figure["interval"]
        base = next((known for known in sorted(FIGURES, key=len, reverse=True) if name.startswith(known)), "")
        part = name.removeprefix(base).strip("_").replace("_", " ")
        meaning = FIGURES.get(base, "") + (f", questions: {part}" if part else "")
        table.add_row(name, meaning, f"{100 * figure['value']:.2f}", f"{100 * low:.2f} – {100 * high:.2f}")
    for name, meaning in RATES.items():
        if name in report:
            table.add_row(name, meaning, f"{100 * report[name]:.2f}", "")
    parts: list[RenderableType] = [table]
    if "p_value" in report:
        low, high = report["difference"]["interval"]
        parts.append(Text(f"F1 against the other: {100 * report['difference']['f1']:+.2f} "
                          f"({100 * low:+.2f} to {100 * high:+.2f}), p = {report['p_value']:.4f}"))  # fmt: skip
    parts += [Text(f"note: {note}", style="yellow") for note in report["notes"]]
    return Group(*parts)
