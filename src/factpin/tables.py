"""Tables of names whose values are imported when they are asked for, so that a program loads only what it uses."""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class Table(MutableMapping[str, T]):
    """Names and values. A value is given as its place, `module` or `module:NAME`, or is set as it is."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._values: dict[str, Any] = dict.fromkeys(places)
        self._places = dict(places)

    def __getitem__(self, name: str) -> T:
        value = self._values[name]
        if value is None:
            module, _, attribute = self._places[name].partition(":")
            value = import_module(module)
            value = self._values[name] = getattr(value, attribute) if attribute else value
        found: T = value
        return found

    def __setitem__(self, name: str, value: T) -> None:
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values  # without importing the value
