"""English tokens to running text: which tokens follow the previous one without a space."""

import re
from collections.abc import Sequence

PLAIN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
OPENING = re.compile(r"[(\[{“‘«¿¡]|(?:US|C|A|HK|NT)?[$£€₹₡¥]")
CLOSING = re.compile(r"[)\]}”»,;:%…®™]|[.!?]+")
CLITIC = re.compile(r"n['’]t|['’](?:s|re|ve|ll|m|d|em)", re.IGNORECASE)
SPLIT_WORDS = {("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me")}
AFTER_A_DASH = re.compile(
    "has|have|had|is|was|were|are|will|would|but|which|who|the|a|an|it|this|that|he|she|they|and|with|where",
    re.IGNORECASE,
)


def detokenise(tokens: Sequence[str], hyphens: bool = False) -> tuple[str, list[tuple[int, int]]]:
    """English tokens as they are usually written, and the characters of each; a repeated full stop becomes empty.

    Where the corpus parts words at `hyphens`, a "-" between two words joins them; else it is a dash.
    """
    words = [PLAIN.get(token, token).replace("\xad", "") for token in tokens]
    for i in range(1, len(words)):
        if words[i] == "." and words[i - 1].endswith(".") and len(words[i - 1]) > 1:
            words[i] = ""
    glued = _glued(words, hyphens)
    text = ""
    borders = []
    for word, glue in zip(words, glued, strict=True):
        if text and word and not glue:
            text += " "
        borders.append((len(text), len(text) + len(word)))
        text += word
    return text, borders


def _glued(words: Sequence[str], hyphens: bool) -> list[bool]:
    """Whether each word follows the one before without a blank."""
    left = [False] * (len(words) + 1)
    open_quotes: set[str] = set()
    for i, word in enumerate(words):
        joins = hyphens and word == "-" and _is_hyphen(words, i)
        to_left, to_right = (True, True) if joins else _sides(words, i, open_quotes)
        left[i] = left[i] or to_left
        left[i + 1] = to_right
        if not word and i:  # an empty word hands its side on
            left[i + 1] = False
    return left[:-1]


def _sides(words: Sequence[str], i: int, open_quotes: set[str]) -> tuple[bool, bool]:
    """Whether a word clings to the one before it, and the next one to it."""
    word = words[i]
    before, after = (words[i - 1] if i else ""), (words[i + 1] if i + 1 < len(words) else "")
    if word in ('"', "'", "’"):
        return _quote_sides(words, i, open_quotes)
    if CLOSING.fullmatch(word) or CLITIC.fullmatch(word) or (before.lower(), word.lower()) in SPLIT_WORDS:
        is_clock = word == ":" and before[-1:].isdigit() and len(after) == 2 and after.isdigit()
        return True, is_clock
    if OPENING.fullmatch(word):
        return False, True
    if word in ("#", "@"):
        return False, after[:1].isalnum() or after[:1] == "_"
    if word in ("/", "‑") or (word == "–" and before[-1:].isdigit() and after.isdigit()):
        return True, True
    return False, False


def _quote_sides(words: Sequence[str], i: int, open_quotes: set[str]) -> tuple[bool, bool]:
    word = words[i]
    before, after = (words[i - 1] if i else ""), (words[i + 1] if i + 1 < len(words) else "")
    if word != '"' and after.lower() in ("s", "t", "re", "ve", "ll", "m", "d") and before[-1:].isalnum():
        return True, True
    if word == "’":
        return True, False
    if word in open_quotes:
        open_quotes.discard(word)
        return True, False
    left = words[i + 1 :].count(word)
    if (i and not left) or (word == "'" and before.lower().endswith("s") and left % 2 == 0):
        return True, False
    open_quotes.add(word)
    return False, True


def _is_hyphen(words: Sequence[str], i: int) -> bool:
    """Whether a "-" joins two words; else it is a dash between blanks."""
    if i == 0 or i + 1 == len(words):
        return False
    before, after = words[i - 1], words[i + 1]
    if before == "-" or after == "-":
        return True
    chained = "-" in (words[i - 2] if i > 1 else "", words[i + 2] if i + 2 < len(words) else "")
    if AFTER_A_DASH.fullmatch(after) and not chained:
        return False
    return before[-1:].isalnum() and after[:1].isalnum()
