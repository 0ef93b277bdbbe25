"""A sentence with «i» in the place of each of its mentions: what the rules of definitions are written for."""

import re
from dataclasses import dataclass

from factpin.documents import Document, Mention, Span
from factpin.language.pronouns import is_pronoun

INDEX = re.compile(r"«(\d+)»")


@dataclass(frozen=True)
class PatternSentence:
    """A sentence with «i» in the place of each of its mentions."""

    span: Span
    mentions: tuple[Mention, ...]
    pattern: str
    ends: tuple[tuple[int, int], ...]  # of each mention in the pattern

    def said(self, matched: str) -> list[Mention]:
        """The mentions in a part of the pattern."""
        return [self.mentions[int(i)] for i in INDEX.findall(matched)]

    def where(self, place: int) -> int:
        """The character of the text at a place of the pattern that is not within a mention."""
        before = [i for i, (_, end) in enumerate(self.ends) if end <= place]
        if not before:
            return self.span.start + place
        return self.mentions[before[-1]].end + place - self.ends[before[-1]][1]


def pattern_of(doc: Document, span: Span) -> PatternSentence:
    """The longest mentions that do not overlap, in the place of their words."""
    inside = [m for m in doc.mentions if span.start <= m.start and m.end <= span.end and not is_pronoun(m.text)]
    kept: list[Mention] = []
    for m in sorted(inside, key=lambda m: (m.start, -m.end)):
        if not kept or m.start >= kept[-1].end:
            kept.append(m)
    pattern, at, ends = "", span.start, []
    for i, m in enumerate(kept):
        pattern += doc.text[at : m.start]
        start = len(pattern)
        pattern, at = f"{pattern}«{i}»", m.end
        ends.append((start, len(pattern)))
    return PatternSentence(span, tuple(kept), pattern + doc.text[at : span.end], tuple(ends))
