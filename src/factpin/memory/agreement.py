"""Whether two answers to one question agree, because one is more exact: Lyon and Lyon, France; 2003 and 2003-09-03;
a city and the country that it lies in.

A city and a country are taken to agree: without a map nobody can say that they do not.
"""

import re

from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.language.countries import region_size
from factpin.memory.nouns import Pin, StoredEntity, StoredFact

_BETWEEN = re.compile(r",\s*")  # English: the smaller place first; in Chinese the larger one, with nothing between
_APART = re.compile(r"[\s,\-–—·/年月日号]+")
_YEAR = re.compile(r"\d{4}")
_DIGIT = re.compile(r"\d")
_PERSON = {"person", "per", "人物", "人名"}


def agree(a: StoredFact, b: StoredFact) -> bool:
    """Whether the tails of two facts can both be right though there is only one right answer."""
    return names_agree(a.tail, b.tail) or inner_place(a, b) is not None


def names_agree(a: StoredEntity, b: StoredEntity) -> bool:
    """Whether one of two names or dates is the other with fewer words: 2003 and 2003-09-03, Lyon and Lyon, France.

    Two numbers are not: 1,000 is not less exact than 1,000,000.
    """
    if a.id == b.id:
        return True
    short, long = sorted((fold(a.name), fold(b.name)), key=lambda name: (len(name), name))
    if _DIGIT.search(short) and not _YEAR.search(short):
        return False
    few, many = ([part.lstrip("0") or part for part in _APART.split(text) if part] for text in (short, long))
    if not few:
        return False
    starts = range(len(many) - len(few) + 1)
    if _YEAR.search(short):
        return set(few) <= set(many)
    if not short.isascii():
        return len(short) > 1 and short in long
    ends = (0, starts[-1]) if starts and _PERSON & {a.type.lower(), b.type.lower()} else (0,)
    return bool(starts) and any(many[i : i + len(few)] == few for i in ends)


def inner_place(a: StoredFact, b: StoredFact, *, inverse: tuple[bool, bool] = (False, False)) -> StoredEntity | None:
    """The smaller of two places, if one may be in the other: a text names them as one (Warsaw, Poland), or one is a
    country or a state and the other is neither or a state. None if they are not known to be so.
    """
    (one, other), (first, second) = (a, b), inverse
    ends = (one.head if first else one.tail), (other.head if second else other.tail)
    if any(_precedes(x, y, first, second) for x in a.pins for y in b.pins if x.document == y.document):
        return ends[0]
    if any(_precedes(y, x, second, first) for x in a.pins for y in b.pins if x.document == y.document):
        return ends[1]
    sizes = [region_size(end.name) for end in ends]
    return None if sizes[0] == sizes[1] else ends[sizes.index(min(sizes))]


def _precedes(x: Pin, y: Pin, first: bool, second: bool) -> bool:
    """Whether the text of two pins has the first answer as the smaller place next to the second."""
    small, large = _end(x, first), _end(y, second)
    if small is None or large is None or not (x.start <= min(small.start, large.start)
                                              and max(small.end, large.end) <= x.end):  # fmt: skip
        return False
    if small.end <= large.start:
        return bool(_BETWEEN.fullmatch(x.quote[small.end - x.start : large.start - x.start]))
    return large.end == small.start and not x.quote[large.start - x.start : small.end - x.start].isascii()


def _end(pin: Pin, inverse: bool) -> Span | None:
    return pin.head if inverse else pin.tail
