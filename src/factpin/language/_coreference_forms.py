"""Short forms: whether one name can be a short form of another, and whether two names can mean the same thing.

    part_of(short, long)       Obama <- Barack Obama; Microsoft <- Microsoft Corporation; 张教授 <- 张伟; 北京 <- 北京市
    initials(short, long)      UN <- United Nations
    shortened(short, long)     北大 <- 北京大学, only by characters
    spells(short, long)        the letters of the short form occur in the long one in order: enough for a definition
    variant_key(name)          what seizure and seizures share
    quarrel(one, other)        John Smith and Mary Smith: two people, whatever links them
    like_person(name)          a person by its type or, without one, by the form of the name

Only surnames of two characters are listed; otherwise the form of a name decides. So two different Chinese names of
people always conflict, and only an explicit alias joins them.
"""

import re

from factpin.language import _coreference_en as en
from factpin.language import _coreference_zh as zh
from factpin.language._coreference_names import Name, singular, stem, without_ends

FULL = (2, 4)  # characters of a Chinese person's full name
SHORT = (2, 4)  # characters of a Chinese short form
LETTERS = (2, 10)  # of an English abbreviation
_LETTER = re.compile(r"[^\W_]")
_NAMED = ("person", "organisation", "place", "")  # things whose names are proper
_SUFFIX = ("dc", "state")  # not city: Mexico City is not Mexico
_OFFICIAL = re.compile(
    r"(?:(?:people ?'s )?republic|kingdom|commonwealth|state|city|town|municipality|province) of (.+)"
)


def part_of(short: Name, long: Name) -> bool:
    """Whether one name is a short form of the other. Both are names; if both have a type, it is the same."""
    thing = short.thing or long.thing
    if short.key == long.key or short.chinese != long.chinese:
        return False
    if short.chinese:
        return _chinese_part(short, long, thing)
    if thing == "person":
        return _within(short.words, long.words)
    if thing == "organisation":
        return _company(short.words, long.words)
    if thing == "place":
        return _official(short, long)
    names = short.capital and long.capital and len(short.words) == 1 < len(long.words)
    if thing:
        salt = len(long.words) > 1 and long.words[-1] in en.SALTS and long.words[:-1] == short.words
        return salt or (thing == "other" and names and short.words[0] == long.words[-1])
    outer = short.words[0] in (long.words[0], long.words[-1]) and short.words[0] not in en.DIRECTIONS
    return names and outer and not _city_of(short, long)


def whole(short: Name, long: Name) -> bool:
    """Whether the longer one is the same name with a legal or official ending, so that either may come first."""
    thing = short.thing or long.thing
    if short.chinese:
        forms = [key for key in (long.key, *without_country(long.key)) if key.startswith(short.key)]
        rests = [key[len(short.key) :] for key in forms]
        return thing != "person" and any(rest in zh.REGION or not _stripped(rest, zh.COMPANY) for rest in rests)
    if thing == "organisation":
        return _core(short.words) == _core(long.words)
    return thing == "place" or (thing == "other" and long.words[-1] in en.SALTS)


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Words of a name in order; at least one is whole. None is left out before an initial: A. J. is not Jim."""
    if not short or len(short) > len(long) or short == long or all(len(word) == 1 for word in short):
        return False
    if len(short) > 1 and short[-1] != long[-1] and long[-1] in en.GENERATIONS:
        return False
    at = 0
    for i, word in enumerate(short):
        while at < len(long) and not _word_fits(word, long[at], at > i):
            at += 1
        at += 1
    return at <= len(long)


def _word_fits(one: str, other: str, left_out: bool) -> bool:
    if 1 in (len(one), len(other)):
        return one[0] == other[0] and not left_out
    return one == other


def _company(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    cores = [_core(words) for words in (short, long)]
    if cores[0] == cores[1]:
        return len(short) < len(long)
    part = long[: len(short)] == short or long[-1:] == short
    return part and len(short) < len(long) and not set(short) <= en.SMALL | en.DIRECTIONS


def _core(words: tuple[str, ...]) -> tuple[str, ...]:
    while len(words) > 1 and words[-1] in en.COMPANY:
        words = words[:-1]
    return words


def _official(short: Name, long: Name) -> bool:
    official = _OFFICIAL.fullmatch(long.key)
    if official is not None:
        return official[1].removeprefix("the ") == short.key and not _city_of(short, long)
    rest = long.words[len(short.words) :]
    return long.words[: len(short.words)] == short.words and ("".join(rest) in _SUFFIX)


def _city_of(short: Name, long: Name) -> bool:
    """Whether it is the city with that name, and not another word for the same place: Kansas, Kansas City."""
    named = long.words[:2] == ("city", "of") and long.words[2:] == short.words and short.words[-1] in en.WIDER
    return named or long.words == (*short.words, "city")


def _chinese_part(short: Name, long: Name, thing: str) -> bool:
    a, b = short.key, long.key
    if thing in ("person", "") and _chinese_person(short, long, thing):
        return True
    if len(a) < 2 or not b.startswith(a):
        rests = (rest[len(a) :] for rest in without_country(b) if rest.startswith(a))
        return thing == "organisation" and len(a) > 1 and any(not _stripped(rest, zh.COMPANY) for rest in rests)
    rest = b[len(a) :]
    if thing == "place":
        return rest in zh.REGION or rest.endswith(zh.SELF_RULED)
    if thing == "organisation" and rest in zh.KIND:
        return not a.endswith(zh.INSTITUTIONS) and a not in zh.COUNTRY
    return thing in ("organisation", "") and bool(rest) and not _stripped(rest, zh.COMPANY)


def without_country(key: str) -> list[str]:
    """What follows 中国, 国家 and similar words at its beginning."""
    return [key[len(country) :] for country in zh.COUNTRY if key.startswith(country) and key != country]


def _stripped(text: str, ends: tuple[str, ...]) -> str:
    """The text without these endings, as often as they occur."""
    found = True
    while found and text:
        found = next((end for end in ends if text.endswith(end)), "") != ""
        text = next((text.removesuffix(end) for end in ends if text.endswith(end)), text)
    return text


def _chinese_person(short: Name, long: Name, thing: str) -> bool:
    if len(long.words) > 1:
        return untitled(short.key) in long.words and len(short.key) > 1
    a, b = short.key, untitled(long.key)
    surname = a if len(a) == 1 and thing == "person" else surname_of(a)  # [王]女士
    if surname and b.startswith(surname) and full_name(b) and len(b) > len(surname):
        return True
    return thing == "person" and full_name(b) and len(a) == 2 and len(b) > 2 and b.endswith(a)


def surname_of(key: str) -> str:
    """The surname in 张教授, 小张, 张总, 欧阳先生; empty for a full name."""
    title = next((title for title in zh.TITLES if key.endswith(title)), "")
    before = key.removesuffix(title)
    if title and (len(before) == 1 or before in zh.SURNAMES):
        return before
    return key[1:] if len(key) == 2 and key.startswith(zh.FAMILIAR) else ""


def untitled(key: str) -> str:
    """A Chinese name of a person without the title after it: 张伟教授 is 张伟, 张伟夫人 is not."""
    title = next((title for title in zh.TITLES if key.endswith(title) and len(title) > 1), "")
    title = "" if title in zh.WIVES else title
    return key[: -len(title)] if title and len(key) - len(title) > 1 and not surname_of(key) else key


def full_name(key: str) -> bool:
    """Whether it has the form of the full name of a Chinese person, possibly with a title."""
    key = untitled(key)
    return FULL[0] <= len(key) <= FULL[1] and "·" not in key and not surname_of(key)


def initials(short: Name, long: Name) -> bool:
    """Whether it consists of the first letters of the words of the other, in capitals."""
    letters = capitals(short)
    return bool(letters) and letters in spelled(long)


def capitals(short: Name) -> str:
    """The letters of an abbreviation, folded; empty for a name that does not look like one."""
    words = short.text.split()
    while len(words) > 1 and words[-1].strip(".,").casefold() in en.COMPANY:  # IBM Corp.
        words.pop()
    letters = "".join(_LETTER.findall("".join(words)))
    letters = letters[:-1] if len(letters) > 2 and letters[-1] == "s" else letters  # CNNs
    return letters.casefold() if LETTERS[0] <= len(letters) <= LETTERS[1] and letters.isupper() else ""


def spelled(long: Name) -> set[str]:
    """What the first letters of its words spell; nothing for a single word and for Chinese names."""
    found: tuple[list[str], ...] = ([],) if long.chinese else _wordings(long)
    return {"".join(word[0] for word in part) for part in found} if len(found[0]) > 1 else set()


def _wordings(name: Name) -> tuple[list[str], ...]:
    """All its words; without function words; also without words such as Corporation."""
    words = re.findall(r"[^\W_]+", name.key)
    heavy = [word for word in words if word not in en.SMALL]
    return words, heavy, [word for word in heavy if word not in en.COMPANY]


def first_letters(long: Name) -> set[str]:
    """The letters that a short form of it may begin with."""
    if long.chinese:
        return {long.key[0], *(rest[0] for rest in without_country(long.key))}
    return {part[0][0] for part in _wordings(long) if part}


def shortened(short: Name, long: Name) -> bool:
    """Whether a Chinese name has characters of the long name in order, beginning with the first one.

    中国 and similar words may be skipped. A name with the ending of an institution is a full name: 上海大学 is not a
    short form of 上海交通大学.
    """
    a, b = short.key, long.key
    if not (short.chinese and long.chinese and (short.thing or long.thing) in ("organisation", "")):
        return False
    if b.startswith(a) or a.endswith(zh.INSTITUTIONS) or len(b) < len(a) + 2:
        return False
    rests = [(a, b), *((a, rest) for rest in without_country(b))]
    for country in zh.COUNTRY:  # 国家发改委; not 国家工程院, which keeps a whole word
        if a.startswith(country) and b.startswith(country) and a[len(country) :][:2] != b[len(country) :][:2]:
            rests.append((a[len(country) :], b[len(country) :]))
    return any(_picked(*pair) for pair in rests)


def _picked(short: str, long: str) -> bool:
    fits = SHORT[0] <= len(short) <= SHORT[1] and short[0] == long[0]
    return fits and _letters_in(short, long) and _ends(short, long)


def _ends(short: str, long: str) -> bool:
    """Does the last character stand for the last word (院 of 科学院, 大 of 大学, 航 of 航天大学)?"""
    core = next((long.removesuffix(kind) for kind in zh.KIND if long.endswith(kind)), long)
    return short[-1] in long[-3:] or short[-1] in core[1:]


def _letters_in(short: str, long: str) -> bool:
    rest = iter(long)
    return all(letter in rest for letter in short)


def spells(short: Name, long: Name) -> bool:
    """Whether a short form can be made of letters of the long one, beginning with the first letter of a word."""
    letters = "".join(_LETTER.findall(short.key))
    if not 1 < len(letters) < len(long.key) or len(short.key) > len(long.key) or len(short.key.split(" ")) > 2:
        return False
    if letters.endswith("s") and len(letters) > 2 and not _letters_in(letters, long.key):
        letters = letters[:-1]
    begins = [match.start() for match in re.finditer(rf"(?<![^\W_]){re.escape(letters[0])}", long.key)]
    if short.chinese:
        begins = [i for i, letter in enumerate(long.key) if letter == letters[0]]
    return any(_letters_in(letters, long.key[at:]) for at in begins[:1])


def variant_key(name: Name) -> str:
    """The key that spelling variants of a name share."""
    if name.chinese:
        return untitled(name.key) if name.thing == "person" else name.key
    if name.thing == "other":
        return "".join(stem(word) for word in re.findall(r"[^\W_]+", name.key)) or name.key
    if name.thing == "person":
        return "".join(name.words)
    key = en.COUNTRIES.get(name.key, name.key) if name.thing in _NAMED else name.key
    return re.sub(r"[\W_]+", "", key) or key


def like_person(name: Name) -> bool:
    """Whether it is the name of a person by its type or, without one, by its form."""
    if name.kind != "name" or name.thing not in ("", "other"):
        return name.kind == "name" and name.thing == "person"
    if name.chinese:
        return full_name(name.key) or len(name.words) > 1
    return name.capital and " " in name.key


def may_quarrel(name: Name) -> bool:
    """Whether it can conflict with any name."""
    return name.kind == "name" and (name.thing in _NAMED or like_person(name))


def quarrel(one: Name, other: Name) -> bool:
    """Whether two names that look alike are of two things. Then only an explicit alias can link them."""
    if one.key == other.key or one.chinese != other.chinese or not (may_quarrel(one) and may_quarrel(other)):
        return False
    if _spelled_alike(one, other):
        return False
    if "person" not in (one.thing, other.thing) and (_city_of(one, other) or _city_of(other, one)):
        return True
    if any(test(*pair) for test in (part_of, initials, shortened) for pair in ((one, other), (other, one))):
        return False
    if one.chinese and len(one.words) == len(other.words) == 1:
        return _chinese_quarrel(one, other)
    words = [without_ends(name.words) if name.thing == "other" else name.words for name in (one, other)]
    if "other" in (one.thing, other.thing) and (_within(words[0], words[1]) or _within(words[1], words[0])):
        return False
    return min(map(len, words)) > 1 and bool(set(words[0]) & set(words[1]) - en.SMALL)


def reconciled(one: Name, other: Name, whole: Name) -> bool:
    """Whether they do not conflict because they are two parts of one foreign name: 安娜, 史密斯 of 安娜·史密斯."""
    return whole.chinese and len(whole.words) > 1 and part_of(one, whole) and part_of(other, whole)


def _spelled_alike(one: Name, other: Name) -> bool:
    if "other" in (one.thing, other.thing) and not one.chinese:  # Victoria Hill is not a form of Victor Hill
        return "".join(map(singular, one.words)) == "".join(map(singular, other.words))
    return variant_key(one) == variant_key(other)


def _chinese_quarrel(one: Name, other: Name) -> bool:
    a, b = one.key, other.key
    if "person" in (one.thing, other.thing):
        surnames = [surname_of(key) for key in (a, b)]
        return surnames[0] != surnames[1] if all(surnames) else full_name(a) and full_name(b)
    if like_person(one) and like_person(other) and a[0] == b[0] and abs(len(a) - len(b)) < 2:
        return True  # 张伟, 张娜; a short form has at least two characters less
    named = one.thing in _NAMED and other.thing in _NAMED
    return named and min(len(a), len(b)) > 2 and (a[-2:] == b[-2:] or a[:2] == b[:2])
