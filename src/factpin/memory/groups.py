"""Entities joined by hand: groups of keys, each shown under the smallest."""

from collections.abc import Iterable


class Groups:
    """Groups of keys that are one entity. A key that was not joined is a group of its own."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        parent: dict[str, str] = {}
        for a, b in pairs:
            first, second = sorted((_root(parent, a), _root(parent, b)))
            parent[second] = first
        self._members: dict[str, list[str]] = {}
        for id in sorted(parent):
            self._members.setdefault(_root(parent, id), []).append(id)
        self._first = {id: first for first, ids in self._members.items() for id in ids}

    def first(self, id: str) -> str:
        """The key that an entity is shown under."""
        return self._first.get(id, id)

    def members(self, id: str) -> tuple[str, ...]:
        """All keys of an entity."""
        return tuple(self._members.get(self.first(id), (id,)))

    def joined(self) -> tuple[str, ...]:
        """Every key that was joined with another."""
        return tuple(self._first)


def _root(parent: dict[str, str], id: str) -> str:
    parent.setdefault(id, id)
    while parent[id] != id:
        id = parent[id]
    return id
