"""Names: the key and display name of an entity, and the spans of a text that could be names.

A pronoun can be a mention of an entity but never its name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from factpin.documents import Entity, Span
from factpin.documents.keys import name_key
from factpin.language.pronouns import is_pronoun
from factpin.memory.terms import CJK

MOST_WORDS = 4  # of a full name that stands for a part of it
MOST_UNITS = 12  # words or Chinese characters in a name

_UNIT = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_GAP = re.compile(r"[\s·・‧•.\-'’&/:：]{0,3}")  # allowed inside a name
_BRACKET = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")


class NameCount(NamedTuple):
    """How often an entity is mentioned by a surface form; `typed` if those mentions have a type."""

    entity: str
    type: str
    surface: str
    typed: bool
    mentions: int


def key_of(entity: Entity, surfaces: Sequence[str]) -> str:
    """The key that identifies an entity across documents: its link, its folded name, or its usual surface form."""
    return name_key(entity.name or _usual(surfaces), entity.link)


def _usual(surfaces: Sequence[str]) -> str:
    """The most frequent surface form that is not a pronoun; of equally frequent ones, the longest, then the first."""
    counts = Counter(text for text in surfaces if not is_pronoun(text)) or Counter(surfaces)
    return max(counts, key=lambda text: (counts[text], len(text)))


def surface_key(surface: str) -> str:
    """The lookup key of a surface form; "" for a pronoun."""
    return "" if is_pronoun(surface) else name_key(surface)


def title_key(title: str) -> str:
    """The lookup key of a title: `ed wood` for `Ed Wood (film)`."""
    return name_key(_BRACKET.sub("", title) or title) if title.strip() else ""


def ranked(counts: Iterable[NameCount]) -> list[str]:
    """The surface forms of an entity, best name first: with a type, then more frequent, then alphabetical.

    A name that goes on is better than its first or last word alone: Paula Fürst, not Paula.
    """
    typed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row in counts:
        total[row.surface] += row.mentions
        typed[row.surface] += row.mentions if row.typed else 0
    names = sorted(total, key=lambda surface: (-typed[surface], -total[surface], surface))
    whole = next((name for name in names if names and _goes_on(name, names[0])), None)
    return names if whole is None else [whole, *(name for name in names if name != whole)]


def _goes_on(name: str, part: str) -> bool:
    """Whether a name of two to four capitalised words begins or ends with another one of one word."""
    words = name.split()
    capitals = all(word[0].isupper() for word in words)
    return 1 < len(words) <= MOST_WORDS and capitals and part in (words[0], words[-1])


def spans_of_names(text: str) -> Iterator[Span]:
    """Every span of a text that could be a name: up to 12 adjacent words or Chinese characters."""
    units = [m.span() for m in _UNIT.finditer(text)]
    for i, (start, _) in enumerate(units):
        for j in range(i, min(i + MOST_UNITS, len(units))):
            if j > i and not _GAP.fullmatch(text, units[j - 1][1], units[j][0]):
                break
            yield Span(start, units[j][1])


def longest_first(spans: Sequence[Span]) -> list[Span]:
    """Order spans by length, longest first; equal lengths in the order of the text."""
    return sorted(set(spans), key=lambda span: (span.start - span.end, span.start))
