"""What a long run reports while it goes: callbacks, so that no room below the commands knows about terminals."""

from collections.abc import Callable
from dataclasses import dataclass


def _ignore(*_: object) -> None:
    pass


@dataclass(frozen=True)
class Progress:
    """Functions that a run calls; each does nothing by default."""

    start: Callable[[int | None], None] = _ignore  # models are loaded; the number of documents, where it is known
    advance: Callable[[], None] = _ignore  # one more document is done
    warn: Callable[[str], None] = _ignore  # something the user should know


SILENT = Progress()
