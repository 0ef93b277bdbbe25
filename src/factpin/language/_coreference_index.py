"""Which names of a document are worth comparing, so that the work grows with the text and not with its square.

    ShortForms(names).longer(short)         names that `part_of` may accept as the long form of `short`
    Abbreviations(names).by_initials(short) names that `initials` may accept
    Abbreviations(names).by_characters(short)  names that `shortened` may accept

Names come in their order in the document. No long form is missing; the tests of _coreference_forms decide.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from factpin.language._coreference_forms import (
    SHORT,
    capitals,
    first_letters,
    full_name,
    spelled,
    surname_of,
    untitled,
    without_country,
)
from factpin.language._coreference_names import Name

LAST = "\U0010ffff"  # sorts after every other character
WORDS = 3  # of an English name that are looked up

Index = dict[str, list[Name]]


class ShortForms:
    """Full names by what a short form of them looks like."""

    def __init__(self, names: Sequence[Name]) -> None:
        self.words: Index = {}  # English names, by each of their words
        self.parts: Index = {}  # Chinese names with dots, by each part
        self.surnames: Index = {}  # Chinese full names, by their first character, and by the first two
        self.given: Index = {}  # Chinese full names, by their last two characters
        starts: list[tuple[str, int, Name]] = []  # Chinese names, with and without 中国 and similar words
        for name in names:
            if name.kind == "name" and name.chinese:
                self._add_chinese(name)
                starts += [(key, name.index, name) for key in (name.key, *without_country(name.key))]
            elif name.kind == "name":
                _add(self.words, name.words, name)
        starts.sort(key=lambda start: start[:2])
        self.starts, self.keys = starts, [key for key, _, _ in starts]

    def _add_chinese(self, name: Name) -> None:
        if len(name.words) > 1:
            _add(self.parts, name.words, name)
        elif full_name(bare := untitled(name.key)):
            _add(self.surnames, (bare[:1], bare[:2]), name)
            _add(self.given, (bare[-2:],), name)

    def longer(self, short: Name) -> list[Name]:
        """Names that may be long forms of a name."""
        if not short.chinese:
            return _united(self.words.get(word, ()) for word in short.words[:WORDS])
        key = short.key
        surname = key if len(key) == 1 else surname_of(key)
        found = [self.parts.get(untitled(key), ()), self.surnames.get(surname, ()), self.given.get(key, ())]
        return _united((*found, self._starting(key) if len(key) > 1 else ()))

    def _starting(self, key: str) -> list[Name]:
        low, high = bisect_left(self.keys, key), bisect_left(self.keys, key + LAST)
        return [name for _, _, name in self.starts[low:high]]


class Abbreviations:
    """Names by what an abbreviation of them looks like."""

    def __init__(self, names: Sequence[Name]) -> None:
        self.spelled: Index = {}  # by the first letters of their words
        self.pairs: Index = {}  # Chinese names, by their first character and each later one
        self.letters: dict[int, set[str]] = {}  # the letters that a short form of each name may begin with
        for name in names:
            self.letters[name.index] = first_letters(name)
            _add(self.spelled, spelled(name), name)
            if name.chinese:
                starts = (name.key, *without_country(name.key))
                _add(self.pairs, (start[0] + other for start in starts for other in start[1:]), name)

    def by_initials(self, short: Name) -> list[Name]:
        """Names of which a name may be the first letters."""
        letters = capitals(short)
        return [name for name in self.spelled.get(letters, ()) if letters and self._begins(short, name)]

    def by_characters(self, short: Name) -> list[Name]:
        """Names of which a Chinese name may be some characters."""
        if not short.chinese or short.thing not in ("organisation", ""):
            return []
        keys = [key for key in (short.key, *without_country(short.key)) if SHORT[0] <= len(key) <= SHORT[1]]
        return [name for name in _united(self.pairs.get(key[:2], ()) for key in keys) if self._begins(short, name)]

    def _begins(self, short: Name, long: Name) -> bool:
        return short.key[:1] in self.letters[long.index]


def _add(index: Index, keys: Iterable[str], name: Name) -> None:
    for key in {*keys}:
        index.setdefault(key, []).append(name)


def _united(lists: Iterable[Iterable[Name]]) -> list[Name]:
    """The names of several lists, each once, in their order in the document."""
    found = {name.index: name for names in lists for name in names}
    return [found[index] for index in sorted(found)]
