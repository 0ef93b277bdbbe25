"""Typed access to a decoded JSON record: each function returns the value or raises a BadDocument with the field."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from factpin.errors import BadDocument

T = TypeVar("T")

KINDS = {dict: "an object", list: "a list", str: "a string", int: "a whole number", float: "a number",
         bool: "true or false", type(None): "null"}  # fmt: skip


def get_str(record: Mapping[str, Any], key: str, where: str = "", default: str | None = None) -> str:
    """A string, or `default` if the field is absent; an error without a default."""
    value = record.get(key, default)
    if not isinstance(value, str):
        raise _unfit(record, key, where, "a string")
    return value


def get_int(record: Mapping[str, Any], key: str, where: str = "") -> int:
    """An integer; booleans and floats are errors."""
    value = record.get(key)
    if type(value) is not int:  # a boolean is an int too
        raise _unfit(record, key, where, "a whole number")
    return value


def get_list(record: Mapping[str, Any], key: str, where: str = "", default: list[Any] | None = None) -> list[Any]:
    """A list."""
    value = record.get(key, default)
    if not isinstance(value, list):
        raise _unfit(record, key, where, "a list")
    return value


def get_dict(record: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
    """An object."""
    value = record.get(key)
    if not isinstance(value, dict):
        raise _unfit(record, key, where, "an object")
    return value


def get_score(record: Mapping[str, Any], key: str = "score", where: str = "") -> float | None:
    """A number, or None if absent or null."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, path(where, key), "a number")
    try:
        return float(value)
    except OverflowError:
        raise wrong(value, path(where, key), "a number in the range of a float") from None


def as_str(value: Any, where: str) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise wrong(value, where, "a string")
    return value


def as_int(value: Any, where: str) -> int:
    """`value` if it is an integer."""
    if type(value) is not int:  # a boolean is an int too
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


def as_strings(value: Any, where: str) -> list[str]:
    """`value` if it is a list of strings."""
    strings = as_list(value, where)
    if set(map(type, strings)) != {str}:
        for item in strings:
            as_str(item, where)
    return strings


def each(values: list[Any], where: str, parse: Callable[[Any, int], T]) -> list[T]:
    """parse(value, index) for every value. Errors that name a field of the value also get the place of the value."""
    parsed: list[T] = []
    try:
        for i, value in enumerate(values):
            parsed.append(parse(value, i))
    except BadDocument as problem:
        problem.field = path(f"{where}[{len(parsed)}]", problem.field)
        raise
    return parsed


def wrong(value: Any, where: str, expected: str) -> BadDocument:
    """The error for a value of the wrong kind."""
    try:
        shown = repr(value)
    except (RecursionError, ValueError):  # thousands of nested levels, or of digits
        shown = "too large to show"
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    kind = KINDS.get(type(value), type(value).__name__)
    return BadDocument(f"expected {expected}, got {kind}: {shown}. Correct the field.", field=where)


def path(where: str, key: str) -> str:
    """The path of a field: path("mentions[3]", "end") -> "mentions[3].end"."""
    return f"{where}.{key}" if where and key and not key.startswith("[") else where + key


def _unfit(record: Mapping[str, Any], key: str, where: str, expected: str) -> BadDocument:
    """The error for a field that is missing or of the wrong kind."""
    if key in record:
        return wrong(record[key], path(where, key), expected)
    near = ", ".join(list(record)[:8]) or "none"
    return BadDocument(f"the field {key!r} is missing; the record has: {near}.", field=path(where, key))
