"""What a question asks for: characters of a passage, yes or no, or one of two titles that it names.

    named_titles    the titles that a question names, the longest first: none is taken inside another one
    yes or no       compares the first two of them
    x or y          chooses between the last one before "or" and the first one behind it

A title is named as whole words in any case. What it has in brackets need not be there, but tells two versions apart.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.memory.names import title_key
from factpin.memory.terms import CJK

SHORTEST = 2  # characters of a title that is looked for
_OR = re.compile(r"\bor\b|还是|還是|或者", re.I)
_ASKS_IF = re.compile(r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b|[吗嗎嘛]\W*$", re.I)
_WHETHER = re.compile(r"是不是|是否|有没有|有沒有")
_ASKS_WHAT = re.compile(
    r"[什甚][么麼]|[谁誰怎]|哪(?!吒)|多少|[几幾][个個次年月日天岁歲名位家种種时時]"
    r"|何[时時地处處人种種年月日以]|[为為如依照据據]何|是\W*$"
)
_LETTER = rf"[^\W{CJK}]"  # a letter or digit of a script that puts spaces between words
_CHARACTER = re.compile("(?s:.)[\u0300-\u036f]*")  # with its accents


def answer_kind(question: str) -> str:
    """What answers a question: "" (a span), yes_no, or choice (one of two that it names)."""
    if _OR.search(question):
        return "choice"
    asks_if = _ASKS_IF.search(question) or (_WHETHER.search(question) and not _ASKS_WHAT.search(question))
    return "yes_no" if asks_if else ""


@dataclass(frozen=True, slots=True)
class NamedTitle:
    """A title that a question names: its number, and where."""

    number: int
    span: Span


def compared(kind: str, question: str, titles: Sequence[str]) -> tuple[NamedTitle, NamedTitle] | None:
    """The two titles that a question of a kind compares; None where it does not name two."""
    named = named_titles(question, titles) if kind else []
    if kind == "yes_no" and len(named) > 1:
        return named[0], named[1]
    for match in _OR.finditer(question) if kind == "choice" else ():
        start, end = match.span()
        before = [one for one in named if one.span.end <= start]
        behind = [one for one in named if one.span.start >= end]
        if before and behind and len(before) + len(behind) == len(named):  # "or" is in no title
            return before[-1], behind[0]
    return None


def named_titles(question: str, titles: Sequence[str]) -> list[NamedTitle]:
    """The titles that a question names, in its order."""
    found = [
        (span, number, name)
        for number, title in enumerate(titles)
        for name in dict.fromkeys((fold(title), title_key(title)))
        for span in spans_of(name, question)
    ]
    taken: dict[int, Span] = {}
    names: set[str] = set()
    for span, number, name in sorted(found, key=lambda one: (one[0].start - one[0].end, one[0].start, one[1])):
        apart = all(span.end <= other.start or other.end <= span.start for other in taken.values())
        if number not in taken and name not in names and apart:
            taken[number] = span
            names |= {name, title_key(titles[number])}
    return sorted((NamedTitle(number, span) for number, span in taken.items()), key=lambda one: one.span)


def spans_of(name: str, text: str) -> list[Span]:
    """Where a text has a folded name, as whole words; between Chinese characters there are no spaces."""
    if len(name) < SHORTEST:
        return []
    folded, starts, ends = _folded(text)
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, name[0]) else ""
    behind = rf"(?!{_LETTER})" if re.match(_LETTER, name[-1]) else ""
    pattern = before + re.escape(name).replace(r"\ ", r"\s+") + behind
    return [Span(starts[m.start()], ends[m.end() - 1]) for m in re.finditer(pattern, folded)]


@lru_cache(maxsize=64)
def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """A folded text, and where the character begins and ends that each of its characters comes from."""
    parts, starts, ends = [], list[int](), list[int]()
    for match in _CHARACTER.finditer(text):
        part = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", match[0]).casefold())
        parts.append(part)
        starts += [match.start()] * len(part)
        ends += [match.end()] * len(part)
    return "".join(parts), starts, ends
