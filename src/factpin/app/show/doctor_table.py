"""The report of the doctor as tables. What comes from files is shown as it is, not as markup for the terminal."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from factpin.app.show.highlight import shown
from factpin.words import count, share

BAR = 24
COUNTS = (
    "documents",
    "sentences",
    "characters",
    "tokens",
    "mentions",
    "entities",
    "clusters",
    "facts",
    "evidence",
    "qualified",
    "events",
    "nested",
    "overlapping",
    "discontinuous",
    "duplicates",
    "leaked",
    "unlabelled_repeats",
    "rejected",
)


def render(report: dict[str, Any]) -> RenderableType:
    """Counts, labels, lengths, and what must be fixed."""
    parts: list[RenderableType] = [_counts(report)]
    for title, key in (("labels", "labels"), ("relations", "relations"), ("event types", "event_types")):
        if report[key]:
            parts.append(_histogram(title, report[key]))
    parts.append(_lengths(report))
    if "pieces_per_word" in report:
        parts.append(_vocabulary(report))
    if report["problems"]:
        parts.append(_problems(report))
    verdict = ("nothing needs fixing", "green") if report["ok"] else ("something needs fixing", "red")
    return Group(*parts, Text(verdict[0], style=f"bold {verdict[1]}"))


def _counts(report: dict[str, Any]) -> Table:
    table = Table(title="what is there", title_justify="left", show_header=False)
    for file in report["files"]:
        rejected = f", {file['rejected']} rejected" if file["rejected"] else ""
        path = Text(shown(file["path"]), style="bold")
        table.add_row(path, f"{file['format']}, {count(file['documents'], 'document')}{rejected}")
    for key in COUNTS:
        if report[key]:
            table.add_row(key.replace("_", " "), f"{report[key]:,}")
    return table


def _histogram(title: str, counts: dict[str, int], most: int = 25) -> Table:
    table = Table(title=title, title_justify="left", show_header=False)
    top = max(counts.values())
    for label, number in list(counts.items())[:most]:
        bar = Text("█" * max(1, round(BAR * number / top)), style="cyan")
        table.add_row(Text(shown(label) or "(no type)"), f"{number:,}", bar)
    if len(counts) > most:
        rest = list(counts.values())[most:]
        table.add_row(f"and {len(rest)} more", f"{sum(rest):,}", "")
    return table


def _lengths(report: dict[str, Any]) -> Table:
    table = Table("length in", "median", "90 %", "99 %", "longest", title="lengths", title_justify="left")
    for unit, values in report["lengths"].items():
        table.add_row(unit, *(f"{values[key]:,}" for key in ("p50", "p90", "p99", "max")))
    return table


def _vocabulary(report: dict[str, Any]) -> Table:
    table = Table(title="the tokenizer", title_justify="left", show_header=False)
    lost = report["unalignable"] / report["mentions"] if report["mentions"] else 0.0
    table.add_row("spans it cannot represent", f"{report['unalignable']:,} (recall is at most {share(1 - lost)})")
    table.add_row("unknown pieces", _examples(report["unknown_pieces"], list(report["unknown"])[:12]))
    if report["words"]:
        table.add_row("pieces a Latin word", f"{report['pieces_per_word']}")
        table.add_row("over-split words", _examples(report["oversplit_words"], list(report["oversplit"])[:8]))
    return table


def _examples(number: int, words: list[str]) -> Text:
    return Text(shown(f"{number:,}  {' '.join(words)}"))


def _problems(report: dict[str, Any]) -> Table:
    table = Table("kind", "count", "first place", "what, and what to do", title="problems", title_justify="left")
    seen: set[str] = set()
    for problem in report["problems"]:
        kind = problem["kind"]
        if kind in seen:
            continue
        seen.add(kind)
        style = "red" if problem["severity"] == "error" else "yellow"
        place = problem["document"] or (f"line {problem['line']}" if problem["line"] else "")
        words = Text(f"{shown(problem['message'])}\n").append(problem["fix"], style="dim")
        table.add_row(Text(kind, style=style), f"{report['kinds'].get(kind, 0):,}", Text(shown(place)), words)
    return table
