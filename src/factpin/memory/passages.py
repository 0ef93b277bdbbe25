"""Cut a text into passages: exact slices, in order, that end at sentences and paragraphs.

Dynamic programming chooses the cuts. Every passage costs 4, every cut depends on its place (nothing at a blank line,
1 after a sentence, more inside one), and no passage exceeds the size. Among equal costs, even lengths win. The size
approximates model tokens: one for a Chinese character, one for four other characters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from factpin.documents import Span
from factpin.errors import BadInput
from factpin.language.sentences import split_sentences
from factpin.memory.terms import CJK

SIZE = 256
SMALLEST = 8
PASSAGE = 4.0  # cost of each passage
BLANK_LINE, LINE, SENTENCE, CLAUSE, BLANK, ANYWHERE = 0.0, 0.5, 1.0, 3.0, 6.0, 8.0  # cost of a cut
SMALL = 16  # units smaller than 1/16 of the size are merged with a neighbour
UNEVEN = 0.5  # cost of an empty passage; grows with the square of the unused share

_CJK = re.compile(f"[{CJK}]")
_CLAUSE = re.compile(r"[，、；：,;:](?:[”’」』\"')）\]】]*)")
_SPACE = re.compile(r"\s+")
_STICKS = re.compile(r"[\u0300-\u036f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")  # cannot start a passage


@dataclass(frozen=True, slots=True)
class PassageSettings:
    """The maximum length of a passage, in Chinese characters or groups of four others."""

    size: int = SIZE

    def __post_init__(self) -> None:
        if self.size < SMALLEST:
            raise BadInput(f"The passage size is {self.size}; expected at least {SMALLEST}.")


@dataclass(frozen=True, slots=True)
class _Unit:
    """Characters that stay together, their weight with the space before them, and the cost of a cut after them."""

    start: int
    end: int
    weight: int
    cost: float


def cut(text: str, settings: PassageSettings, sentences: Sequence[tuple[int, int]] = ()) -> list[Span]:
    """Cut a text into passages. Every character but white space is in exactly one."""
    limit = 4 * settings.size
    units = _merged(_units(text, sentences or split_sentences(text), limit), limit // SMALL)
    best, back = [0.0], [0]
    for i in range(1, len(units) + 1):
        weight, cheapest, chosen = 0, float("inf"), i - 1
        for j in range(i - 1, -1, -1):
            weight += units[j].weight
            if weight > limit and j < i - 1:
                break
            unused = max(0, limit - weight) / limit
            cost = best[j] + PASSAGE + units[i - 1].cost + UNEVEN * unused * unused
            if cost < cheapest:
                cheapest, chosen = cost, j
        best.append(cheapest)
        back.append(chosen)
    spans, i = [], len(units)
    while i:
        spans.append(_trimmed(text, units[back[i]].start, units[i - 1].end))
        i = back[i]
    return spans[::-1]


def _merged(units: Iterable[_Unit], small: int) -> list[_Unit]:
    """Merge small neighbours, such as short lines, to bound the work per unit."""
    merged: list[_Unit] = []
    for unit in units:
        if merged and merged[-1].weight + unit.weight <= small:
            last = merged.pop()
            unit = _Unit(last.start, unit.end, last.weight + unit.weight, unit.cost)
        merged.append(unit)
    return merged


def _trimmed(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return Span(start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()))


def _units(text: str, sentences: Sequence[tuple[int, int]], limit: int) -> Iterator[_Unit]:
    spans = list(_covering(text, sentences))
    last = 0
    for number, (start, end) in enumerate(spans):
        behind = text[end : spans[number + 1][0]] if number + 1 < len(spans) else ""
        breaks = behind.replace("\r\n", "\n").count("\n")
        cost = BLANK_LINE if breaks > 1 else LINE if breaks else SENTENCE
        if weigh(text[last:end]) <= limit:
            yield _Unit(start, end, weigh(text[last:end]), cost)
        else:
            yield from _parts(text, Span(start, end), limit, cost)
        last = end


def _covering(text: str, sentences: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The sentences without surrounding white space, and the text between them."""
    at = 0
    for start, end in (*sentences, (len(text), len(text))):
        for low, high in ((at, start), (start, end)):
            part = text[low:high]
            if part and not part.isspace():
                yield _trimmed(text, low, high)
        at = end


def _parts(text: str, span: Span, limit: int, cost: float) -> Iterator[_Unit]:
    """Split a sentence that is too long into clauses, and a clause that is too long into pieces."""
    borders = [m.end() for m in _CLAUSE.finditer(text, span.start, span.end) if m.end() < span.end]
    start = span.start
    for end in (*borders, span.end):
        rest = weigh(text[start:end])
        while rest > limit:
            middle, price = _break(text, start, end, limit)
            weight = weigh(text[start:middle])
            yield _Unit(start, middle, weight, price)
            start, rest = middle, rest - weight
        yield _Unit(start, end, rest, cost if end == span.end else CLAUSE)
        start = end


def _break(text: str, start: int, end: int, limit: int) -> tuple[int, float]:
    """Where to cut inside a clause: after the last white space that fits, otherwise before any character."""
    at, weight = start, 0
    while at < end and weight + (step := 4 if _CJK.match(text, at) else 1) <= limit:
        weight += step
        at += 1
    blanks = [m.end() for m in _SPACE.finditer(text, start + (at - start) // 2, at) if m.end() < at]
    if blanks:
        return blanks[-1], BLANK
    while at > start + 1 and _STICKS.match(text, at):
        at -= 1
    return at, ANYWHERE


def weigh(text: str) -> int:
    """The weight of a text: 4 for a Chinese character, 1 for any other."""
    return len(text) if text.isascii() else len(text) + 3 * len(_CJK.findall(text))
