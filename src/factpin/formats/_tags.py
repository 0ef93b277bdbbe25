"""Convert tags of tokens to spans and back: BIO (IOB2 and IOB1), BIOES (BILOU), BMES.

    spans     (first, end, type) in tokens, half-open
    tag       O, or a letter and a type, separated by the first hyphen (B-creative-work)

Reading is lenient like the conlleval script: a span starts at B and S, where the type changes, and at an inside tag
with nothing to continue; it ends after E and S. Everything that no scheme allows is reported as a fault.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

TAG = re.compile(r"O|[BIMESLU](?:-.*)?", re.DOTALL)
LETTERS = {"M": "I", "L": "E", "U": "S"}  # the names BMES and BILOU give to the inside, the end and the single token
BEGIN_INSIDE_END_SINGLE = {"bio": "BIIB", "bioes": "BIES", "bmes": "BMES"}


class TagSpan(NamedTuple):
    """Tokens first:end, half-open."""

    first: int
    end: int
    type: str


@dataclass
class Scheme:
    """The scheme of a file, as far as its tags so far show it."""

    begins: bool = False  # a B without a preceding span of that type: IOB2
    closed: bool = False  # E or S: every span has its end
    middle: bool = False  # M: BMES, where I is foreign

    def learn(self, tags: Iterable[str]) -> None:
        """Add the tags of a sequence."""
        before = "O"
        for tag in tags:
            letter = tag[:1]
            if letter == "B" and (before == "O" or before[2:] != tag[2:]):
                self.begins = True
            elif letter in "ESLUM":
                self.closed = True
                self.middle = self.middle or letter == "M"
            before = tag


def is_tag(text: str) -> bool:
    """Whether a word can be a tag of one of the schemes."""
    return TAG.fullmatch(text) is not None


def decode(tags: Sequence[str], scheme: Scheme) -> tuple[list[TagSpan], list[tuple[int, str]]]:
    """The spans of a sequence, and its faults (index, what is wrong there)."""
    spans: list[TagSpan] = []
    faults: list[tuple[int, str]] = []
    open_type: str | None = None  # of the span that may continue
    first = 0
    for i, tag in enumerate(tags):
        letter, _, type = tag.partition("-")
        if scheme.middle and letter == "I":
            faults.append((i, f"{tag} among BMES tags"))
        letter = LETTERS.get(letter, letter)
        goes_on = letter in ("I", "E") and type == open_type
        if not goes_on and open_type is not None:
            spans.append(TagSpan(first, i, open_type))
            if scheme.closed:
                faults.append((i - 1, f"{tags[i - 1]} without an end after it"))
            open_type = None
        if letter == "O":
            continue
        if not goes_on:
            first = i
            if letter == "E" or (letter == "I" and (scheme.begins or scheme.closed)):
                faults.append((i, f"{tag} without a beginning before it"))
        if letter in ("E", "S"):
            spans.append(TagSpan(first, i + 1, type))
            open_type = None
        else:
            open_type = type
    if open_type is not None:
        spans.append(TagSpan(first, len(tags), open_type))
        if scheme.closed:
            faults.append((len(tags) - 1, f"{tags[-1]} without an end after it"))
    return spans, faults


def encode(spans: Iterable[TagSpan], size: int, scheme: Literal["bio", "bioes", "bmes"]) -> list[str]:
    """The tags of spans that do not overlap."""
    begin, inside, end, single = tuple(BEGIN_INSIDE_END_SINGLE[scheme])
    tags = ["O"] * size
    for span in spans:
        name = f"-{span.type}" if span.type else ""
        last = span.end - 1
        tags[span.first : span.end] = [inside + name] * (span.end - span.first)
        tags[last] = end + name
        tags[span.first] = (begin if last > span.first else single) + name
    return tags


def layers(spans: Iterable[TagSpan]) -> list[list[TagSpan]]:
    """Distribute spans over sequences without overlap: longest first, each into the first sequence with room."""
    found: list[list[TagSpan]] = []
    for span in sorted(spans, key=lambda s: (s.first, -s.end, s.type)):
        for layer in found:
            if layer[-1].end <= span.first:
                layer.append(span)
                break
        else:
            found.append([span])
    return found
