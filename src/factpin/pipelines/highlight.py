"""A document for people: its text with the mentions in colour, and a table of them."""

from rich.table import Table
from rich.text import Text

from factpin.documents import Document
from factpin.pipelines.inputs import page_of

COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_cyan", "bright_magenta", "bright_yellow",
           "bright_green", "bright_blue", "bright_red")  # fmt: skip


def colour(label: str) -> str:
    """A colour that a label always has."""
    return COLOURS[sum(label.encode()) % len(COLOURS)]


def highlight(doc: Document) -> Text:
    """The text; each mention in its label's colour with the label behind it, inner ones underlined."""
    text = Text()
    ends: dict[int, list[str]] = {}
    for m in doc.mentions:
        ends.setdefault(m.end, []).append(m.type)
    borders = sorted({0, len(doc.text), *(m.start for m in doc.mentions), *ends})
    for start, end in zip(borders, borders[1:], strict=False):
        around = [m for m in doc.mentions if m.start <= start and end <= m.end]
        inner = min(around, key=lambda m: m.end - m.start, default=None)
        style = "" if inner is None else f"bold {colour(inner.type)}" + (" underline" if len(around) > 1 else "")
        text.append(doc.text[start:end], style=style)
        for label in ends.get(end, ()):
            text.append(f"[{label}]", style=f"dim {colour(label)}")
    return text


def table(doc: Document) -> Table:
    """Every mention with its offsets and score."""
    paged = "pages" in doc.meta
    columns = ["start", "end", *(["page"] if paged else []), "mention", "type", "score"]
    rows = Table(*columns, title=f"{doc.id} ({doc.language or 'unknown language'})", title_justify="left")
    for m in doc.mentions:
        page = [str(page_of(doc, m.start) or "")] if paged else []
        score = "" if m.score is None else f"{m.score:.3f}"
        rows.add_row(str(m.start), str(m.end), *page, Text(m.text), Text(m.type, style=colour(m.type)), score)
    return rows
