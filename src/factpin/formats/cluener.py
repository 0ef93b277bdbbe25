"""CLUENER: one JSON object per line, {"text": …, "label": {type: {surface: [[start, end], …]}}}. Ends are INCLUSIVE.

A record is one sentence. The unlabelled test file ({"id", "text"}) is read as documents without mentions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from factpin.documents import Document, Mention, Span
from factpin.documents.fields import as_dict, as_int, as_list, get_str, wrong
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses, write_json_lines

HOLDS = frozenset({"mentions", "types", "overlaps", "same spans", "meta"})
ENDING = ".json"
FIELDS = {"id", "text", "label"}


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per line, with its mentions in the order of the text."""
    return reading.json_lines(lambda record, line: _document(record, reading.default_id(line)))


def _document(value: Any, default_id: str) -> Document:
    record = as_dict(value, "")
    text = get_str(record, "text")
    spans = []
    for type, surfaces in as_dict(record.get("label") or {}, "label").items():
        for surface, places in as_dict(surfaces, f"label.{type}").items():
            where = f"label.{type}.{surface}"
            for place in as_list(places, where):
                if len(as_list(place, where)) != 2:
                    raise wrong(place, where, "a pair [first character, last character]")
                first, last = place
                spans.append((as_int(first, where), as_int(last, where) + 1, type, surface))
    spans.sort()
    id = record.get("id", default_id)
    return Document(
        id=id if isinstance(id, str) else str(as_int(id, "id")),
        text=text,
        sentences=(Span(0, len(text)),) if text else (),
        mentions=tuple(
            [Mention(f"m{i}", start, end, surface, type) for i, (start, end, type, surface) in enumerate(spans)]
        ),
        meta={key: value for key, value in record.items() if key not in FIELDS},
    )


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write one line per document."""
    write_json_lines(path, map(_record, documents))


def _record(doc: Document) -> dict[str, Any]:
    label: dict[str, dict[str, list[list[int]]]] = {}
    for m in doc.mentions:
        places = label.setdefault(m.type, {}).setdefault(m.text, [])
        places.append([m.start, m.end - 1])
    return {**doc.meta, "id": doc.id, "text": doc.text, "label": label}


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count what CLUENER cannot hold."""
    lost = losses(doc, HOLDS)
    lost["meta"] += sum(key in FIELDS for key in doc.meta)  # a field of the record has the same name
    return +lost


def fits(head: Head) -> bool:
    """Whether a line has a text and a label that is an object of objects."""
    record = head.record
    if not isinstance(record, dict) or head.is_list or not isinstance(record.get("label"), dict):
        return False
    return isinstance(record.get("text"), str) and all(isinstance(v, dict) for v in record["label"].values())
