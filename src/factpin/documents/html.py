"""Show a document as HTML: the text with its mentions underlined, and its facts and events as tables.

The page loads nothing else: no scripts, no fonts. Mentions can nest and cross. Each has its own line with its type
below the text, and the lines of overlapping mentions are stacked. Labels are drawn by the style sheet, so that what you
select and copy is exactly the text of the document.
"""

import unicodedata
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from html import escape
from zlib import crc32

from factpin.documents.facts import Event, Fact
from factpin.documents.mentions import Mention, name_of, show_score

LABEL = 0.7  # width of a letter in a label, relative to one in the text
STYLE = """
.factpin { --ink: #1c1e21; --paper: #ffffff; --rule: #d8dce2; --soft: #5c6470; --light: 40%;
  color: var(--ink); background: var(--paper); font-family: system-ui, sans-serif; font-size: 15px; padding: 1em; }
@media (prefers-color-scheme: dark) {
  .factpin { --ink: #e6e8eb; --paper: #17191c; --rule: #3a3f47; --soft: #a2abb8; --light: 68%; } }
.factpin .text { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; margin: 0;
  line-height: calc(2.1em + var(--lanes) * 1.1em); }
.factpin .on { padding-bottom: calc(3px + var(--lane) * 1.1em);
  border-bottom: 2px solid hsl(var(--hue) 60% var(--light)); }
.factpin .label { position: relative; }
.factpin .label::after { content: attr(data-type); position: absolute; left: 0; white-space: nowrap;
  top: calc(1.75em + var(--lane) * 1.57em); font-size: 0.7em; line-height: 1; color: hsl(var(--hue) 60% var(--light)); }
.factpin table { border-collapse: collapse; margin-top: 1em; }
.factpin th, .factpin td { text-align: left; vertical-align: top; padding: 0.3em 0.9em 0.3em 0;
  border-bottom: 1px solid var(--rule); unicode-bidi: isolate; overflow-wrap: anywhere; }
.factpin th { font-weight: 600; color: var(--soft); }
.factpin .relation { color: hsl(var(--hue) 60% var(--light)); }
.factpin .quote, .factpin .type { color: var(--soft); }
"""


def page(title: str, language: str | None, body: str) -> str:
    """A whole page."""
    spoken = f' lang="{_safe(language)}"' if language else ""
    return (
        f'<!doctype html>\n<html{spoken}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{_safe(title)}</title>\n'
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def fragment(text: str, mentions: Sequence[Mention], facts: Sequence[Fact], events: Sequence[Event]) -> str:
    """One document as a fragment of a page, with its style."""
    return f'<div class="factpin">\n<style>{STYLE}</style>\n{content(text, mentions, facts, events)}\n</div>'


def content(text: str, mentions: Sequence[Mention], facts: Sequence[Fact], events: Sequence[Event]) -> str:
    """The marked text and the tables of one document, for an element of the class `factpin`."""
    parts = [marked_text(text, mentions)]
    if facts:
        parts.append(_table(("head", "relation", "tail", "score", "status", "evidence"), map(_fact, facts)))
    if events:
        parts.append(_table(("event", "trigger", "arguments", "score", "status"), map(_event, events)))
    return "\n".join(parts)


def marked_text(text: str, mentions: Sequence[Mention]) -> str:
    """The text, split at the borders of mentions; each piece is wrapped in one element for each of its mentions."""
    lanes = find_lanes(mentions)
    coming = sorted(mentions, key=lambda m: m.start, reverse=True)
    around: list[Mention] = []
    borders = sorted({0, len(text), *(m.start for m in mentions), *(m.end for m in mentions)})
    pieces = []
    for start, end in zip(borders, borders[1:], strict=False):
        around = [m for m in around if m.end > start]
        while coming and coming[-1].start == start:
            around.append(coming.pop())
        piece = _safe(text[start:end])
        for m in sorted(around, key=lambda m: lanes[m.id]):
            style = f'style="--lane: {lanes[m.id]}; --hue: {_hue(m.type)}"'
            label = f'<span class="label" {style} data-type="{_safe(_label(m))}"></span>' if m.start == start else ""
            piece = f'<span class="on" {style} title="{_safe(_tip(m))}">{label}{piece}</span>'
        pieces.append(piece)
    most = 1 + max(lanes.values(), default=-1)
    return f'<p class="text" style="--lanes: {most}">{"".join(pieces)}</p>'


def find_lanes(mentions: Iterable[Mention]) -> dict[str, int]:
    """Mention id -> its line below the text, from 0: the first with room for the mention and its label.

    Short mentions come first, so that an inner mention is closer to the text than the one around it.
    """
    taken: list[list[tuple[int, int]]] = []  # for each lane, the occupied ranges in order
    lanes: dict[str, int] = {}
    for m in sorted(mentions, key=lambda m: (m.end - m.start, m.start)):
        span = (m.start, max(m.end, m.start + _room(m)))
        lane = next((i for i, spans in enumerate(taken) if _is_free(spans, span)), len(taken))
        if lane == len(taken):
            taken.append([])
        insort(taken[lane], span)
        lanes[m.id] = lane
    return lanes


def _is_free(spans: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    at = bisect_left(spans, span)
    before_ends = at == 0 or spans[at - 1][1] <= span[0]
    return before_ends and (at == len(spans) or spans[at][0] >= span[1])


def _room(m: Mention) -> int:
    """The approximate width of a label, in characters of the text."""
    width = sum(_cells(char) for char in _label(m)) * LABEL
    return round(width / max(map(_cells, m.text), default=1))


def _cells(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _label(m: Mention) -> str:
    return m.type or "mention"


def _tip(m: Mention) -> str:
    score = show_score(m.score)
    return f"{_label(m)}, {m.start}–{m.end}" + (f", score {score}" if score else "")


def _fact(fact: Fact) -> list[str]:
    """The cells of the row of a fact."""
    further = "".join(f" ({q.role}: {name_of(q.entity, fact.source)})" for q in fact.qualifiers)
    ends = [f'{_safe(id.name)} <span class="type">{_safe(id.type)}</span>' for id in (fact.head, fact.tail)]
    relation = f'<span class="relation" style="--hue: {_hue(fact.relation)}">{_safe(fact.relation)}</span>'
    quotes = "<br>".join(f'<span class="quote">{_safe(e.quote)}</span>' for e in fact.evidence)
    return [ends[0], relation, ends[1] + _safe(further), show_score(fact.score), _safe(fact.assertion or ""), quotes]


def _event(event: Event) -> list[str]:
    """The cells of the row of an event."""
    arguments = "<br>".join(f'<span class="type">{_safe(a.role)}</span> {_safe(a.text)}' for a in event.arguments)
    kind = f'<span class="relation" style="--hue: {_hue(event.type)}">{_safe(event.type)}</span>'
    return [kind, _safe(event.text), arguments, show_score(event.score), _safe(event.assertion or "")]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in columns)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _hue(label: str) -> int:
    """A fixed colour for each label."""
    return crc32(label.encode()) % 24 * 15


def _safe(text: str) -> str:
    """Escape text for HTML, including carriage returns, which parsers would turn into line feeds."""
    return escape(text).replace("\r", "&#13;")
