"""Terms for word search: folded words, and pairs of Chinese characters.

    terms("谷爱凌 won GOLD") -> ["谷爱", "爱凌", "凌", "won", "gold"]

Chinese, Japanese and Korean have few or no spaces, so each run of their characters becomes its overlapping pairs and
its last character. Every character starts exactly one term, and a query of a single character can find it anywhere by
matching terms that start with it (see `is_prefix`).
"""

import re
import unicodedata

VERSION = "1"  # stores with another version must be rebuilt
LONGEST = 64  # characters of a term; anything longer is not a word

CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7fb\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"([{CJK}]+)|[^\W_{CJK}]+")
_CHARACTER = re.compile(f"[{CJK}]")


def terms(text: str) -> list[str]:
    """The terms of a text, in order, including repetitions."""
    found: list[str] = []
    for token in _TOKEN.finditer(fold_words(text)):
        word = token.group()
        if token[1] is None:
            found.append(word[:LONGEST])
        else:
            found += _pairs(word)
            found.append(word[-1])
    return found


def query_terms(text: str) -> list[str]:
    """The terms to search for, each once; a single character is a term of its own."""
    found: dict[str, None] = {}
    for token in _TOKEN.finditer(fold_words(text)):
        word = token.group()
        if token[1] is None:
            found[word[:LONGEST]] = None
        else:
            found.update(dict.fromkeys(_pairs(word) if len(word) > 1 else [word]))
    return list(found)


def characters(text: str) -> list[str]:
    """The Chinese characters of a question, each once, to search for when no pair is found."""
    return list(dict.fromkeys(_CHARACTER.findall(fold_words(text))))


def is_prefix(term: str) -> bool:
    """Whether a query term matches all terms that start with it: true for a single Chinese character."""
    return len(term) == 1 and _CHARACTER.match(term) is not None


def after_prefix(term: str) -> str:
    """The first string after all strings with a prefix, ordered by code points."""
    return term[:-1] + chr(ord(term[-1]) + 1)


def fold_words(text: str) -> str:
    """Fold compatibility forms and case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
