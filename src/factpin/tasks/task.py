"""Task: what the program knows about a task apart from how it is computed, in one place."""

from dataclasses import dataclass, field
from typing import Literal

Asks = Literal["text", "mentions", "entities"]
Finds = Literal["mentions", "facts", "events", "entities"]
Labels = Literal["types", "relations", "event types"]


@dataclass(frozen=True)
class Task:
    """A task by its name, with the words in which tables, cards and notes speak about it."""

    name: str
    alias: str  # a short name that users of this field know
    heads: tuple[str, ...]  # that can be trained for it, the default first
    finds: Finds
    strict: str  # what is right under the convention `strict`, for a card
    asks: Asks = "text"  # what a document must bring: a text, or annotation beside it
    labels: Labels | None = None  # what its labels are called
    conventions: dict[str, str] = field(default_factory=dict)  # what each convention of its scores counts as right
