"""What the rules about the wording of a document ask: the names around a fact, and the words between them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from factpin.documents import Document, Fact, Mention, Span
from factpin.language.countries import is_of_country
from factpin.language.pronouns import is_pronoun

PERSON, TITLE, PLACE, WORK, GROUP = "person", "title", "location", "work", "organization"  # types of the shipped models
NATIONALITY = ("国籍", "country of citizenship")
OWN = (*NATIONALITY, "任职", "职务", "employer", "member of political party", "position held")  # somebody's own

# ---- between a name and what is said of it --------------------------------------------------------------------------

NEAR = {"en": 40, "zh": 10}  # characters between an attribute and the name behind it
LONGEST = 80  # characters of the name of a place
ATTRIBUTE = {  # a noun phrase goes on: the US researcher Stephen Cook, 法国女子选手泰丝
    "en": re.compile(r"(?:['’]s)?[ -](?:(?!(?:a|an|the|and|or|of|in|on|at|by|to|for|with|from|as|under|over|after|"
                     r"before|is|was|were|are|be|been|became|has|had|have|that|which|who|when|where|while|but|not)\b)"
                     r"[\w'’.-]+[ -]){0,4}"),
    "zh": re.compile("[^，。；：、！？“”‘’（）()《》,;:的由在被将把与和及对向从到于给让使受以应却了着曾也都又还就才]*"),
}  # fmt: skip
CAPITALISED = re.compile(r"\b[A-Z][\w'’.-]*")
_TITLES = """
Ambassador Archduke Baron Captain Cardinal Chancellor Chief Colonel Count Countess Crown Deputy
Doctor Dr. Duchess Duke Emperor Empress First Foreign General Governor Grand Interior
Justice King Lady Lieutenant Lord Major Marshal Minister President Prime Prince Princess
Professor Queen Secretary Senator Sir Supreme Sultan Tsar Vice
"""
TITLES = frozenset(_TITLES.split())
VERBAL = re.compile(  # Scotland married Edgar; a Korean series starring Choi
    r"\b(?:married|starr(?:ing|ed)|featur(?:ing|ed)|directed|produced|written|wrote|created|hosted|beat|defeat(?:ed|ing)|"
    r"succeed(?:ed|ing)|joined|met|killed|invaded|visited|play(?:ed|ing)|against|signed|released|published|won|said|told)\b"
)
CLAUSE = re.compile(r"[，。；！？：]|[,;:]\s")


@dataclass(frozen=True)
class MentionsInOrder:
    """Mentions in the order of the text, to look up those near a place."""

    mentions: tuple[Mention, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, mentions: Iterable[Mention]) -> Self:
        """The mentions in order."""
        row = sorted(mentions, key=lambda m: (m.start, m.end))
        return cls(tuple(row), tuple(m.start for m in row))

    def within(self, start: int, end: int) -> list[Mention]:
        """The mentions that lie between two places."""
        first, last = bisect_left(self.starts, start), bisect_right(self.starts, end)
        return [m for m in self.mentions[first:last] if m.end <= end]


@dataclass(frozen=True)
class Scene:
    """What the rules ask about a document, prepared once."""

    text: str
    language: str  # whose rules hold: zh, or else en
    sentences: tuple[Span, ...]
    at: Mapping[str, Mention]
    names: Mapping[str, str]  # of entities
    first: Mapping[str, int]  # where each entity is named first
    types: Mapping[str, str]  # of entities
    people: MentionsInOrder
    works: MentionsInOrder
    groups: MentionsInOrder
    places: MentionsInOrder  # locations, and whatever some fact takes for a nationality

    @classmethod
    def of(cls, doc: Document) -> Self:
        """Prepare a document."""
        tails = {fact.tail_mention for fact in doc.facts if fact.relation in NATIONALITY}
        heads = {fact.head_mention for fact in doc.facts if fact.relation in OWN}
        at = {m.id: m for m in doc.mentions}
        return cls(
            text=doc.text,
            language="zh" if doc.language == "zh" else "en",
            sentences=doc.sentences,
            at=at,
            names={e.id: e.name or at[e.mentions[0]].text for e in doc.entities},
            first={e.id: named for e in doc.entities if (named := _named(e.mentions, at)) is not None},
            types={e.id: e.type for e in doc.entities},
            people=MentionsInOrder.of(m for m in doc.mentions if m.type == PERSON or m.id in heads),
            works=MentionsInOrder.of(m for m in doc.mentions if m.type == WORK),
            groups=MentionsInOrder.of(m for m in doc.mentions if m.type == GROUP),
            places=MentionsInOrder.of(m for m in doc.mentions if m.type == PLACE or m.id in tails),
        )

    def ends(self, fact: Fact) -> tuple[Mention, Mention] | None:
        """The mentions that a fact was found between, if it has both."""
        head, tail = self.at.get(fact.head_mention or ""), self.at.get(fact.tail_mention or "")
        return None if head is None or tail is None else (head, tail)

    def around(self, fact: Fact) -> str | None:
        """The words of a sentence around the two names of a fact; None if they are in several."""
        ends = self.ends(fact)
        if ends is None:
            return None
        first, last = sorted(ends, key=lambda m: m.start)
        at = bisect_right(self.sentences, first.start, key=lambda sentence: sentence[0]) - 1
        if at < 0 or last.end > self.sentences[at][1]:
            return None
        start, end = self.sentences[at]
        return " ".join((self.text[start : first.start], self.text[first.end : last.start], self.text[last.end : end]))

    def is_subject(self, entity: str, pronoun: Mention) -> bool:
        """Whether a pronoun most likely means an entity: it was named first of its type before it.

        An entity that has no name is not judged here.
        """
        own = self.first.get(entity)
        if own is None:
            return True
        rivals = [at for other, at in self.first.items() if self.types[other] == self.types[entity] and other != entity]
        return own < pronoun.start and all(own < at for at in rivals if at < pronoun.start)

    def within_one_sentence(self, fact: Fact) -> tuple[Mention, Mention, str] | None:
        """The two names of a fact in the order of the text, and what is between them; None if in several sentences."""
        ends = self.ends(fact)
        if ends is None or self.around(fact) is None:
            return None
        first, last = sorted(ends, key=lambda m: m.start)
        return first, last, self.text[first.end : last.start]

    def sentence(self, m: Mention) -> Span:
        """The sentence of a mention."""
        at = bisect_right(self.sentences, m.start, key=lambda sentence: sentence[0]) - 1
        return self.sentences[max(0, at)] if self.sentences else Span(0, len(self.text))

    def clause(self, m: Mention) -> Span:
        """The part of its sentence between two commas that a mention is in."""
        start, end = self.sentence(m)
        before = [match.end() for match in CLAUSE.finditer(self.text, start, m.start)]
        after = CLAUSE.search(self.text, m.end, max(end, m.end))
        return Span(before[-1] if before else start, after.start() if after else end)

    def is_aside(self, m: Mention) -> bool:
        """Whether a mention is all that is in the brackets behind another name: Quinn Jackson (Lara Cox)."""
        before, after = self.text[: m.start].rstrip(), self.text[m.end : m.end + 2].lstrip()
        opened = before[:-1].rstrip() if before.endswith(("(", "（")) else ""
        named = bool(opened) and bool(self.people.within(max(0, len(opened) - LONGEST), len(opened)))
        return named and after.startswith((")", "）")) and opened[-1].isalpha()

    def is_bracketed(self, m: Mention) -> bool:
        """Whether a mention is inside brackets."""
        start = self.sentence(m)[0]
        return self.text.count("(", start, m.start) > self.text.count(")", start, m.start)

    def is_attribute(self, attribute: Mention, name: Mention) -> bool:
        """Whether a mention is part of the noun phrase right before a name."""
        gap = self.text[attribute.end : name.start]
        if is_of_country(attribute.text) and not set(CAPITALISED.findall(gap)) <= TITLES:
            return False  # it is part of another name: the Australian Federal Police
        if self.language == "en" and VERBAL.search(gap):
            return False
        near = attribute.end <= name.start <= attribute.end + NEAR[self.language]
        return near and ATTRIBUTE[self.language].fullmatch(gap) is not None

    def owner(self, attribute: Mention) -> Mention | None:
        """The person whose name comes right behind an attribute."""
        at = bisect_left(self.people.starts, attribute.end)
        following = self.people.mentions[at : at + 1]
        return following[0] if following and self.is_attribute(attribute, following[0]) else None

    def attributes(self, name: Mention) -> list[Mention]:
        """The places in the noun phrase right before a name."""
        start = name.start - NEAR[self.language] - LONGEST
        return [m for m in self.places.within(max(0, start), name.start) if self.is_attribute(m, name)]


def _named(ids: Iterable[str], at: Mapping[str, Mention]) -> int | None:
    """Where the first mention that is a name begins."""
    return min((at[id].start for id in ids if not is_pronoun(at[id].text)), default=None)
