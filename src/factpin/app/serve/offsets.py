"""Documents with offsets in UTF-16 units, for clients in JavaScript."""

from typing import Any

from factpin.documents import Document, to_json
from factpin.extraction.pdf import pages_of
from factpin.formats._utf16 import Turn, to_utf16

PAIRS = ("cue",)  # fields that are a pair [start, end]
LISTS = ("sentences", "read")  # fields that are lists of such pairs
ENDS = ("start", "end")


def in_utf16(doc: Document) -> dict[str, Any]:
    """The record of a document, with every offset in UTF-16 units."""
    record, turn = to_json(doc), to_utf16(doc.text)
    turned = {key: value if key == "meta" else _turned(key, value, turn) for key, value in record.items()}
    pages = pages_of(doc)
    if pages and all(0 <= border <= len(doc.text) for page in pages for border in page):
        turned["meta"] = {**turned["meta"], "pages": [[turn(border) for border in page] for page in pages]}
    return turned


def _turned(key: str, value: Any, turn: Turn) -> Any:
    if key in ENDS:
        return turn(value)
    if key in PAIRS:
        return [turn(border) for border in value]
    if key in LISTS:
        return [[turn(border) for border in pair] for pair in value]
    if isinstance(value, dict):
        return {inner: _turned(inner, part, turn) for inner, part in value.items()}
    if isinstance(value, list):
        return [_turned("", part, turn) for part in value]
    return value
