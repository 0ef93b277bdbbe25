"""Typed access to a decoded JSON record: each function gives the value, or a BadDocument that names the field."""

from collections.abc import Mapping
from typing import Any

from factpin.errors import BadDocument

KINDS = {dict: "an object", list: "a list", str: "a string", int: "a whole number", float: "a number",
         bool: "true or false", type(None): "null"}  # fmt: skip


def get_str(record: Mapping[str, Any], key: str, where: str = "", default: str | None = None) -> str:
    """A string; absent is `default`, or an error where there is none."""
    return as_str(_value(record, key, where, default), path(where, key))


def get_int(record: Mapping[str, Any], key: str, where: str = "") -> int:
    """A whole number (no boolean, no float)."""
    return as_int(_value(record, key, where, None), path(where, key))


def get_list(record: Mapping[str, Any], key: str, where: str = "", default: list[Any] | None = None) -> list[Any]:
    """A list."""
    return as_list(_value(record, key, where, default), path(where, key))


def get_dict(record: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
    """An object."""
    return as_dict(_value(record, key, where, None), path(where, key))


def get_score(record: Mapping[str, Any], key: str = "score", where: str = "") -> float | None:
    """A number, or None where it is absent or null."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, path(where, key), "a number")
    try:
        return float(value)
    except OverflowError:
        raise wrong(value, path(where, key), "a number that a computer can hold") from None


def as_str(value: Any, where: str) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise wrong(value, where, "a string")
    return value


def as_int(value: Any, where: str) -> int:
    """`value` if it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(value, where, "a whole number")
    return value


def as_list(value: Any, where: str) -> list[Any]:
    """`value` if it is a list."""
    if not isinstance(value, list):
        raise wrong(value, where, "a list")
    return value


def as_dict(value: Any, where: str) -> dict[str, Any]:
    """`value` if it is an object."""
    if not isinstance(value, dict):
        raise wrong(value, where, "an object")
    return value


def wrong(value: Any, where: str, expected: str) -> BadDocument:
    """The error for a value of the wrong kind."""
    try:
        shown = repr(value)
    except (RecursionError, ValueError):  # nested a thousand deep, or a number of thousands of digits
        shown = "too large to show"
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    came = KINDS.get(type(value), type(value).__name__)
    return BadDocument(f"expected {expected}, came {came}: {shown}. Correct the field.", field=where)


def path(where: str, key: str) -> str:
    """The field's place: path("mentions[3]", "end") -> "mentions[3].end"."""
    return f"{where}.{key}" if where else key


def _value(record: Mapping[str, Any], key: str, where: str, default: Any) -> Any:
    try:
        return record[key]
    except KeyError:
        if default is not None:
            return default
        near = ", ".join(list(record)[:8]) or "none"
        raise BadDocument(f"the field {key!r} is missing; the record has: {near}.", field=path(where, key)) from None
