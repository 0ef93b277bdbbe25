"""Compare an answer with gold, as three official scripts do.

squad      English words in lower case, without ASCII punctuation, articles and extra spaces.
           em: equal. f1: over the bags of words.
hotpotqa   the same, but the F1 of yes and no with anything else is 0.
cmrc       Chinese characters in lower case, without the punctuation in the script. em: equal.
           f1: over the longest common run, counted in characters; text that is not Chinese is split into words, as
           NLTK's word_tokenize does within a line.

An empty answer is right exactly if gold is empty. With several gold answers, em and f1 each take the best.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CMRC_MARKS = frozenset("-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
_HAN = re.compile("[\u4e00-\u9fa5]")
_ALONE = re.escape(';@#$%&?!()[]{}<>"«»„‘') + "\u2012-\u2015"
_WORD = re.compile(rf"\.{{2,}}|[{_ALONE}]|(?:[^\s{_ALONE},.]|,(?=\d)|\.(?!\.|[\])}}>\"'»]*\s*$))+|[,.]")
_CLITIC = re.compile(r"(?<=[^'])(?:n't|'(?:s|m|d|ll|re|ve|))$")
RIGID = ("yes", "no", "noanswer")  # answers that get no partial credit


class Match(NamedTuple):
    """The similarity of two answers, each from 0 to 1."""

    em: float
    f1: float
    precision: float
    recall: float


RIGHT, WRONG = Match(1.0, 1.0, 1.0, 1.0), Match(0.0, 0.0, 0.0, 0.0)


def normal(text: str) -> str:
    """Normalise a text as SQuAD's script does."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def characters(text: str) -> list[str]:
    """Split a text as CMRC's script does: Chinese characters, and the words between them."""
    found, other = list[str](), ""
    for character in text.lower().strip():
        if character in _CMRC_MARKS:
            continue
        if _HAN.match(character):
            found += [*_words(other), character]
            other = ""
        else:
            other += character
    return found + _words(other)


def match_squad(said: str, gold: str) -> Match:
    """Compare two texts by their words."""
    a, b = normal(said), normal(gold)
    if not a or not b:
        return RIGHT if a == b else WRONG
    common = (Counter(a.split()) & Counter(b.split())).total()
    return _match(a == b, common, len(a.split()), len(b.split()))


def match_hotpotqa(said: str, gold: str) -> Match:
    """Compare two texts by their words, without partial credit for yes and no."""
    a, b = normal(said), normal(gold)
    return WRONG if a != b and (a in RIGID or b in RIGID) else match_squad(said, gold)


def match_cmrc(said: str, gold: str) -> Match:
    """Compare two texts by their longest common run of characters."""
    a, b = characters(said), characters(gold)
    if not a or not b:
        return RIGHT if a == b else WRONG
    return _match(_plain(said) == _plain(gold), longest_run(a, b), len(a), len(b))


CONVENTIONS: dict[str, Callable[[str, str], Match]] = {
    "cmrc": match_cmrc,
    "hotpotqa": match_hotpotqa,
    "squad": match_squad,
}


def best_match(said: str, gold: Sequence[str], convention: str) -> Match:
    """The best em, and the best f1 with its precision and recall, over all gold answers.

    Gold answers that are empty after normalisation are skipped; if all are, the empty answer is right.
    """
    match = CONVENTIONS[convention]
    found = [match(said, one) for one in gold if match(one, "") is WRONG] or [match(said, "")]
    return max(found, key=lambda match: match.f1)._replace(em=max(match.em for match in found))


def longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest common contiguous sequence."""
    best = 0
    above = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else 0)
        best, above = max(best, *row), row
    return best


def _match(equal: bool, common: int, said: int, gold: int) -> Match:
    precision, recall = common / said, common / gold
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return Match(float(equal), f1, precision, recall)


def _plain(text: str) -> str:
    return "".join(character for character in text.lower().strip() if character not in _CMRC_MARKS)


def _words(text: str) -> list[str]:
    """Words of a text that is not Chinese; punctuation is separate, except inside numbers and abbreviations."""
    found = list[str]()
    for word in _WORD.findall(text):
        clitic = _CLITIC.search(word)
        found += [word] if clitic is None else [word[: clitic.start()], clitic.group()]
    return found
