"""The terms that word search goes by: text comes in, folded words and pairs of Chinese characters go out.

    terms("谷爱凌 won GOLD") -> ["谷爱", "爱凌", "凌", "won", "gold"]

Chinese, Japanese and Korean are written without spaces, or with few: each run of their characters gives its overlapping
pairs, and its last character alone. So every character begins exactly one term, and a query of a single character finds
it wherever it stands: `is_prefix` says that such a term stands for all that begin with it.
"""

import re
import unicodedata

VERSION = "1"  # a store is rebuilt when this changes
LONGEST = 64  # characters of a term; what is longer is no word

CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7fb\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"([{CJK}]+)|[^\W_{CJK}]+")
_CHARACTER = re.compile(f"[{CJK}]")


def terms(text: str) -> list[str]:
    """The terms of a text, in order, with repetitions."""
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
    """The terms to look for, each once; a character alone stays alone."""
    found: dict[str, None] = {}
    for token in _TOKEN.finditer(fold_words(text)):
        word = token.group()
        if token[1] is None:
            found[word[:LONGEST]] = None
        else:
            found.update(dict.fromkeys(_pairs(word) if len(word) > 1 else [word]))
    return list(found)


def characters(text: str) -> list[str]:
    """The Chinese characters of a question one by one, each once: what is left to look for when no pair is found."""
    return list(dict.fromkeys(_CHARACTER.findall(fold_words(text))))


def is_prefix(term: str) -> bool:
    """Whether a term of a query stands for all terms that begin with it: a single Chinese character does."""
    return len(term) == 1 and _CHARACTER.match(term) is not None


def after_prefix(term: str) -> str:
    """The first string behind all that begin with a prefix, in the order of code points."""
    return term[:-1] + chr(ord(term[-1]) + 1)


def fold_words(text: str) -> str:
    """Compatibility forms and case make no difference to words."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]
