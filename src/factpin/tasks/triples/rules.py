"""Rules of triples: which of the found facts can be meant, what follows from them, and which exclude each other.

    sound(facts, doc)                      without arguments that are no names
    completed(facts, schema, complete)     with what follows from symmetric and inverse relations
    one_pair(facts, doc)                   of the same draft of several mentions in a sentence, the pair that is meant
    functional(facts, statements, …)       one tail for a head: what is claimed before what is not, then the surest

A fact here has no ids yet: it is a relation between two spots of the text, with the score of its link. What is left out
is counted in `dropped`, by reason.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from factpin.documents import Document, Schema
from factpin.language.assertion import cues_among, standing
from factpin.language.identify import HAN
from factpin.tasks.links import fits

CLAUSE = re.compile(r"[，。；;！？!?\n]|(?<!\d),|,(?!\d)")
# A comma inside a Latin name does not end a clause: Auburn, Washington.
BREAK = re.compile(rf"[，。；;]|(?<={HAN.pattern}),|,(?={HAN.pattern})")
BRACKETS = {"》": "《", "〉": "〈", "”": "“", "」": "「", "』": "『", "）": "（", ")": "(", "】": "【", "]": "["}


class Spot(NamedTuple):
    """A mention before it has an id."""

    start: int
    end: int
    type: str


class DraftFact(NamedTuple):
    """A fact before it has ids."""

    head: Spot
    relation: str
    tail: Spot


# ---- arguments that are not names -----------------------------------------------------------------------------------


def sound(facts: dict[DraftFact, float], doc: Document, dropped: Counter[str]) -> dict[DraftFact, float]:
    """Without facts of which an argument cannot be a name, or is the other argument."""
    cues = cues_among(doc, {spot[:2] for draft in facts for spot in (draft.head, draft.tail)})
    kept = {draft: score for draft, score in facts.items() if not _unsound(draft, doc.text, cues)}
    dropped["no name"] = len(facts) - len(kept)
    return kept


def _unsound(draft: DraftFact, text: str, cues: set[tuple[int, int]]) -> bool:
    """Head is tail, an argument is a cue (作者可能是…) or two names (红豆》，《红豆), or it holds the other one and is
    broken. What merely holds the other, such as a book with its author's name in the title, may stay."""
    spots = (draft.head, draft.tail)
    if draft.head[:2] == draft.tail[:2] or any(spot[:2] in cues for spot in spots):
        return True
    loose = [_loose_brackets(text[spot.start : spot.end]) for spot in spots]
    if any(closed and opened for closed, opened in loose):
        return True
    inner, outer = sorted(range(2), key=lambda i: spots[i].end - spots[i].start)
    holds = spots[outer].start <= spots[inner].start and spots[inner].end <= spots[outer].end
    return holds and (any(loose[outer]) or BREAK.search(text, spots[outer].start, spots[outer].end) is not None)


def _loose_brackets(text: str) -> tuple[int, int]:
    """How many brackets and quotation marks close what was not opened, and open what is not closed."""
    closed, opened = 0, list[str]()
    for char in text:
        if char in BRACKETS.values():
            opened.append(char)
        elif char in BRACKETS and opened and opened[-1] == BRACKETS[char]:
            opened.pop()
        else:
            closed += char in BRACKETS
    return closed, len(opened)


# ---- what follows ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CompletedFacts:
    """Facts with what follows from them."""

    scores: dict[DraftFact, float]
    statements: dict[DraftFact, list[DraftFact]]  # a found fact, and what says the same from the other side
    source: dict[DraftFact, DraftFact]  # of a fact that only follows: the found one


def completed(found: dict[DraftFact, float], schema: Schema, complete: bool, dropped: Counter[str]) -> CompletedFacts:
    """The facts that the schema allows, optionally with what follows from them."""
    facts = {draft: score for draft, score in found.items() if _fitting(draft, schema)}
    dropped["schema"] = len(found) - len(facts)
    statements = {draft: [draft] for draft in facts}
    scores, source = dict(facts), dict[DraftFact, DraftFact]()
    for draft, back in _turned(facts, schema) if complete else ():
        if not _fitting(back, schema):
            dropped["schema"] += back not in found
            continue
        statements[draft].append(back)
        scores[back] = max(scores.get(back, -np.inf), facts[draft])
        if back not in found:
            source[back] = draft
    return CompletedFacts(scores, statements, source)


def _fitting(draft: DraftFact, schema: Schema) -> bool:
    return fits(schema, draft.relation, draft.head.type, draft.tail.type)


def _turned(facts: Iterable[DraftFact], schema: Schema) -> Iterator[tuple[DraftFact, DraftFact]]:
    """(fact, what says the same from the other side); an inverse that one relation names holds for both."""
    back: dict[str, set[str]] = {}
    for name, relation in schema.relations.items():
        for other in (name if relation.symmetric else "", relation.inverse):
            if other:
                back.setdefault(name, set()).add(other)
                back.setdefault(other, set()).add(name)
    for draft in facts:
        for name in sorted(back.get(draft.relation, ())):
            yield draft, DraftFact(draft.tail, name, draft.head)


# ---- several mentions -----------------------------------------------------------------------------------------------


def one_pair(facts: Iterable[DraftFact], doc: Document, dropped: Counter[str]) -> dict[DraftFact, list[DraftFact]]:
    """The facts that stay, each with all that it represents: itself, and the same of other mentions in its sentence.

    A model links every mention of a name to what is said of one of them. Facts across sentences stay as they are.
    """
    groups: dict[tuple[object, ...], list[DraftFact]] = {}
    for draft in facts:
        at = {doc.sentence_of(draft.head.start), doc.sentence_of(draft.tail.start)}
        inside = len(at) == 1 and None not in at
        key = (_name(draft.head, doc.text), draft.relation, _name(draft.tail, doc.text), *at) if inside else draft
        groups.setdefault(key, []).append(draft)
    kept = {min(group, key=lambda draft: _apart(draft, doc.text)): group for group in groups.values()}
    dropped["several mentions"] = sum(len(group) - 1 for group in groups.values())
    return kept


def _apart(draft: DraftFact, text: str) -> tuple[bool, bool, int, int, int]:
    """Overlapping pairs last, those in one clause first, then the nearest, then the earliest; from both sides alike."""
    one, two = sorted((draft.head, draft.tail))
    clauses = CLAUSE.search(text, one.end, max(one.end, two.start)) is not None
    return two.start < one.end, clauses, max(0, two.start - one.end), one.start, two.start


def _name(spot: Spot, text: str) -> tuple[str, str]:
    return text[spot.start : spot.end], spot.type


# ---- functional relations -------------------------------------------------------------------------------------------


def functional(
    facts: CompletedFacts, kept: Iterable[DraftFact], status: Mapping[DraftFact, str | None], text: str, schema: Schema
) -> set[DraftFact]:
    """The kept facts of statements that agree with every better one: a functional relation gives a head one tail.

    What is asserted is better than what is not, then the surer, of equals the earlier. What is negated says what the
    tail is not: it goes with any other. A statement of which one fact does not agree falls as a whole.
    """
    own, good = {*kept}, set[DraftFact]()
    tail: dict[tuple[tuple[str, str], str], tuple[str, str]] = {}
    for draft in sorted(facts.statements.keys() & own, key=lambda t: (standing(status.get(t)), -facts.scores[t], t)):
        same = [fact for fact in facts.statements[draft] if fact in own]
        bound = {
            (_name(fact.head, text), fact.relation): _name(fact.tail, text)
            for fact in same
            if one_tail(fact.relation, schema) and status.get(draft) != "negated"
        }
        if all(tail.get(key, value) == value for key, value in bound.items()):
            tail |= bound
            good |= {*same}
    return good


def one_tail(relation: str, schema: Schema) -> bool:
    """Whether a relation gives a head one tail."""
    known = schema.relations.get(relation)
    return known is not None and known.functional
