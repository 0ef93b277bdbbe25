"""Types: what kind of thing a type is for, and the type of a name that was given several.

    thing_of(type)          PER -> person, 历史人物 -> person, Chemical -> other, "" -> ""
    voted(given, parts)     (key, type) -> type, for those that the document outvotes

A model may find the same name as ORG in one place and as MISC in another. The vote replaces a type if it is a
catch-all, or if another type has at least TWICE as many mentions and AHEAD more. Only predictions, that is mentions
with a score, are voted on: annotators who use two types for a name mostly mean two things (24 of 29 such names in
Re-DocRED dev). Names that may well mean two things are left unchanged: times and numbers, short names, a part of the
full name of a person (Ford, if there is John Ford), a single English word that is mostly a person (Washington may have
lived in Washington), and a place against a catch-all (French, of the country and the language).
"""

import re
from collections import Counter
from collections.abc import Container, Iterable
from functools import cache

from factpin.language.identify import HAN

_TYPES = {  # what corpora call their types, folded
    "person": "per person people human name 人物 人名 人 人员 学者 作者",
    "organisation": "org organization organisation company corporation government institution team school 机构 组织 "
    "公司 企业 学校 大学 政府",
    "place": "loc location gpe place address scene country city fac facility 地点 地名 国家 城市 行政区 景点 地址",
    "time": "time date year duration 时间 日期 年份",
    "number": "num number quantity money percent ordinal cardinal 数字 数量",
}
THINGS = {type: thing for thing, types in _TYPES.items() for type in types.split()}
GENERIC = frozenset(("generic", "pronoun", "nominal", "anaphor", "指代", "代词"))  # only say that a mention refers
CATCH_ALL = frozenset(("misc", "miscellaneous", "other", "others", "unknown", "其他", "其它", "杂项", "未知"))
TWICE, AHEAD = 2, 2
LETTERS, CHARACTERS = 3, 2  # of a name that is voted on, English and Chinese

_LEVEL = re.compile(r"[\w\s]+")  # of a type: person-actor; human_gene is one level, not a human


@cache
def thing_of(type: str) -> str:
    """The kind of thing of a type, by its first level (person-actor, 人物/演员) or its ending in Chinese (历史人物)."""
    level = _LEVEL.search(type.casefold())
    first = level[0].strip() if level else ""
    ends = [first[at:] for at in range(len(first) - 1)] if HAN.search(first) else []
    return next((THINGS[known] for known in (first, *ends) if known in THINGS), "other" if type else "")


def catch_all(type: str) -> bool:
    """Whether a type says nothing, like MISC."""
    return type.casefold() in CATCH_ALL


def voted(given: Iterable[tuple[str, str, bool]], parts: Container[str]) -> dict[tuple[str, str], str]:
    """The types to replace by those of other mentions of the name.

    `given` has one (key, type, predicted?) per mention; `parts` are keys that are not voted on.
    """
    counts: dict[str, Counter[str]] = {}
    chosen = set[tuple[str, str]]()  # not predicted
    for key, type, predicted in given:
        if type and thing_of(type) not in ("time", "number"):
            counts.setdefault(key, Counter())[type] += 1
            chosen |= set() if predicted else {(key, type)}
    taken: dict[tuple[str, str], str] = {}
    for key, types in counts.items():
        if len(types) > 1 and key not in parts and len(key) >= (CHARACTERS if HAN.search(key) else LETTERS):
            best = _best(key, types)
            lost = [type for type in types if best and type != best and _loses(type, best, types)]
            taken |= {(key, type): best for type in lost if (key, type) not in chosen}
    return taken


def _best(key: str, types: Counter[str]) -> str:
    """The type that may replace others; empty in a tie, or if the name may be a surname."""
    telling = Counter({type: many for type, many in types.items() if not catch_all(type)}).most_common(2)
    if not telling or (len(telling) == 2 and telling[0][1] == telling[1][1]):
        return ""
    best = telling[0][0]
    return "" if thing_of(best) == "person" and not HAN.search(key) and " " not in key else best


def _loses(type: str, best: str, types: Counter[str]) -> bool:
    few, many = types[type], types[best]
    clear = many >= TWICE * few and many - few >= AHEAD
    return clear or (catch_all(type) and thing_of(best) != "place")
