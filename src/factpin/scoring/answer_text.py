"""How near an answer is to a gold one, as three official scripts count.

squad      English words: small letters, without ASCII punctuation, articles and surplus blanks.
           em: equal. f1: of the bags of words.
hotpotqa   the same, but yes and no have F1 0 beside anything else.
cmrc       Chinese characters: small letters, without the script's punctuation. em: equal.
           f1: of the longest run that both have in common, counted in characters; what is not Chinese is cut into
           words, as NLTK's word_tokenize does it within a line.

An answer of nothing is right exactly where gold is nothing too. All take the best of several gold answers, for em and
f1 apart.
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
RIGID = ("yes", "no", "noanswer")  # answers that are right or wrong as a whole


class Match(NamedTuple):
    """How near an answer is: each from 0 to 1."""

    em: float
    f1: float
    precision: float
    recall: float


RIGHT, WRONG = Match(1.0, 1.0, 1.0, 1.0), Match(0.0, 0.0, 0.0, 0.0)


def normal(text: str) -> str:
    """A text as SQuAD's script compares it."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def characters(text: str) -> list[str]:
    """A text as CMRC's script counts it: Chinese characters, and the words between them."""
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
    """Two texts by their words."""
    a, b = normal(said), normal(gold)
    if not a or not b:
        return RIGHT if a == b else WRONG
    common = (Counter(a.split()) & Counter(b.split())).total()
    return _match(a == b, common, len(a.split()), len(b.split()))


def match_hotpotqa(said: str, gold: str) -> Match:
    """Two texts by their words; yes and no are right as a whole or wrong."""
    a, b = normal(said), normal(gold)
    return WRONG if a != b and (a in RIGID or b in RIGID) else match_squad(said, gold)


def match_cmrc(said: str, gold: str) -> Match:
    """Two texts by the longest run of characters that they share."""
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

    Gold of which the convention leaves nothing is passed over; where there is no other, nothing is the right answer.
    """
    match = CONVENTIONS[convention]
    found = [match(said, one) for one in gold if match(one, "") is WRONG] or [match(said, "")]
    return max(found, key=lambda match: match.f1)._replace(em=max(match.em for match in found))


def longest_run(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest sequence that is in both without a gap."""
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
    """Words of a text that is not Chinese: marks apart, but for those inside numbers and abbreviations."""
    found = list[str]()
    for word in _WORD.findall(text):
        clitic = _CLITIC.search(word)
        found += [word] if clitic is None else [word[: clitic.start()], clitic.group()]
    return found
