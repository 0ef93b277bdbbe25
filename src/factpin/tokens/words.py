"""Split a text into words: half-open (start, end) characters, in order and without overlap.

    Han, with the letters and digits that touch it     words by rjieba, a dictionary and a chain: 南京市|长江大桥, T恤
    other letters and digits                           runs, joined by ' ’ - . inside: don't, F-16, 3.14
    marks, white space                                 no words

By characters, every Han character is a word of its own, and rjieba is not needed.
"""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Literal

from factpin.errors import MissingExtra

By = Literal["jieba", "characters"]
Tokenize = Callable[[str], list[tuple[str, int, int]]]

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{HAN}A-Za-z0-9]+")
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(rf"[{HAN}]|(?:(?![{HAN}])[^\W_])+(?:['’.-](?:(?![{HAN}])[^\W_])+)*")
_SOMETHING = re.compile(r"[^\W_]")


def word_spans(text: str, by: By = "jieba") -> list[tuple[int, int]]:
    """The words of a text. Every letter and digit is in exactly one."""
    if by == "characters" or not _HAN.search(text):
        return _regular(text, 0, len(text))
    tokenize = segmenter()
    found: list[tuple[int, int]] = []
    at = 0
    for run in _RUN.finditer(text):
        start, end = run.span()
        if start < at or not _HAN.search(run.group()):
            continue  # of Latin letters only: it is part of what is around it
        found += _regular(text, at, start)
        found += [(start + a, start + b) for word, a, b in tokenize(run.group()) if _SOMETHING.search(word)]
        at = end
    return found + _regular(text, at, len(text))


def segmenter() -> Tokenize:
    """rjieba's tokenize; the dictionary is loaded once, at the first call."""
    try:
        return import_module("rjieba").tokenize
    except ImportError:
        raise MissingExtra(
            "Chinese words need rjieba: pip install 'factpin[words]'. Without it, --words characters takes every "
            "Chinese character for a word."
        ) from None


def _regular(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in _WORD.finditer(text, start, end)]
