"""Known phrases and entities: reads a file of them, and finds their places in a text.

    旧金山<tab>entity
    出生于<tab>phrase
    in spite of

One entry a line, its kind behind a tab. An entry without a kind is both: where none has one, phrases and entities are
the same spans, and rows that hide the ones (ernie_phrase) or the others (ernie_entity) ask the same.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from factpin.errors import BadFile
from factpin.files import lines
from factpin.objectives.text import Spans
from factpin.tokens.lexicon import FIRST, Lexicon

KINDS = ("phrase", "entity")


class Units(Protocol):
    """What finds phrases and entities: those of a file, or those of rules (`chunks`)."""

    def find(self, text: str) -> tuple[Spans | None, Spans | None]: ...


@dataclass(frozen=True, eq=False)
class KnownPhrases:
    """Phrases and entities, and where they occur in a text."""

    phrases: Lexicon | None  # None: the file names none
    entities: Lexicon | None

    @classmethod
    def load(cls, path: Path) -> "KnownPhrases":
        found: dict[str, set[str]] = {kind: set() for kind in KINDS}
        for number, line in lines(path):
            entry, _, kind = (part.strip() for part in line.partition("\t"))
            if kind and kind not in KINDS:
                raise BadFile(f"{path}, line {number}: {kind!r} after the tab; expected phrase or entity, or no tab "
                              "if the entry is both.")  # fmt: skip
            if not kind and entry.endswith(tuple(f"{gap}{name}" for gap in " ,，;；|" for name in KINDS)):
                raise BadFile(f"{path}, line {number}: {entry!r} ends in the name of a kind; expected a tab before it.")
            if len(entry) >= FIRST:
                for one in (kind,) if kind else KINDS:
                    found[one].add(entry)
        if not any(found.values()):
            raise BadFile(f"{path}: no entry. Expected one entry per line, of two characters or more.")
        phrases, entities = (Lexicon(found[kind]) if found[kind] else None for kind in KINDS)
        return cls(phrases, phrases if found["phrase"] == found["entity"] else entities)

    @property
    def same(self) -> bool:
        """Whether phrases and entities are the same spans."""
        return self.phrases is self.entities

    def find(self, text: str) -> tuple[Spans | None, Spans | None]:
        """Half-open characters of the phrases and of the entities; None for a kind that the file does not name."""
        phrases = self.phrases.find(text) if self.phrases is not None else None
        if self.same:
            return phrases, phrases
        return phrases, self.entities.find(text) if self.entities is not None else None
