"""Answers from facts alone: no model, no guess.

The names of the store that stand in the question are where the search begins. A fact answers when the question has a
cue for its relation, when its other end is of the kind that is asked for, and when nothing in the question is left
unexplained. Two facts are chained for questions such as "When was the director of X born?".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from factpin.answers.asked import Asked, understand
from factpin.answers.chains import Chain, Finder, Looked, Step
from factpin.answers.cite import citation_of, citations_of, shared
from factpin.answers.say import say
from factpin.documents import Answer, Hop, Schema, Span
from factpin.documents.keys import fold
from factpin.documents.likely import LIKELY
from factpin.memory import ALL, Candidate, Filter, Store, StoredEntity

CERTAIN = 0.999  # beyond this two facts count as equally sure
MOST_LISTED = 10
MOST_NOTES = 3


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the facts answer, or None, and how it was found."""

    asked: Asked
    answer: Answer | None
    names: tuple[tuple[str, tuple[Candidate, ...]], ...] = ()
    looks: tuple[Looked, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that chains lead to."""

    entity: StoredEntity
    chains: tuple[Chain, ...]
    score: float


@dataclass
class Group:
    """What the chains from one entity answer."""

    candidate: Candidate
    told: list[Told] = field(default_factory=list)
    single: bool = False  # only one of several answers can be right
    conflict: bool = False  # and more than one is likely, or a text denies what another says


def lookup(question: str, store: Store, filter: Filter = ALL) -> Lookup:
    """The answer that the facts of a store give, or none."""
    asked = understand(question)
    if not asked.kind:
        return Lookup(asked, None, notes=(say("yes_no", asked.language),))
    finder = Finder(store, asked, filter)
    names = store.names_in(question, filter)
    found: list[Group] = []
    for span, candidates in names:
        found = [g for c in candidates if (g := _group(finder, span, c, store.schema())).told]
        if found:
            break
    notes = _notes(finder.others, asked.language)
    answer = _answer(asked, found, notes) if found else None
    shown = tuple((question[span.start : span.end], tuple(candidates)) for span, candidates in names)
    return Lookup(asked, answer, shown, tuple(finder.looks.values()), tuple(notes))


def _group(finder: Finder, span: Span, candidate: Candidate, schema: Schema) -> Group:
    group = Group(candidate)
    chains = finder.chains(span, candidate.entity)
    for chain in sorted(chains, key=lambda c: (-c.score, -len(c.target.name), c.target.id)):
        same = next((i for i, told in enumerate(group.told) if _compatible(told.entity, chain.target)), None)
        if same is None:
            group.told.append(Told(chain.target, (chain,), chain.score))
        else:
            group.told[same] = _merged(group.told[same], chain)
    if len(group.told) > 1 and any(_single(chain.steps[-1], schema) for told in group.told for chain in told.chains):
        group.single, group.conflict = True, sum(told.score >= LIKELY for told in group.told) > 1
        group.told = _exclusive(group.told)
    elif any(chain.steps[-1].judged.status == "disputed" for told in group.told for chain in told.chains):
        group.conflict = any(_is_denied(chain.steps[-1]) for told in group.told for chain in told.chains)
    return group


def _compatible(a: StoredEntity, b: StoredEntity) -> bool:
    """Whether two answers say the same, one perhaps more exactly: 2003 and 2003-09-03, Lyon and Lyon, France."""
    if a.id == b.id:
        return True
    short, long = sorted((fold(a.name), fold(b.name)), key=len)
    if short.isascii():
        return f" {short} " in f" {long.replace(',', ' ').replace('-', ' ')} ".replace("  ", " ") or short == long
    return len(short) > 1 and short in long


def _merged(told: Told, chain: Chain) -> Told:
    entity = max(told.entity, chain.target, key=lambda e: (len(e.name), e.id))
    return Told(entity, (*told.chains, chain), max(told.score, chain.score))


def _single(step: Step, schema: Schema) -> bool:
    """Whether the relation of a step leads to one thing only."""
    relation = schema.relations.get(step.judged.fact.relation)
    return not step.inverse and relation is not None and (relation.functional or relation.changes)


def _is_denied(step: Step) -> bool:
    return any(pin.assertion == "negated" for pin in step.judged.fact.pins)


def _exclusive(told: Sequence[Told]) -> list[Told]:
    """Scores of answers of which only one can be right: their odds, scaled to sum to 1."""
    odds = [min(one.score, CERTAIN) / (1 - min(one.score, CERTAIN)) for one in told]
    best = max(one.score for one in told)
    total = sum(odds)
    scaled = [replace(one, score=best * odd / total) for one, odd in zip(told, odds, strict=True)]
    return sorted(scaled, key=lambda one: (-one.score, -len(_texts(one)), one.entity.name))


def _texts(told: Told) -> set[str]:
    return {pin.text_key for chain in told.chains for pin in chain.steps[-1].judged.fact.pins}


def _answer(asked: Asked, groups: Sequence[Group], notes: list[str]) -> Answer:
    """The answer of the likeliest entity of the name; what the others tell are alternatives. Where two entities are
    equally likely there is no answer."""
    groups = _weighed(_distinct(groups))
    first = groups[0]
    if len(groups) > 1:
        notes.append(say("ambiguous", asked.language, count=len(groups), name=asked.text[_anchor(first)]))
    if first.conflict and len(first.told) > 1:
        notes.append(say("conflict", asked.language, names=" / ".join(t.entity.name for t in first.told)))
    listed = first.told[:1] if first.single or first.conflict else first.told[:MOST_LISTED]
    if len(first.told) > len(listed) and not first.single and not first.conflict:
        notes.append(say("more", asked.language, count=len(first.told) - len(listed)))
    others = [*first.told[len(listed) :], *(told for group in groups[1:] for told in group.told)]
    answer = _of(asked, listed)
    alternatives = tuple(_of(asked, [told]) for told in others[:MOST_LISTED])
    if len(groups) > 1 and answer.score <= max(told.score for told in groups[1].told):
        return Answer(asked.text, "", answer.score, "facts", abstained=True, alternatives=(answer, *alternatives),
                      notes=tuple(notes))  # fmt: skip
    return replace(answer, alternatives=alternatives, conflict=first.conflict, notes=tuple(notes))


def _anchor(group: Group) -> slice:
    return slice(*group.told[0].chains[0].anchor)


def _distinct(groups: Sequence[Group]) -> list[Group]:
    """The groups without those that tell the same as one before: one thing under two types is no ambiguity."""
    kept: list[Group] = []
    for group in groups:
        names = {fold(told.entity.name) for told in group.told}
        if not any(names <= {fold(told.entity.name) for told in other.told} for other in kept):
            kept.append(group)
    return kept


def _weighed(groups: Sequence[Group]) -> list[Group]:
    """Scores times the share of each entity among those that have an answer; the best first."""
    total = sum(group.candidate.prior for group in groups)
    weighed = [replace(g, told=[replace(t, score=t.score * g.candidate.prior / total) for t in g.told]) for g in groups]
    return sorted(weighed, key=lambda g: (-max(t.score for t in g.told), g.candidate.entity.id))


def _of(asked: Asked, told: Sequence[Told]) -> Answer:
    """An answer that lists some things; it is as sure as the least sure of them."""
    citations = [c for one in told for chain in one.chains for c in
                 citations_of(chain.steps[-1].judged.fact, inverse=chain.steps[-1].inverse)]  # fmt: skip
    text = ("、" if asked.language == "zh" else ", ").join(one.entity.name for one in told)
    path = tuple(_hop(step) for step in told[0].chains[0].steps)
    score = min(1.0, min(one.score for one in told))
    return Answer(asked.text, text, score, "facts", citations=shared(citations), path=path)


def _hop(step: Step) -> Hop:
    fact = step.judged.fact
    best = citations_of(fact, inverse=step.inverse)[0]
    return Hop(step.source.name, step.target.name, replace(best, weight=1.0), fact.relation)


def _notes(steps: Sequence[Step], language: str) -> list[str]:
    """A note for each fact that would have answered if it held."""
    notes: dict[str, None] = {}
    for step in steps:
        fact = step.judged.fact
        citation = citation_of(fact.pins[0], fact.id, None)
        notes[say(step.judged.status, language, head=fact.head.name, relation=fact.relation, tail=fact.tail.name,
                  uri=citation.uri)] = None  # fmt: skip
    return list(notes)[:MOST_NOTES]
