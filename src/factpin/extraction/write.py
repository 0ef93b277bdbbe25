"""Write documents for other programs and for people: CSV, HTML and lists of triples.

Each writes one file, completely or not at all, and returns what it could not hold. The formats of corpora, which can be
read back, are in `formats`.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from html import escape
from pathlib import Path

from factpin import files
from factpin.documents import Document
from factpin.documents.html import STYLE, content
from factpin.extraction.tables import TABLES, is_asserted, triples

Lost = Counter[str]
HEAD = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>factpin</title>
<style>{style}
.factpin h2 {{ font-size: 1.1em; margin: 0 0 0.5em; }}</style>
</head>
<body>
"""


def write_csv(documents: Iterable[Document], path: Path, only: Collection[str] = ()) -> Lost:
    """One table: of facts, or of the part that `only` names. A byte order mark tells spreadsheets that it is UTF-8."""
    (part,) = only or ("facts",)
    columns, rows = TABLES[part]
    lost: Lost = Counter()
    with files.write_bytes(path) as stream:
        stream.write(("\ufeff" if str(path) != "-" else "").encode() + _csv_line(columns))
        for doc in documents:
            for row in rows(doc):
                stream.write(_csv_line(row))
            lost["events"] += len(doc.events) if part != "events" else 0
            lost["facts"] += len(doc.facts) if part != "facts" else 0
            lost["mentions"] += _loose(doc) if part == "facts" else 0
    return +lost


def write_triples(documents: Iterable[Document], path: Path, only: Collection[str] = ()) -> Lost:  # noqa: ARG001
    """A line for each fact that the text asserts: head, relation and tail, separated by tabs."""
    lost: Lost = Counter()
    with files.write_bytes(path) as stream:
        for doc in documents:
            for triple in triples(doc):
                stream.write("\t".join(" ".join(field.split()) for field in triple).encode() + b"\n")
            for fact in doc.facts:
                lost[f"{fact.assertion} facts"] += not is_asserted(fact)
            lost["events"] += len(doc.events)
    return +lost


def write_html(documents: Iterable[Document], path: Path, only: Collection[str] = ()) -> Lost:  # noqa: ARG001
    """A page with every document: its text with mentions marked, and tables of facts and events. It loads nothing."""
    with files.write_bytes(path) as stream:
        stream.write(HEAD.format(style=STYLE).encode())
        for doc in documents:
            spoken = f' lang="{escape(doc.language)}"' if doc.language else ""
            body = content(doc.text, doc.mentions, doc.facts, doc.events)
            section = f'<section class="factpin"{spoken}>\n<h2>{escape(doc.id)}</h2>\n{body}\n</section>\n'
            stream.write(section.encode("utf-8", "replace"))
        stream.write(b"</body>\n</html>\n")
    return Counter()


WRITERS: dict[str, Callable[[Iterable[Document], Path, Collection[str]], Lost]] = {
    "csv": write_csv,
    "html": write_html,
    "triples": write_triples,
}


def _loose(doc: Document) -> int:
    """How many mentions belong to no fact."""
    ends = {end for fact in doc.facts for end in (fact.head, fact.tail)}
    return len(doc.mentions) - len({id for e in doc.entities if e.id in ends for id in e.mentions})


def _csv_line(row: Iterable[object]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(row)
    return out.getvalue().encode("utf-8", "replace")
