"""What is said about the entities of a document, once its mentions are grouped.

A fact that several mentions state is one fact. An argument needs a name: a fact about "he" or "the company" becomes
one about the entity that is meant, and is left out where none is found. A functional relation gives an entity one
tail. What is left out is counted in the notes of the coverage.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from factpin.documents import Coverage, Document, Entity, Fact, Mention
from factpin.extraction.combine import Place, merge_facts
from factpin.extraction.evidence import weigh
from factpin.extraction.scene import Scene
from factpin.extraction.wording import WITHIN, credible
from factpin.language.coreference import references
from factpin.language.countries import country_of, is_country
from factpin.language.pronouns import is_pronoun
from factpin.words import count

RESOLVED = 0.85  # how likely a pronoun is given to the right entity: an estimate, not fitted
DOUBTED = {"negated": 0.9, "hedged": 0.75, "conditional": 0.75}  # and that a sentence says so of this: estimates too
COUPLE = ("妻子", "丈夫")
FAR = 0.2  # a fact that is so much less likely than a rival is left out
REFERRING = re.compile("(?:[Tt]he|[Tt]his|[Tt]hat|[Hh]is|[Hh]er|[Ii]ts) |该|該|这|這|其")  # how a name does not begin


def places(doc: Document) -> set[Place]:
    """Where the mentions of a document are, and of which types."""
    return {(m.start, m.end, m.type) for m in doc.mentions}


def settle(
    doc: Document,
    functional: Collection[str] = (),
    weights: Mapping[str, float] = MappingProxyType({}),
    free: Collection[Place] = (),
) -> Document:
    """The document with every fact once, between names, and one tail where a relation allows no more.

    weights: of the features of evidence.py, which correct the scores; free: where only a fact needs a mention.
    """
    if not doc.facts:
        return doc
    referring = references(doc)
    allowed = credible(doc)
    facts = once(doubt(discount(fact, referring)) for fact in allowed)
    unknown = {e.id for e in doc.entities if referring.issuperset(e.mentions)}
    named = [fact for fact in facts if fact.head not in unknown and fact.tail not in unknown]
    kept = one_head(one_tail(named, functional, {e.id: e.type for e in doc.entities}), functional)
    kept = one_couple(one_country(kept, {e.id: e.name for e in doc.entities}))
    notes = [
        *_note(len(doc.facts) - len(allowed), "that the words of the sentence rule out"),
        *_note(len(facts) - len(named), "of somebody or something that no name was found for"),
        *_note(len(named) - len(kept), "for a better one, where there can be one alone"),
    ]
    if weights:
        kept = weigh(Scene.of(doc), kept, weights, free)
    kept = one_partner(kept)
    whole = unbroken(kept, {m.id: m for m in doc.mentions})
    notes += _note(len(kept) - len(whole), "for one between the same names with other borders")
    coverage = doc.coverage or Coverage()
    settled = replace(doc, facts=tuple(whole), coverage=replace(coverage, notes=(*coverage.notes, *notes)))
    nameless = unknown & _ends(facts)
    return without_mentions(settled, {id for e in doc.entities if e.id in nameless for id in e.mentions})


def discount(fact: Fact, referring: Collection[str]) -> Fact:
    """The fact, less likely where it is about a pronoun: whom that means is a guess too."""
    guesses = sum(id in referring for id in (fact.head_mention, fact.tail_mention))
    return fact if fact.score is None or not guesses else replace(fact, score=round(fact.score * RESOLVED**guesses, 4))


def doubt(fact: Fact) -> Fact:
    """The fact, less likely where its sentence denies or supposes it: what exactly is easily mistaken."""
    share = DOUBTED.get(fact.assertion or "", 1.0)
    return fact if fact.score is None or share == 1 else replace(fact, score=round(fact.score * share, 4))


def once(facts: Iterable[Fact]) -> list[Fact]:
    """Each fact between two entities once, asserted or denied: the surest, with all qualifiers and evidence."""
    best: dict[tuple[str, str, str, bool], Fact] = {}
    for fact in facts:
        key = (fact.head, fact.relation, fact.tail, fact.assertion == "negated")
        best[key] = merge_facts(best[key], fact) if key in best else fact
    return list(best.values())


def one_tail(facts: Iterable[Fact], functional: Collection[str], types: Mapping[str, str]) -> list[Fact]:
    """The facts, with the best asserted tail of each head for functional relations. types: of the entities.

    Places of the same sentence as the best are kept too: born in Warsaw, Poland.
    """
    facts = list(facts)
    rivals: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.relation in functional and fact.assertion in (None, "asserted"):
            rivals.setdefault((fact.head, fact.relation), []).append(fact)
    lost = set[int]()
    for group in rivals.values():
        best = max(group, key=_score)
        lost |= {id(fact) for fact in group if fact is not best and not _around(fact, best, types)}
    return [fact for fact in facts if id(fact) not in lost]


def one_head(facts: Iterable[Fact], functional: Collection[str]) -> list[Fact]:
    """The facts without those of functional relations that are far less likely than the same fact of another head.

    A place of birth that is named once is that of the one who was born, not of the parents in the same sentence. Two
    people who were born there score alike.
    """
    facts = list(facts)
    best: dict[tuple[str, str | None], float] = {}
    for fact in facts:
        if fact.relation in functional and fact.tail_mention:
            key = (fact.relation, fact.tail_mention)
            best[key] = max(best.get(key, 0.0), _score(fact))
    return [fact for fact in facts if _score(fact) >= best.get((fact.relation, fact.tail_mention), -1.0) - FAR]


def one_country(facts: Iterable[Fact], names: Mapping[str, str]) -> list[Fact]:
    """The facts, with one country in which a place lies: the most likely, whatever the relation. names: of entities."""
    facts = list(facts)
    best: dict[str, Fact] = {}
    lying = [fact for fact in facts if fact.relation in WITHIN and fact.assertion in (None, "asserted")]
    lying = [fact for fact in lying if is_country(names[fact.tail])]
    for fact in lying:
        if fact.head not in best or _score(fact) > _score(best[fact.head]):
            best[fact.head] = fact
    country = {head: country_of(names[fact.tail]) for head, fact in best.items()}
    lost = {id(fact) for fact in lying if country_of(names[fact.tail]) != country[fact.head]}
    return [fact for fact in facts if id(fact) not in lost]


def one_partner(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, with one spouse of each person in a sentence: the most likely couples first."""
    facts = list(facts)
    taken: dict[tuple[int, str], str] = {}
    lost = set[int]()
    for fact in sorted(facts, key=_score, reverse=True):
        if fact.relation != "spouse" or not fact.evidence:
            continue
        at = fact.evidence[0].sentence
        if taken.get((at, fact.head), fact.tail) != fact.tail or taken.get((at, fact.tail), fact.head) != fact.head:
            lost.add(id(fact))
        else:
            taken[at, fact.head], taken[at, fact.tail] = fact.tail, fact.head
    return [fact for fact in facts if id(fact) not in lost]


def unbroken(facts: Iterable[Fact], at: Mapping[str, Mention]) -> list[Fact]:
    """The facts, with the best of those that differ only in where their names begin or end. at: the mentions by id.

    Of a name that was cut in two ways (美国总统 and 促美国总统; Mattson and Robert Mattson Jr.) one is wrong.
    """
    facts = list(facts)
    lost = set[int]()
    for i, one in enumerate(facts):
        for other in facts[i + 1 :]:
            if one.relation == other.relation and _differ_in_borders(one, other, at):
                lost.add(id(min(one, other, key=lambda fact: (_score(fact), _length(fact, at)))))
    return [fact for fact in facts if id(fact) not in lost]


def _differ_in_borders(one: Fact, other: Fact, at: Mapping[str, Mention]) -> bool:
    """Whether both ends of two facts overlap in the text, and one of them is not the same."""
    ends = [(at.get(a or ""), at.get(b or "")) for a, b in zip(_mentions(one), _mentions(other), strict=True)]
    overlap = all(a is not None and b is not None and a.start < b.end and b.start < a.end for a, b in ends)
    return overlap and (one.head, one.tail) != (other.head, other.tail)


def _mentions(fact: Fact) -> tuple[str | None, str | None]:
    return fact.head_mention, fact.tail_mention


def _length(fact: Fact, at: Mapping[str, Mention]) -> int:
    found = [at[id] for id in _mentions(fact) if id and id in at]
    return sum(mention.end - mention.start for mention in found)


def one_couple(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, with one husband and one wife of any two people: how the likelier facts say it."""
    facts = list(facts)
    likely: dict[frozenset[str], dict[tuple[str, str], float]] = {}
    for fact in facts:
        if fact.relation in COUPLE:
            sides = likely.setdefault(frozenset((fact.head, fact.tail)), {})
            sides[_couple(fact)] = sides.get(_couple(fact), 0.0) + _score(fact)
    best = {pair: max(sides, key=sides.__getitem__) for pair, sides in likely.items()}
    return [f for f in facts if f.relation not in COUPLE or best[frozenset((f.head, f.tail))] == _couple(f)]


def _couple(fact: Fact) -> tuple[str, str]:
    """Husband and wife, as a fact says it."""
    return (fact.head, fact.tail) if fact.relation == "妻子" else (fact.tail, fact.head)


def _around(fact: Fact, best: Fact, types: Mapping[str, str]) -> bool:
    """Whether both facts name a place in the same sentence, so that one may lie in the other."""
    return types.get(fact.tail) == types.get(best.tail) == "location" and bool({*fact.evidence} & {*best.evidence})


def without_loose(doc: Document, loose: Collection[Place]) -> Document:
    """The document without the mentions at these places that none of its facts is about."""
    used = {id for fact in doc.facts for id in (fact.head_mention, fact.tail_mention)}
    used |= {q.mention for fact in doc.facts for q in fact.qualifiers}
    used |= {a.mention for event in doc.events for a in event.arguments} | {event.trigger for event in doc.events}
    gone = {m.id for m in doc.mentions if m.id not in used and (m.start, m.end, m.type) in loose}
    return without_mentions(doc, gone)


def without_mentions(doc: Document, gone: Collection[str]) -> Document:
    """The document without these mentions; an entity that has no other goes too, unless a fact is about it.

    An entity that was named by one of them is named by the longest name that is left.
    """
    if not gone:
        return doc
    about = _ends(doc.facts) | {q.entity for fact in doc.facts for q in fact.qualifiers}
    held = {id for e in doc.entities if e.id in about and {*e.mentions} <= {*gone} for id in e.mentions}
    lost = {*gone} - held
    rest = {e.id: tuple(id for id in e.mentions if id not in lost) for e in doc.entities}
    text = {m.id: m.text for m in doc.mentions}

    def name(e: Entity) -> str:
        """Its name, unless only a mention that goes has it."""
        left = [text[id] for id in rest[e.id]]
        names = [name for name in left if not is_pronoun(name) and REFERRING.match(name) is None]
        gone_with = e.name in {text[id] for id in e.mentions} - {*left}
        return max(names, key=len) if names and gone_with else e.name

    entities = tuple(replace(e, name=name(e), mentions=rest[e.id]) for e in doc.entities if rest[e.id])
    return replace(doc, mentions=tuple(m for m in doc.mentions if m.id not in lost), entities=entities)


def _ends(facts: Iterable[Fact]) -> set[str]:
    return {end for fact in facts for end in (fact.head, fact.tail)}


def _score(fact: Fact) -> float:
    return -1.0 if fact.score is None else fact.score


def _note(number: int, why: str) -> list[str]:
    return [f"{count(number, 'fact')} left out {why}"] if number else []
