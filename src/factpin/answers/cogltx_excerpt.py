"""Excerpt: the blocks that were kept as one text, and where its characters are in the documents.

Blocks next to each other stay together, with the white space between them; others are parted by an empty line. What is
found in an excerpt is a span of a document, unless it runs from one part into another.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from factpin.answers.cogltx import TextBlock
from factpin.documents import Span

GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    """Characters of a document, and where they begin in the excerpt."""

    at: int
    document: int
    span: Span


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The kept parts of some documents as one text."""

    text: str
    parts: tuple[ExcerptPart, ...]

    def locate(self, start: int, end: int) -> tuple[int, Span] | None:
        """The document and the characters that some characters of the excerpt are; None if they are in no part."""
        for part in self.parts:
            shift = part.span.start - part.at
            if part.span.start <= start + shift and end + shift <= part.span.end:
                return part.document, Span(start + shift, end + shift)
        return None

    def find(self, document: int, span: Span) -> Span | None:
        """Where some characters of a document are in the excerpt; None if they were not kept."""
        for part in self.parts:
            if part.document == document and part.span.start <= span.start and span.end <= part.span.end:
                return Span(span.start - part.span.start + part.at, span.end - part.span.start + part.at)
        return None


def excerpt(texts: Sequence[str], blocks: Sequence[TextBlock], kept: Sequence[int]) -> Excerpt:
    """The kept blocks of some documents."""
    spans: list[tuple[int, Span]] = []
    last = -2
    for number in sorted(kept):
        block = blocks[number]
        if number == last + 1 and spans and spans[-1][0] == block.document:
            spans[-1] = (block.document, Span(spans[-1][1].start, block.span.end))
        else:
            spans.append((block.document, block.span))
        last = number
    parts, text = [], ""
    for document, span in spans:
        text += GAP if text else ""
        parts.append(ExcerptPart(len(text), document, span))
        text += texts[document][span.start : span.end]
    return Excerpt(text, tuple(parts))
