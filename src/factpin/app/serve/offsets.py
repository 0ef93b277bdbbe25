"""Documents with offsets in UTF-16 units, for clients in JavaScript."""

from typing import Any

from factpin.formats._utf16 import Turn, to_utf16

PAIRS = ("cue",)  # fields that are a pair [start, end]
LISTS = ("sentences", "read", "pages")  # fields that are lists of such pairs
ENDS = ("start", "end")


def in_utf16(record: dict[str, Any]) -> dict[str, Any]:
    """The record of a native document, with every offset in UTF-16 units."""
    turn = to_utf16(record["text"])
    turned = {key: value if key == "meta" else _turned(key, value, turn) for key, value in record.items()}
    if "pages" in (meta := record.get("meta", {})):
        turned["meta"] = {**meta, "pages": _turned("pages", meta["pages"], turn)}
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
