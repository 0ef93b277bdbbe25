"""Places inside places: a text that says "Warsaw, Poland" names one place twice, and not two places."""

import re

from factpin.answers.chains import Chain
from factpin.answers.kinds import kind_of
from factpin.documents import Span
from factpin.memory import Pin, StoredEntity

_BETWEEN = re.compile(r",\s*")  # English: the smaller place first; in Chinese the larger one, with nothing between


def inner_place(a: Chain, b: Chain) -> StoredEntity | None:
    """The smaller of two places if some text names both as one; None if there is no such text."""
    if kind_of(a.target) != "place" or kind_of(b.target) != "place":
        return None
    for one, other in ((a, b), (b, a)):
        if any(_precedes(x, y, one, other) for x in one.steps[-1].judged.fact.pins
               for y in other.steps[-1].judged.fact.pins if x.document == y.document):  # fmt: skip
            return one.target
    return None


def _precedes(x: Pin, y: Pin, one: Chain, other: Chain) -> bool:
    """Whether the text of two pins has the first answer as the smaller place next to the second."""
    small, large = _end(x, one), _end(y, other)
    if small is None or large is None or not (x.start <= min(small.start, large.start)
                                              and max(small.end, large.end) <= x.end):  # fmt: skip
        return False
    if small.end <= large.start:
        return bool(_BETWEEN.fullmatch(x.quote[small.end - x.start : large.start - x.start]))
    return large.end == small.start and not x.quote[large.start - x.start : small.end - x.start].isascii()


def _end(pin: Pin, chain: Chain) -> Span | None:
    return pin.head if chain.steps[-1].inverse else pin.tail
