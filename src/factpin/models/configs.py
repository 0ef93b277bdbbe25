"""The config of a head from the values of factpin.json, which may be of any type: a wrong one is a TypeError."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def config_from(config_type: type[Any], values: dict[str, Any]) -> Any:
    """A config with these values. JSON's lists are the tuples that they were."""
    hints = get_type_hints(config_type)
    given = {name: _tuples(value) for name, value in values.items()}
    wrong = next((name for name, value in given.items() if name in hints and not _fits(value, hints[name])), None)
    if wrong is not None:
        raise TypeError(f"{wrong} is {given[wrong]!r}")
    return config_type(**given)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; an int will do where a float is expected, a bool is no number."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        each = inner[0] if len(inner) == 2 and inner[1] is Ellipsis else None
        return isinstance(value, tuple) and (each is None or all(_fits(item, each) for item in value))
    if hint is float:
        return type(value) in (int, float)
    if hint in (bool, int, str, NoneType):
        return isinstance(value, hint) and (hint is bool or type(value) is not bool)
    return True
