"""A document on a terminal: its text with coloured mentions, and tables of mentions, entities, facts and events."""

from collections.abc import Mapping
from typing import Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from factpin.app.show.short_names import short_name
from factpin.documents import Document, Event, Fact, Mention
from factpin.documents.mentions import show_score
from factpin.extraction.pdf import page_of, pages_of

PLAIN = ("cyan", "magenta", "yellow", "green", "blue", "red")
COLOURS = (*PLAIN, *(f"bright_{name}" for name in PLAIN))
# Control characters must not reach the terminal: they are shown as their symbols, carriage returns not at all.
PICTURES: dict[int, int | None] = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
PICTURES |= {0x0D: None, 0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
FACT = ("head", "relation", "tail", "score", "status")  # columns of a table of facts before the evidence
WIDTH = 80  # cells of a terminal
NARROW = 90  # cells; a narrower one shows short names of relations
FRAME = 3  # cells of the frame of a column
ROOM = 24  # least cells for a column of sentences


def colour(label: str) -> str:
    """The colour of a label, always the same."""
    return COLOURS[sum(label.encode()) % len(COLOURS)]


def shown(text: str) -> str:
    """Text that is safe to print on a terminal."""
    return text.translate(PICTURES)


def title(doc: Document) -> str:
    """The document's id and language."""
    return shown(f"{doc.id} ({doc.language or 'unknown language'})")


def highlight(doc: Document, *, colours: bool = True) -> Text:
    """The text, with mentions in the colour of their label and the label after them; nested ones are underlined.

    colours: whether they will be seen. If not, brackets show where a mention begins: 不屈[法国|location].
    """
    text = Text()
    coming = sorted(doc.mentions, key=lambda m: m.start, reverse=True)
    around: list[Mention] = []  # mentions that contain the current piece
    borders = sorted({0, len(doc.text), *(m.start for m in doc.mentions), *(m.end for m in doc.mentions)})
    for start, end in zip(borders, borders[1:], strict=False):
        while coming and coming[-1].start == start:
            around.append(coming.pop())
            text.append("[" if not colours else "")
        inner = min(around, key=_size, default=None)
        style = "" if inner is None else f"bold {colour(inner.type)}" + (" underline" if len(around) > 1 else "")
        text.append(shown(doc.text[start:end]), style=style)
        for m in sorted(around, key=_size):
            if m.end == end:
                text.append(shown(f"[{m.type}]" if colours else f"|{m.type}]"), style=f"dim {colour(m.type)}")
        around = [m for m in around if m.end > end]
    return text


def _size(mention: Mention) -> int:
    return mention.end - mention.start


def table(doc: Document) -> Table:
    """Every mention with its offsets, page and score, and what it was linked to in a store."""
    pages, links = pages_of(doc), {record["mention"]: record for record in doc.meta.get("links", ())}
    rows = Table(title=Text(title(doc)), title_justify="left")
    for column in (
        "start",
        "end",
        *(["page"] if pages else []),
        "mention",
        "type",
        "score",
        *(["link"] if links else []),
    ):
        rows.add_column(column, overflow="fold", justify="left" if column in ("mention", "type", "link") else "right")
    for m in doc.mentions:
        page = [str(page_of(pages, m.start) or "")] if pages else []
        label = Text(shown(m.type), style=colour(m.type))
        link = [_link(links.get(m.id))] if links else []
        rows.add_row(
            str(m.start), str(m.end), *page, Text(shown(m.text).replace("\n", " ")), label, show_score(m.score), *link
        )
    return rows


def _link(record: Mapping[str, Any] | None) -> Text:
    """The entity of a store that a mention was linked to, and how probable that is; empty if it is none."""
    if record is None or record["entity"] is None:
        return Text()
    name = f"{shown(record['name'])} ({record['link']})" if record.get("link") else shown(record["name"])
    return Text(name).append(f"  {show_score(record['score'])}", "dim")


def entities(doc: Document) -> Table:
    """Every entity with several mentions; the others are in the table of mentions."""
    mentions = {m.id: m for m in doc.mentions}
    rows = Table(title=Text(f"entities of {title(doc)}, named more than once"), title_justify="left")
    for column in ("entity", "type", "mentions"):
        rows.add_column(column, overflow="fold")
    for e in doc.entities:
        own = [mentions[id] for id in e.mentions]
        if len(own) > 1:
            places = ", ".join(f"{m.text} ({m.start}–{m.end})" for m in own)
            rows.add_row(_line(e.name or own[0].text), Text(shown(e.type), style=colour(e.type)), _line(places))
    return rows


def facts(doc: Document, width: int = WIDTH) -> Table:
    """Every fact with its entities, score, status and the sentences that support it.

    width: of the terminal. In a narrow one, relations have short names, whatever the facts, so that runs agree.
    """
    rows = Table(title=Text(f"facts of {title(doc)}"), title_justify="left")
    for column in (*FACT, "evidence"):
        rows.add_column(column, overflow="fold", justify="right" if column == "score" else "left")
    numbered = by_number(doc, width)
    for fact, cells in zip(doc.facts, _cells(doc), strict=True):
        if width < NARROW:
            cells[FACT.index("relation")] = _line(short_name(fact.relation))
        proof = " ".join(doc.text[slice(*doc.sentences[e.sentence])] for e in fact.evidence)
        if numbered:
            proof = ", ".join(str(e.sentence + 1) for e in fact.evidence)
        cells[FACT.index("relation")].stylize(colour(fact.relation))
        rows.add_row(*cells, _line(proof))
    return rows


def _cells(doc: Document) -> list[list[Text]]:
    """The cells of every fact for the columns of FACT. Arguments are shown by the names of their entities."""
    names = {e.id: e.name or doc.mention(e.mentions[0]).text for e in doc.entities}
    return [
        [
            _line(names[fact.head]),
            _line(fact.relation),
            _line(names[fact.tail] + "".join(f" ({q.role}: {names[q.entity]})" for q in fact.qualifiers)),
            _line(show_score(fact.score)),
            _status(doc, fact),
        ]
        for fact in doc.facts
    ]


def by_number(doc: Document, width: int = WIDTH) -> bool:
    """Whether facts refer to sentences by number, listed by `sentences`: where one fact has several, or where the other
    columns leave too little room for their texts."""
    proofs = {e.sentence for fact in doc.facts for e in fact.evidence}
    if not proofs or any(len(fact.evidence) > 1 for fact in doc.facts):
        return bool(proofs)
    longest = max(cell_len(_line(doc.text[slice(*doc.sentences[s])]).plain) for s in proofs)
    return width - _width(doc) - FRAME < min(longest, ROOM)


def _width(doc: Document) -> int:
    """The cells that the columns of FACT need, with their frame."""
    columns = zip(*_cells(doc), strict=True)
    widths = (
        max(cell_len(name), *(cell.cell_len for cell in cells)) for name, cells in zip(FACT, columns, strict=True)
    )
    return sum(width + FRAME for width in widths) + 1


def sentences(doc: Document) -> Table:
    """The sentences that support facts, by number."""
    rows = Table(title=Text(f"evidence of {title(doc)}"), title_justify="left")
    rows.add_column("", justify="right")
    rows.add_column("sentence", overflow="fold")
    for s in sorted({e.sentence for fact in doc.facts for e in fact.evidence}):
        rows.add_row(str(s + 1), _line(doc.text[slice(*doc.sentences[s])]))
    return rows


def events(doc: Document) -> Table:
    """Every event with its trigger, its arguments and its status."""
    texts = {m.id: m.text for m in doc.mentions}
    rows = Table(title=Text(f"events of {title(doc)}"), title_justify="left")
    for column in ("event", "trigger", "arguments", "score", "status"):
        rows.add_column(column, overflow="fold", justify="right" if column == "score" else "left")
    for event in doc.events:
        arguments = ", ".join(f"{a.role}: {texts[a.mention] if a.mention else a.event}" for a in event.arguments)
        rows.add_row(
            Text(shown(event.type), style=colour(event.type)),
            _line(texts[event.trigger] if event.trigger else ""),
            _line(arguments),
            show_score(event.score),
            _status(doc, event),
        )
    return rows


def _status(doc: Document, claim: Fact | Event) -> Text:
    """The assertion with its cue."""
    cue = "" if claim.cue is None else f" ({doc.text[claim.cue.start : claim.cue.end]})"
    return _line((claim.assertion or "") + cue)


def _line(text: str) -> Text:
    return Text(shown(text).replace("\n", " "))
