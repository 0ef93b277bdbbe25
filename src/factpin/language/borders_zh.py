"""Where Chinese words begin and end, by how often words occur: enough to see that a name was cut within a word.

The words are counted in plain text (recipes/words_zh.py). Of all ways to cut a text, the likeliest is the one whose
words have the greatest product of frequencies; Viterbi finds it. Names that the list lacks fall apart into characters,
so a border that it does not know is no evidence, but one within a frequent word is.
"""

import lzma
from functools import cache
from importlib.resources import files
from math import log

LONGEST = 5  # characters of a word of the list


@cache
def _likely() -> dict[str, float]:
    """The logarithm of the frequency of each word; the empty string has that of a character it lacks."""
    packed = (files(__package__) / "borders_zh.txt.xz").read_bytes()
    rows = [line.split() for line in lzma.decompress(packed).decode("utf-8").splitlines()]  # a count and its words
    whole = sum(int(count) * len(words) for count, *words in rows)
    likely = {"": -log(whole)}
    for count, *words in rows:
        likely |= dict.fromkeys(words, log(int(count) / whole))
    return likely


def borders(text: str) -> frozenset[int]:
    """The places between the words of a text, with its beginning and its end."""
    likely = _likely()
    rare = likely[""]
    best, back = [0.0], [0]
    for end in range(1, len(text) + 1):
        best.append(best[end - 1] + likely.get(text[end - 1], rare))
        back.append(end - 1)
        for start in range(max(0, end - LONGEST), end - 1):
            known = likely.get(text[start:end])
            if known is not None and best[start] + known > best[end]:
                best[end], back[end] = best[start] + known, start
    found, at = {0, len(text)}, len(text)
    while at:
        at = back[at]
        found.add(at)
    return frozenset(found)


def cut_words(text: str, start: int, end: int, around: int = 12) -> list[int]:
    """The ends of a part of a text that are within a word."""
    first = max(0, start - around)
    found = borders(text[first : end + around])
    return [place for place in (start, end) if place - first not in found]
