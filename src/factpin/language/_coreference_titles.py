"""Titles of people, in a mention or directly beside it, and the gender that they imply.

titles_of(text, mention, thing)     Mr. [Smith] -> mr;  [张伟]教授 -> 教授;  [Dr. Ann Lee] -> dr
gender_of(titles)                   mr -> m;  女士 -> f;  dr -> ""
"""

import re

from factpin.documents.nouns import Mention
from factpin.language import _coreference_en as en
from factpin.language import _coreference_zh as zh
from factpin.language.identify import HAN

_WORD = re.compile(r"[^\W_]+")
_BEFORE = re.compile(r"(?<![^\W_])([A-Z][a-z]+)\.?\s+$")
_COUPLE = re.compile(r"(?<![^\W_])(?:Mr|Mrs|Ms|Dr)\.?\s+(?:and|&)\s+(?:Mr|Mrs|Ms|Dr)\.?\s+$")  # the gender of neither
NEAR = 20  # characters before a mention that are searched for its title


def titles_of(text: str, mention: Mention, thing: str) -> frozenset[str]:
    """The titles of a person in the mention and directly beside it, folded."""
    if thing not in ("person", ""):
        return frozenset()
    if HAN.search(mention.text):
        simple = mention.text.translate(zh.SIMPLIFIED)
        after = text[mention.end : mention.end + NEAR].translate(zh.SIMPLIFIED)
        inside = next((title for title in zh.TITLES if simple.endswith(title) and simple != title), "")
        beside = next((title for title in zh.TITLES if after.startswith(title) and len(title) > 1), "")
        wife = beside in zh.WIVES and len(simple) > 1  # [李明]夫人 is another person
        return frozenset((inside, "" if wife else beside)) - {""}
    found = set[str]()
    words = [word.casefold() for word in _WORD.findall(mention.text)]
    while len(words) > 1 and words[0] in en.TITLES | en.NOBLE:
        found.add(words.pop(0))
    near = text[max(0, mention.start - NEAR) : mention.start]
    before = None if _COUPLE.search(near) else _BEFORE.search(near)
    if before is not None and before[1].casefold() in en.TITLES | en.NOBLE:
        found.add(before[1].casefold())
    return frozenset(found)


def gender_of(titles: frozenset[str]) -> str:
    """The gender that the titles imply, if they agree."""
    men, women = (any(title in words for title in titles) for words in ((*en.MEN, *zh.MEN), (*en.WOMEN, *zh.WOMEN)))
    return "" if men == women else "m" if men else "f"
