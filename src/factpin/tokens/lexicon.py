"""Lexicon: find known names and phrases in a text, as half-open (start, end) characters.

From left to right, the longest matching entry; Latin entries only match whole words. Matches never overlap.
"""

import re
from collections.abc import Iterable

FIRST = 2  # characters by which entries are looked up
_SPACED = re.compile(r"[^\W_\u3005-\u3007\u3041-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


class Lexicon:
    """Entries to find in texts."""

    def __init__(self, entries: Iterable[str]) -> None:
        """Entries of one character are left out."""
        found: dict[str, set[str]] = {}
        for entry in entries:
            if len(entry) >= FIRST:
                found.setdefault(entry[:FIRST], set()).add(entry)
        self._entries = {key: sorted(group, key=lambda e: (-len(e), e)) for key, group in found.items()}

    def find(self, text: str) -> list[tuple[int, int]]:
        found, at = [], 0
        while at < len(text) - 1:
            end = self._at(text, at)
            if end > at:
                found.append((at, end))
            at = max(end, at + 1)
        return found

    def _at(self, text: str, at: int) -> int:
        """The end of the longest entry at this place, or `at`."""
        for entry in self._entries.get(text[at : at + FIRST], ()):
            end = at + len(entry)
            if text.startswith(entry, at) and not _inside(text, at) and not _inside(text, end):
                return end
        return at


def _inside(text: str, border: int) -> bool:
    """Whether a border cuts a word of a spaced language in two."""
    pair = text[max(0, border - 1) : border + 1]
    return border > 0 and len(pair) == 2 and all(_SPACED.match(char) for char in pair)
