"""Answer English questions that compare two things by facts about each: "Who is older, A or B?", "Which film has the
director who died first, A or B?", "Are A and B from the same country?".

As elsewhere, no word of a question may be left over, and both sides need a fact.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from factpin.answers.cite import citations_of, shared
from factpin.answers.named import BRACKETS, Name, names_in
from factpin.answers.parse import ParsedQuestion, blank_out
from factpin.answers.subjects import subjects
from factpin.documents import Answer, Citation, Hop
from factpin.language.countries import country_of, is_country
from factpin.memory import ALL, Filter, JudgedFact, Pattern, Store
from factpin.memory.agreement import names_agree
from factpin.memory.dates import date_in

HOLDS = "active"
UNCLEAR = (  # countries of which one was or is a part of another: nobody can say that they differ
    {"united kingdom", "england", "scotland", "wales", "northern ireland"},
    {"germany", "east germany", "prussia"},
    {"russia", "soviet union", "ukraine", "belarus", "lithuania", "latvia", "estonia", "armenia", "azerbaijan"},
    {"soviet union", "georgia", "kazakhstan", "uzbekistan", "moldova"},
    {"south korea", "north korea", "korea"},
    {"china", "taiwan", "republic of china", "hong kong"},
    {"czech republic", "slovakia", "czechoslovakia"},
    {"serbia", "yugoslavia", "croatia", "slovenia", "bosnia", "montenegro", "macedonia", "north macedonia", "kosovo"},
)
_JOINED = {
    "or": re.compile(r"\s*,?\s+or\s+(?:the\s+)?(?:film\s+|song\s+|movie\s+)?", re.I),
    "and": re.compile(
        r"\s*,?\s+and\s+(?:the\s+)?(?:directors?\s+of\s+(?:the\s+)?)?(?:film\s+|song\s+|movie\s+)?", re.I
    ),
    "as": re.compile(r"\s+(?:have|has|share|shares)\s+(?:the\s+)?same\s+(?:nationality|country)\s+as\s+", re.I),
}
_BESIDE = (  # words beside the two names
    "who as which what whose film films movie movies song songs one person of the has have had that is was were are "
    "be did do does director directors directed by born die died dies older younger oldest youngest first earlier "
    "later latest recently recent most more last before came come out released release publication published "
    "share shared same both nationality nationalities country located in from a an to at on or and founded "
    "established villages village towns actors people originate origin nation cities universities university "
    "colleges schools airports stations rivers lakes mountains companies bands albums singers writers magazines "
    "buildings mosques churches places "
)
_ALLOWED = frozenset(_BESIDE.split())
_LATER = re.compile(r"\b(?:younger|youngest|later|latest|recent|recently|last)\b", re.I)
_EARLIER = re.compile(r"\b(?:older|oldest|first|earlier|before)\b", re.I)
_EVENT = re.compile(r"\b(?:born|die[sd]?|released?|publish\w*|publication|founded|established|c[ao]me)\b", re.I)
_WHO = re.compile(r"\s*who\b", re.I)
_VAGUE = re.compile(r"\b(?:b\.?\s?c\.?(?:\s?e\.?)?|before|after|by|between|from)(?![a-z])|公元前", re.I)
_SAME = re.compile(r"\bsame\s+(?:nationality|nationalities|country)\b", re.I)
_DIRECTOR = re.compile(r"\bdirectors?\b", re.I)
_ASKED = (  # relations that decide, and the words that ask for them
    (("date of death",), re.compile(r"\bdie[sd]?\b", re.I)),
    (("date of birth",), re.compile(r"\bborn|older|younger|oldest|youngest\b", re.I)),
    (("publication date",), re.compile(r"\breleased?\b|\bc[ao]me\s+out\b|\bpublish|\bpublication\b", re.I)),
    (("inception",), re.compile(r"\bfounded\b|\bestablished\b", re.I)),
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things that are compared: its name, the fact that decides, and the fact that led there."""

    name: str
    value: str
    facts: tuple[JudgedFact, ...]


def compare(question: ParsedQuestion, store: Store, filter: Filter = ALL) -> Answer | None:
    """The answer to a question that compares two things; None if it is no such question, or facts do not decide."""
    if question.language != "en":
        return None
    same = _SAME.search(question.text) is not None
    names = names_in(question.text, store, filter)
    pairs = (_pair(names, question.text, _JOINED[joint]) for joint in (("and", "as") if same else ("or",)))
    pair = next((pair for pair in pairs if pair), None)
    if pair is None:
        return None
    rest = blank_out(question.text, [span for span, _ in pair])
    words = {word.casefold() for word in _WORD.findall(rest)}
    if not words <= _ALLOWED:
        return None
    return _same(question, store, filter, pair, rest) if same else _first(question, store, filter, pair, rest)


def _pair(names: Sequence[Name], text: str, between: re.Pattern[str]) -> tuple[Name, Name] | None:
    """The two names that are joined, the longest ones."""
    pairs = [
        (one, other) for one in names for other in names
        if one[0].end <= other[0].start and between.fullmatch(text[one[0].end : other[0].start])
    ]  # fmt: skip
    return max(pairs, key=lambda pair: sum(end - start for (start, end), _ in pair), default=None)


def _first(question: ParsedQuestion, store: Store, filter: Filter, pair: tuple[Name, Name], rest: str) -> Answer | None:
    """Which of two is earlier or later."""
    asked = [relations for relations, words in _ASKED if words.search(rest)]
    later, earlier = bool(_LATER.search(rest)), bool(_EARLIER.search(rest))
    if len(asked) != 1 or later == earlier:
        return None
    (relations,) = asked
    sides = [_side(question.text, store, filter, name, relations, rest) for name in pair]
    one, other = sides
    if one is None or other is None:
        return None
    if _VAGUE.search(one.value) or _VAGUE.search(other.value):
        return None
    dates = date_in(one.value), date_in(other.value)
    known = min(map(len, dates))
    if not known or dates[0][:known] == dates[1][:known]:
        return None
    chosen = one if (dates[0] < dates[1]) == earlier else other
    return _answer(question.text, chosen.name, (one, other))


def _same(question: ParsedQuestion, store: Store, filter: Filter, pair: tuple[Name, Name], rest: str) -> Answer | None:
    """Whether two are of one country; not whether something happened to both in one country."""
    if _EVENT.search(rest):
        return None
    people = "nationalit" in rest.lower() or bool(_DIRECTOR.search(rest))
    kinds = ("country of citizenship",) if people else ("country of citizenship", "country", "country of origin")
    for relation in kinds:
        one, other = (_side(question.text, store, filter, name, (relation,), rest) for name in pair)
        if one is not None and other is not None:
            equal = _equal(country_of(one.value), country_of(other.value))
            return None if equal is None else _answer(question.text, "yes" if equal else "no", (one, other))
    return None


def _equal(one: str, other: str) -> bool | None:
    """Whether two countries are the same; None where one may be a part of the other, or is none that is known."""
    if one == other:
        return True
    unclear = any({one, other} <= group for group in UNCLEAR)
    return False if is_country(one) and is_country(other) and not unclear else None


def _side(text: str, store: Store, filter: Filter, name: Name, relations: tuple[str, ...], rest: str) -> Side | None:
    """What a fact says about one thing, or of its director if the question is about directors."""
    span, candidates = name
    shown = BRACKETS.sub("", text[slice(*span)])
    heads, facts = [c.entity.id for c in candidates], tuple[JudgedFact, ...]()
    if _DIRECTOR.search(rest):
        made = _only(_facts(store, filter, heads, ("director",)))
        if made is None:
            return None
        known = subjects(store, [made.fact.tail.name], filter)
        heads = [made.fact.tail.id, *(c.entity.id for found in known.values() for c in found)]
        facts = (made,)
        shown = made.fact.tail.name if _WHO.match(rest) else shown
    value = _only(_facts(store, filter, heads, relations))
    return None if value is None else Side(shown, value.fact.tail.name, (*facts, value))


def _facts(store: Store, filter: Filter, heads: Iterable[str], relations: tuple[str, ...]) -> list[JudgedFact]:
    found = store.judged(Pattern(heads=tuple(heads), relations=relations), filter)
    return [one for one in found if one.status == HOLDS]


def _only(facts: Sequence[JudgedFact]) -> JudgedFact | None:
    """The most exact of facts that agree; None if they do not, or there is none."""
    if not facts:
        return None
    best = max(facts, key=lambda one: (len(one.fact.tail.name), one.confidence, one.fact.id))
    return best if all(names_agree(best.fact.tail, one.fact.tail) for one in facts) else None


def _answer(question: str, text: str, sides: tuple[Side, Side]) -> Answer:
    facts = [judged for side in sides for judged in side.facts]
    score = 1.0
    for judged in facts:
        score *= judged.confidence
    citations = shared([c for judged in facts for c in citations_of(judged.fact, inverse=False)])
    path = tuple(
        Hop(judged.fact.head.name, judged.fact.tail.name, _cited(judged), judged.fact.relation) for judged in facts
    )
    return Answer(question, text, min(1.0, score), "facts", citations=citations, path=path)


def _cited(judged: JudgedFact) -> Citation:
    """The best citation of a fact."""
    return replace(citations_of(judged.fact, inverse=False)[0], weight=1.0)
