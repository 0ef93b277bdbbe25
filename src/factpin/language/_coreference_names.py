"""Names: the names of the mentions of a document, and what kind they are.

    read(doc) -> MentionNames(doc, mentions in the order of the text, names, the name of every mention)

Mentions with the same folded text and the same type are one name. A type may be outvoted by the other mentions of the
name (_coreference_types), and titles may split a name: Mr. [Smith], Ms. [Smith]. Each pronoun ("he", 其) and nominal
("the company", 该公司) is a separate name, because the same words may mean something else in the next sentence.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from factpin.documents.nouns import Document, Mention
from factpin.language import _coreference_en as en
from factpin.language import _coreference_zh as zh
from factpin.language._coreference_titles import gender_of, titles_of
from factpin.language._coreference_types import GENERIC, thing_of, voted
from factpin.language.identify import HAN

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_INITIALS = re.compile(r"\b(\w)\.")  # U.S., J. R.
_POSSESSIVE = re.compile(r"\s?['’]s?$")
_BLANKS = re.compile(r"\s+")
_DASHES = re.compile(r"\s*[-‐-―−]\s*")
_DOTS = re.compile(r"[·・•‧．]")
_SYMBOLS = ("So", "Sk", "Cf", "Cs", "Co")
_SELECTORS = "\ufe0e\ufe0f\u20e3"  # make an emoji of the character before
_UNITS = "°♭"
_EDGES = " \t\n\"'“”‘’「」『』《》〈〉,.;:，。；：、"


@dataclass(frozen=True)
class Name:
    """One name, and its mentions (indices into MentionNames.mentions, ascending)."""

    index: int
    text: str
    key: str  # folded
    kind: str  # name, nominal, pronoun or speaker
    type: str  # "" if it is not known
    thing: str  # person, organisation, place, time, number, other; "" if it is not known
    gender: str = ""
    number: str = ""
    head: str = ""  # of a nominal: company
    titles: frozenset[str] = frozenset()  # of a person
    mentions: list[int] = field(default_factory=list)

    @cached_property
    def chinese(self) -> bool:
        """Whether it has Chinese characters."""
        return bool(HAN.search(self.text))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words without titles and degrees; the parts between dots if it is Chinese."""
        if self.chinese:
            return tuple(part for part in _DOTS.split(self.key) if part)
        found = tuple(_WORD.findall(self.key))
        return without_ends(found) if self.thing in ("person", "") else found

    @cached_property
    def capital(self) -> bool:
        """Whether every word except function words is capitalised, as in names."""
        words = [word for word in _WORD.findall(self.text) if word.casefold() not in en.SMALL]
        return bool(words) and all(word[0].isupper() or word[0].isdigit() for word in words)


def without_ends(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a person's name without titles before it and degrees after it."""
    while len(words) > 1 and words[0] in en.TITLES:
        words = words[1:]
    return words[:1] + tuple(word for word in words[1:] if word not in en.SUFFIXES)


@dataclass(frozen=True)
class MentionNames:
    """A document's mentions in the order of the text, and their names in the order of their first mentions."""

    doc: Document
    mentions: tuple[Mention, ...]
    names: tuple[Name, ...]
    name_of: tuple[Name, ...]  # of every mention

    def first(self, name: Name) -> Mention:
        """The first mention of a name."""
        return self.mentions[name.mentions[0]]


def read(doc: Document) -> MentionNames:
    """The names of a document. Neither the order of its mentions nor their ids matter."""
    mentions = tuple(sorted(doc.mentions, key=lambda m: (m.start, m.end, m.type, m.id)))
    seen = _agreed([_name(mention, doc.text) for mention in mentions], mentions)
    members: dict[tuple[str, ...], list[int]] = {}
    for i, one in enumerate(seen):
        members.setdefault((one.key, one.type, one.gender) if one.kind == "name" else (str(i),), []).append(i)
    names, name_of = [], {}
    for index, own in enumerate(members.values()):
        titles = frozenset[str]().union(*(seen[i].titles for i in own))
        name = replace(seen[own[0]], index=index, titles=titles, mentions=own)
        names.append(name)
        name_of.update(dict.fromkeys(own, name))
    return MentionNames(doc, mentions, tuple(names), tuple(name_of[i] for i in range(len(mentions))))


def _agreed(seen: list[Name], mentions: Sequence[Mention]) -> list[Name]:
    """The name of each mention, with the type and gender that the mentions of that name agree on."""
    named = [(one, at.score is not None) for one, at in zip(seen, mentions, strict=True) if one.kind == "name"]
    people = [one.words for one, _ in named if one.thing == "person" and len(one.words) > 1]
    given = ((one.key, one.type, predicted) for one, predicted in named)
    types = voted(given, {word for words in people for word in words})
    if types:
        seen = [_retyped(one, types.get((one.key, one.type), one.type)) for one in seen]
    genders: dict[tuple[str, str], set[str]] = {}
    for one in seen:
        if one.kind == "name" and one.gender:
            genders.setdefault((one.key, one.type), set()).add(one.gender)
    agreed = {which: next(iter(found)) for which, found in genders.items() if len(found) == 1}
    return [
        replace(one, gender=agreed[one.key, one.type]) if one.kind == "name" and (one.key, one.type) in agreed else one
        for one in seen
    ]


def _retyped(name: Name, type: str) -> Name:
    return name if name.kind != "name" or type == name.type else replace(name, type=type, thing=thing_of(type))


def _name(mention: Mention, text: str) -> Name:
    """The name of one mention; its index is set later."""
    generic = mention.type.casefold() in GENERIC
    type = "" if generic else mention.type
    thing = thing_of(type)
    key = fold(mention.text, person=thing == "person")
    small = mention.text.strip().casefold().translate(zh.SIMPLIFIED)
    shouted = len(small) > 1 and mention.text.isupper()  # US is not a pronoun
    for words in (en, zh):
        if small in words.PRONOUNS and not shouted:
            kind, gender, number = words.PRONOUNS[small]
            return Name(-1, mention.text, key, "pronoun", type, thing or kind, gender, number)
        if small in words.SPEAKERS and not shouted:
            return Name(-1, mention.text, key, "speaker", type, thing or "person")
    found = _nominal(mention.text, small, generic)
    if found is not None:
        head, kind, gender = found
        if not thing or not kind or thing == kind:
            number = _number(key) or ("one" if kind == "person" and (head.isascii() or head != small) else "")
            return Name(-1, mention.text, key, "nominal", type, thing or kind, gender, number, head)
    number = "one" if _single(mention.text, key, thing) else _number(key)
    if thing == "person" and " " not in mention.text.strip():
        number = number if number == "one" else ""  # Williams may be one
    titles = titles_of(text, mention, thing)
    gender = _gender(mention.text, key) or gender_of(titles)
    return Name(-1, mention.text, key, "name", type, thing, gender, number, titles=titles)


def _nominal(text: str, small: str, generic: bool) -> tuple[str, str, str] | None:
    """(head, kind of thing, gender) of words that only refer: "the company", 该公司; None for a name."""
    if HAN.search(text):
        rest = next((small[len(word) :] for word in zh.POINTING if small.startswith(word)), small)
        if rest in zh.NOUNS and (generic or rest != small or len(rest) > 1):
            return rest, zh.NOUNS[rest], "m" if rest in zh.MEN else "f" if rest in zh.WOMEN else ""
        return (small, "", "") if generic else None
    words = _WORD.findall(small)
    head = singular(words[-1]) if words else small
    pointed = len(words) == 2 and words[0] in en.POINTING
    bare = len(words) == 1 and text[0].islower() and en.NOUNS.get(head) != "other"
    if head in en.NOUNS and (pointed or bare):
        return head, en.NOUNS[head], "m" if head in en.MEN else "f" if head in en.WOMEN else ""
    named = len(words) > 1 and all(word[0].isupper() for word in _WORD.findall(text))  # whatever its type says
    return (head, en.NOUNS.get(head, ""), "") if generic and not named else None


def _gender(text: str, key: str) -> str:
    if HAN.search(text):
        return "m" if key.endswith(zh.MEN) else "f" if key.endswith(zh.WOMEN) else ""
    first = key.split(" ")[0].strip(".")
    return "m" if first in en.MEN and " " in key else "f" if first in en.WOMEN and " " in key else ""


def _number(key: str) -> str:
    last = key.split(" ")[-1]
    return "many" if last.isascii() and last.isalpha() and singular(last) != last else ""


def _single(text: str, key: str, thing: str) -> bool:
    """Whether it is the name of one person: Mary Jones, 张伟; not the Smiths, Bonnie and Clyde, 张伟夫妇."""
    if HAN.search(text):
        return thing not in ("organisation", "place") and not key.endswith(zh.MANY)
    words = key.split(" ")
    named = text[0].isupper() and not text.casefold().startswith("the ") and "and" not in words
    return thing == "person" and named and (len(words) > 1 or not _number(key))


def fold(text: str, *, person: bool = False) -> str:
    """The text without case, width, quotes, emoji at its ends, article and possessive; Chinese without spaces.

    "A" and "An" are not articles before a full stop, in names of people, and before a capital: A. Smith, An Li.
    """
    text = unicodedata.normalize("NFKC", plain(text))
    text = _BLANKS.sub(" ", text).strip(_EDGES)
    text = _POSSESSIVE.sub("", _DASHES.sub("-", text))
    if HAN.search(text):
        text = _INITIALS.sub(r"\1", text).casefold().translate(zh.SIMPLIFIED)
        return _DOTS.sub("·", re.sub(r"(?<![a-z]) | (?![a-z])", "", text))
    first, _, rest = text.partition(" ")
    named = person or (first[:1].isupper() and rest[:1].isupper())
    if rest and first.casefold() in (("the",) if named else en.ARTICLES):
        text = rest
    return _INITIALS.sub(r"\1", text).casefold()


def plain(text: str) -> str:
    """The text without emoji and similar symbols at its ends; unchanged if there is nothing else."""
    start, end = 0, len(text)
    while start < end and _symbol(text[start]):
        start += 1
    while start < end and _symbol(text[end - 1]):
        end -= 1
    return text[start:end] or text


def _symbol(letter: str) -> bool:
    found = unicodedata.category(letter) in _SYMBOLS or letter in _SELECTORS
    return (found and letter not in _UNITS) or letter.isspace()


def singular(word: str) -> str:
    """An English word without its plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def stem(word: str) -> str:
    """An English word without the ending that makes it an adjective or a plural: ischemia, ischemic."""
    word = singular(word)
    for ending in en.ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= en.STEM:
            return word[: -len(ending)]
    return word
