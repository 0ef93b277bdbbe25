"""Labels of events: the classes that a model of events predicts."""

from collections.abc import Iterable
from dataclasses import dataclass

from factpin.documents import Document

Classes = tuple[tuple[str, str | None], ...]  # (event type, role); the role of a trigger is None


@dataclass(frozen=True)
class Labels:
    """The classes that a model predicts. A class is an event type and a role: triggers first, then arguments."""

    triggers: tuple[str, ...]  # event types whose triggers are annotated; none: events have no triggers
    roles: tuple[tuple[str, str], ...]  # (event type, role)

    @property
    def classes(self) -> Classes:
        """The classes as (event type, role); the role of a trigger is None."""
        return (*((type, None) for type in self.triggers), *self.roles)

    @property
    def names(self) -> tuple[str, ...]:
        """One name a class: "type" for a trigger, "type.role" for an argument."""
        return (*self.triggers, *(f"{type}.{role}" for type, role in self.roles))

    @property
    def types(self) -> tuple[str, ...]:
        """The event types, in alphabetical order."""
        return tuple(sorted({type for type, _ in self.classes}))


def labels_of(documents: Iterable[Document], *, triggers: bool = True) -> Labels:
    """The labels that these documents need, in alphabetical order; without `triggers` only those of arguments."""
    types, roles = set[str](), set[tuple[str, str]]()
    for doc in documents:
        for event in doc.events:
            if triggers and event.trigger is not None:
                types.add(event.type)
            roles |= {(event.type, a.role) for a in event.arguments if a.mention is not None}
    return Labels(tuple(sorted(types)), tuple(sorted(roles)))


def may_link(a: tuple[str, str | None], b: tuple[str, str | None]) -> bool:
    """Whether spans of these two classes can be in one event."""
    return a[0] == b[0] and not (a[1] is None and b[1] is None)
