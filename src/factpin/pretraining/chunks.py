"""Chunks: phrases and entities of any text, for rows that hide them, where no lexicon says what they are.

               entities                                     phrases
    Chinese    names by rjieba's dictionary and tags        nouns and their modifiers, in a row: 人工智能技术
    others     words with a capital, not at a beginning     words in a row between function words: large language models

They are guesses by rule, right more often than not: a lexicon or an annotated corpus knows better.
"""

import re
from collections.abc import Callable, Iterator
from importlib import import_module

from factpin.language.sentences import split_sentences
from factpin.objectives.text import Spans
from factpin.pretraining.vocabulary import SAYING_LITTLE
from factpin.tokens.words import HAN, segmenter

NAMES = ("nr", "ns", "nt", "nz")  # rjieba's tags of persons, places, organisations, other names
NOUNS = ("n", "vn", "an", "a", "b", "eng")  # what a noun phrase is made of
LONGEST = 4  # words of a phrase
_HAN_RUN = re.compile(rf"[{HAN}]+")
_WORD = re.compile(rf"(?:(?![{HAN}])[^\W_])+(?:['’.-](?:(?![{HAN}])[^\W_])+)*")
_LITTLE = frozenset(SAYING_LITTLE.split())

Span = tuple[int, int]


class Chunks:
    """Found as `Known` finds what a file names."""

    def find(self, text: str) -> tuple[Spans | None, Spans | None]:
        """Half-open characters of the phrases and of the entities."""
        tagged = list(_tagged(text))
        names = [*_runs(tagged, lambda tag: tag in NAMES), *_capitals(text)]
        phrases = [*_runs(tagged, lambda tag: tag.startswith(NOUNS) and tag not in NAMES), *_phrases(text)]
        return sorted(phrases), sorted(names)


def _tagged(text: str) -> Iterator[tuple[int, int, str]]:
    """The Chinese words: start, end, tag."""
    if not _HAN_RUN.search(text):
        return
    segmenter()  # says what to install
    tag = import_module("rjieba").tag
    for run in _HAN_RUN.finditer(text):
        at = run.start()
        for word, kind in tag(run.group()):
            yield at, at + len(word), kind
            at += len(word)


def _runs(tagged: list[tuple[int, int, str]], wanted: Callable[[str], bool]) -> Iterator[Span]:
    """Neighbours with a wanted tag as one span, at most LONGEST of them; of two characters or more."""
    start = end = count = 0
    for a, b, kind in [*tagged, (-1, -1, "")]:
        if wanted(kind) and a == end and 0 < count < LONGEST:
            end, count = b, count + 1
            continue
        if end - start > 1:
            yield start, end
        start, end, count = (a, b, 1) if wanted(kind) else (0, 0, 0)


def _capitals(text: str) -> Iterator[Span]:
    """Words with a capital in a row; one alone counts where it does not begin a sentence."""
    begins = {start for start, _ in split_sentences(text)}
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text), None]:
        touches = word is not None and (not run or text[run[-1].end() : word.start()] == " ")
        if word is not None and word.group()[0].isupper() and touches:
            run.append(word)
            continue
        if len(run) > 1 or (run and run[0].start() not in begins and len(run[0].group()) > 1):
            yield run[0].start(), run[-1].end()
        run = [word] if word is not None and word.group()[0].isupper() else []


def _phrases(text: str) -> Iterator[Span]:
    """Two words or more in a row that say something."""
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text), None]:
        says = word is not None and word.group().lower() not in _LITTLE
        touches = word is not None and (not run or text[run[-1].end() : word.start()] == " ")
        if word is not None and says and touches and len(run) < LONGEST:
            run.append(word)
            continue
        if len(run) > 1:
            yield run[0].start(), run[-1].end()
        run = [word] if word is not None and says else []
