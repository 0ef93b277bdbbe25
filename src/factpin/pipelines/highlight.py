"""A document for people: its text with the mentions in colour, and a table of them."""

from rich.table import Table
from rich.text import Text

from factpin.documents import Document, Mention
from factpin.pipelines.inputs import page_of, pages_of

COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_cyan", "bright_magenta", "bright_yellow",
           "bright_green", "bright_blue", "bright_red")  # fmt: skip
# A text must not steer the terminal: control characters are shown as their pictures, carriage returns not at all.
PICTURES: dict[int, int | None] = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
PICTURES |= {0x0D: None, 0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def colour(label: str) -> str:
    """A colour that a label always has."""
    return COLOURS[sum(label.encode()) % len(COLOURS)]


def shown(text: str) -> str:
    """Text that a terminal may print."""
    return text.translate(PICTURES)


def title(doc: Document) -> str:
    """The document's id and language."""
    return shown(f"{doc.id} ({doc.language or 'unknown language'})")


def highlight(doc: Document) -> Text:
    """The text; each mention in its label's colour with the label behind it, what lies in several underlined."""
    text = Text()
    coming = sorted(doc.mentions, key=lambda m: m.start, reverse=True)
    around: list[Mention] = []  # mentions that hold the piece
    borders = sorted({0, len(doc.text), *(m.start for m in doc.mentions), *(m.end for m in doc.mentions)})
    for start, end in zip(borders, borders[1:], strict=False):
        while coming and coming[-1].start == start:
            around.append(coming.pop())
        inner = min(around, key=_size, default=None)
        style = "" if inner is None else f"bold {colour(inner.type)}" + (" underline" if len(around) > 1 else "")
        text.append(shown(doc.text[start:end]), style=style)
        for m in sorted(around, key=_size):
            if m.end == end:
                text.append(shown(f"[{m.type}]"), style=f"dim {colour(m.type)}")
        around = [m for m in around if m.end > end]
    return text


def _size(mention: Mention) -> int:
    return mention.end - mention.start


def table(doc: Document) -> Table:
    """Every mention with its offsets, page and score."""
    pages = pages_of(doc)
    rows = Table(title=Text(title(doc)), title_justify="left")
    for column in ("start", "end", *(["page"] if pages else []), "mention", "type", "score"):
        rows.add_column(column, overflow="fold", justify="left" if column in ("mention", "type") else "right")
    for m in doc.mentions:
        page = [str(page_of(pages, m.start) or "")] if pages else []
        score = "" if m.score is None else f"{m.score:.3f}"
        label = Text(shown(m.type), style=colour(m.type))
        rows.add_row(str(m.start), str(m.end), *page, Text(shown(m.text).replace("\n", " ")), label, score)
    return rows
