"""Find the words of a question that ask for a relation, and which end of it they ask for."""

import re
from dataclasses import dataclass
from functools import cache

from factpin.answers.cues import CONCEPTS, concepts_of
from factpin.answers.kinds import kind_of
from factpin.answers.parse import ParsedQuestion, blank_out, content_words
from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.memory import StoredFact

NAMED, SEEN = 1.0, 0.9  # weight of a cue: from the table or the name of the relation, or from the evidence alone
LONGEST_BETWEEN = 60  # characters between two mentions that can express their relation
MOST_WORDS = 6
ANYWHERE = {"city", "country", "location"}  # concepts whose words, such as 位于, fit any relation to a place
_ENDING = re.compile(r"(?:ing|ers|ors|ed|er|or|es|s|e)$")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]{2,}")
_WHOSE = re.compile(r"\bwhose\b", re.I)
_OF_WHOM = re.compile(r"\s+of(?:\s+(?:which|what|whom?)\b|\W*$)", re.I)
_DID = re.compile(r"\b(?:did|does|do)\s+$", re.I)
_DONE = re.compile(
    r"(?:写|撰写|创作|导演|执导|主演|出演|演|唱|演唱|主持|创办|创立|创建|建立|开发|制造|生产|出版)[了过]?"
)
_JUST = ("", "都", "还", "曾", "曾经", "一共", "总共")
_OF_WHICH = re.compile(r"(?:谁|哪[^的]{0,6}|什么[^的]{0,5})的$")


@dataclass(frozen=True, slots=True)
class Cue:
    """Words of a question that ask for one end of a relation."""

    spans: tuple[Span, ...]
    inverse: bool  # whether it asks for the head
    kinds: tuple[str, ...]
    weight: float
    why: str


def cues(question: ParsedQuestion, anchor: Span, fact: StoredFact, *, inverse: bool) -> list[Cue]:
    """How a question about the name at `anchor` asks for the tail of a fact, or with `inverse` for its head."""
    rest = blank_out(question.text, [anchor])
    found = [
        Cue(spans, inverse, concept.kinds, NAMED, "cue")
        for concept, turned in concepts_of(fact.relation)
        if (spans := _occurrences(concept.cue(question.language), rest))
        and (concept.symmetric or _points(question, anchor, fact, spans, inverse=inverse, turned=turned))
    ]
    others = (
        (_by_name(fact.relation, rest), NAMED, "name"),
        (_unclaimed(_by_evidence(fact, rest, question.language), question, fact.relation, rest), SEEN, "evidence"),
    )
    for spans, weight, why in others:
        if spans and _points(question, anchor, fact, spans, inverse=inverse, turned=False):
            found.append(Cue(spans, inverse, (), weight, why))
    return found


def _points(
    question: ParsedQuestion, anchor: Span, fact: StoredFact, spans: tuple[Span, ...], *, inverse: bool, turned: bool
) -> bool:
    """Whether the words ask for this end of the fact. `turned`: they name the relation in the opposite direction."""
    wants_head = turned != _is_inverse(question, anchor, spans, fact.relation)
    if inverse == wants_head:
        return True
    if not inverse or turned or question.kind in ("any", ""):
        return False
    return kind_of(fact.head) == question.kind != kind_of(fact.tail) and bool(kind_of(fact.tail))


def _is_inverse(question: ParsedQuestion, anchor: Span, spans: tuple[Span, ...], relation: str) -> bool:
    """Whether the question names the tail and asks for the head: "whose father is X", X是谁的父亲."""
    text = question.text
    if question.language == "zh":
        return any(_OF_WHICH.search(text[: span.start]) or _acts(question, anchor, span) for span in spans)
    if _WHOSE.search(text) or any(_OF_WHOM.match(text, span.end) for span in spans):
        return True
    return relation.endswith(" by") and bool(_DID.search(text[: anchor.start]))


def _acts(question: ParsedQuestion, anchor: Span, cue: Span) -> bool:
    """Whether the name is who did what the cue says, and the question asks for what was done: X写了什么."""
    between, asking = question.text[anchor.end : cue.start], question.asking
    verb = _DONE.fullmatch(question.text[slice(*cue)])
    return bool(verb and between in _JUST and asking is not None and cue.end <= asking.start <= cue.end + 1)


def _occurrences(pattern: re.Pattern[str], text: str) -> tuple[Span, ...]:
    return tuple(Span(*match.span()) for match in pattern.finditer(text) if match.group().strip())


def _by_name(relation: str, rest: str) -> tuple[Span, ...]:
    """The words of the relation's own name, if all of them are in the question."""
    name = fold(relation.replace("_", " "))
    if _HAN_RUN.search(name) or len(name) < 3:
        return _occurrences(re.compile(re.escape(name), re.I), rest) if len(name) > 1 else ()
    places = [_occurrences(stemmed(word), rest) for word in content_words(name)]
    return tuple(span for found in places for span in found) if places and all(places) else ()


@cache
def stemmed(word: str) -> re.Pattern[str]:
    """An English word with any of the usual endings."""
    stem = _ENDING.sub("", word) if len(word) > 4 else word
    return re.compile(rf"\b{re.escape(stem)}(?:ing|ers?|ors?|e?d|e?s|e)?\b", re.I)


def _by_evidence(fact: StoredFact, rest: str, language: str) -> tuple[Span, ...]:
    """The words that an asserting text has between the two names."""
    found: dict[Span, None] = {}
    for pin in fact.pins:
        if pin.assertion != "asserted" or pin.head is None or pin.tail is None:
            continue
        first, second = sorted((pin.head, pin.tail))
        between = pin.quote[max(0, first.end - pin.start) : max(0, second.start - pin.start)]
        if pin.start <= first.start and second.end <= pin.end and len(between) <= LONGEST_BETWEEN:
            found.update(dict.fromkeys(_shared(between, rest, language)))
    return tuple(found)


def _unclaimed(spans: tuple[Span, ...], question: ParsedQuestion, relation: str, rest: str) -> tuple[Span, ...]:
    """The spans without words that ask for another relation: a text may have them between two names all the same.

    "X was directed by A, starring B" has "directed" between X and B, who did not direct it. A relation without a
    concept can be expressed by words that ask for an answer of another kind: "Who did Ann study under?".
    """
    own = {id(concept) for concept, _ in concepts_of(relation)}
    claimed = [
        span
        for concept in CONCEPTS
        if id(concept) not in own
        and ANYWHERE.isdisjoint(concept.names)
        and (own or question.kind in ("", "any", *concept.kinds))
        for span in _occurrences(concept.cue(question.language), rest)
        if question.language != "zh" or span.end - span.start > 1
    ]
    return tuple(span for span in spans if not any(span.start < c.end and c.start < span.end for c in claimed))


def _shared(between: str, rest: str, language: str) -> list[Span]:
    if language == "zh":
        return [span for run in _HAN_RUN.findall(between) if len(run) <= 2 * MOST_WORDS for span in _longest(run, rest)]
    words = [word for word in content_words(between) if len(word) > 2]
    return [span for word in words if len(words) <= MOST_WORDS for span in _occurrences(stemmed(word), rest)]


def _longest(run: str, rest: str) -> tuple[Span, ...]:
    """The longest part of a run of Chinese characters, at least two, that is in the question."""
    for size in range(len(run), 1, -1):
        for start in range(len(run) - size + 1):
            part = run[start : start + size]
            if part in rest:
                return _occurrences(re.compile(re.escape(part)), rest)
    return ()
