"""Answer a question from facts alone, without a model.

The search starts from the names in the question that the store knows. A fact is an answer if the question has a cue for
its relation, if its other end is of the kind asked for, and if no word of the question is left unexplained. Two facts
are chained for questions such as "When was the director of X born?".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from factpin.answers.chains import NOT_ASKED, Chain, ChainFinder, Inspection, Step
from factpin.answers.cite import citation_of, citations_of, shared
from factpin.answers.compare import compare
from factpin.answers.kin import in_steps
from factpin.answers.kinds import kind_of
from factpin.answers.named import Name, longer_names, names_in
from factpin.answers.parse import ParsedQuestion, parse_question
from factpin.answers.say import say
from factpin.answers.yes_no import affirm
from factpin.documents import Answer, Hop, Schema, Span
from factpin.documents.keys import fold
from factpin.documents.likely import LIKELY
from factpin.memory import ALL, Candidate, Filter, Store, StoredEntity
from factpin.memory.agreement import inner_place, names_agree

CERTAIN = 0.999  # scores are capped here, so that odds stay finite
MOST_LISTED = 10
WORTH = 0.1  # the score from which on an uncertain answer is worth a look
MOST_NOTES = 3


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer from the facts, if there is one, and how it was found."""

    question: ParsedQuestion
    answer: Answer | None
    names: tuple[tuple[str, tuple[Candidate, ...]], ...] = ()
    inspections: tuple[Inspection, ...] = ()
    notes: tuple[str, ...] = ()
    refuted: frozenset[str] = frozenset()  # folded names that would be the answer if their facts held
    unasked: frozenset[str] = frozenset()  # folded names in facts that the question does not ask for
    rivals: frozenset[str] = (
        frozenset()
    )  # folded names of the answers that uncertain facts give, if only one can be right


@dataclass(frozen=True, slots=True)
class Conclusion:
    """An entity that one or more chains lead to."""

    entity: StoredEntity
    chains: tuple[Chain, ...]
    score: float


@dataclass
class Group:
    """The conclusions reached from one entity."""

    candidate: Candidate
    conclusions: list[Conclusion] = field(default_factory=list)
    single: bool = False  # only one of several answers can be right
    conflict: bool = False  # several are likely, or one text denies what another asserts


def lookup(question: str, store: Store, filter: Filter = ALL) -> Lookup:
    """Look for an answer among the facts of a store."""
    with store.tables.reading():  # another process may write meanwhile
        found = _lookup(in_steps(question), store, filter)
    return replace(found, answer=replace(found.answer, question=question)) if found.answer is not None else found


def _lookup(question: str, store: Store, filter: Filter) -> Lookup:
    parsed = parse_question(question)
    compared = compare(parsed, store, filter)
    if compared is not None:
        return Lookup(parsed, compared)
    if not parsed.kind:
        answer = affirm(parsed, store, filter)
        return Lookup(parsed, answer, notes=() if answer else (say("yes_no", parsed.language),))
    finder = ChainFinder(store, parsed, filter)
    names = names_in(question, store, filter)
    found = _first_found(finder, names) or _first_found(finder, longer_names(question, names, store, filter))
    notes = _notes(finder.others, parsed.language)
    answer = _answer(parsed, found, notes) if found else None
    shown = tuple((question[span.start : span.end], tuple(candidates)) for span, candidates in names)
    refuted = frozenset(fold(step.target.name) for step in finder.others)
    looked = tuple(finder.inspections.values())
    unasked = frozenset(fold(name) for one in looked if one.why == NOT_ASKED for name in (one.head, one.tail))
    single = (conclusion for group in found if _asks_one(group, store.schema()) for conclusion in group.conclusions)
    rivals = frozenset(fold(one.entity.name) for one in single if one.score >= WORTH)
    return Lookup(parsed, answer, shown, looked, tuple(notes), refuted, unasked, rivals)


def _first_found(finder: ChainFinder, names: Sequence[Name]) -> list[Group]:
    """What is found from the entities of the first name that leads anywhere."""
    for span, candidates in names:
        found = [g for c in candidates if (g := _group(finder, span, c, finder.store.schema())).conclusions]
        if found:
            return found
    return []


def _group(finder: ChainFinder, span: Span, candidate: Candidate, schema: Schema) -> Group:
    group = Group(candidate)
    chains = finder.chains(span, candidate.entity)
    for chain in sorted(chains, key=lambda c: (-c.score, -len(c.target.name), c.target.id)):
        same = next((i for i, conclusion in enumerate(group.conclusions) if _agrees(conclusion, chain)), None)
        if same is None:
            group.conclusions.append(Conclusion(chain.target, (chain,), chain.score))
        else:
            group.conclusions[same] = _merged(group.conclusions[same], chain)
    if len(group.conclusions) > 1 and any(
        _single(chain.steps[-1], schema) for conclusion in group.conclusions for chain in conclusion.chains
    ):
        group.single, group.conflict = True, sum(conclusion.score >= LIKELY for conclusion in group.conclusions) > 1
        group.conclusions = _exclusive(group.conclusions)
    elif any(
        chain.steps[-1].judged.status == "disputed" for conclusion in group.conclusions for chain in conclusion.chains
    ):
        group.conflict = any(
            _is_denied(chain.steps[-1]) for conclusion in group.conclusions for chain in conclusion.chains
        )
    return group


def _agrees(conclusion: Conclusion, chain: Chain) -> bool:
    """Whether a chain leads to the same answer, or to a place inside or around it."""
    return names_agree(conclusion.entity, chain.target) or any(_inner(c, chain) for c in conclusion.chains)


def _inner(a: Chain, b: Chain) -> StoredEntity | None:
    """The smaller of two places that chains lead to, if one is in the other."""
    if kind_of(a.target) != "place" or kind_of(b.target) != "place":
        return None
    one, other = a.steps[-1], b.steps[-1]
    return inner_place(one.judged.fact, other.judged.fact, inverse=(one.inverse, other.inverse))


def _merged(conclusion: Conclusion, chain: Chain) -> Conclusion:
    """The conclusion with one more chain. Its entity is the most exact one that is likely, and comes first."""
    chains = (*conclusion.chains, chain)
    exact, *others = [one for one in chains if one.score >= LIKELY] or chains
    for one in others:
        exact = one if _is_exacter(one, exact) else exact
    rest = tuple(one for one in chains if one is not exact)
    score = max(one.score for one in chains if one is exact or _is_exacter(one, exact) or one.target == exact.target)
    return Conclusion(exact.target, (exact, *rest), score)


def _is_exacter(a: Chain, b: Chain) -> bool:
    """Whether the first of two chains that agree leads to the smaller place, or to the longer name or date."""
    inner = _inner(a, b)
    if inner is not None:
        return inner.id == a.target.id != b.target.id
    return (len(a.target.name), a.target.id) > (len(b.target.name), b.target.id)


def _single(step: Step, schema: Schema) -> bool:
    """Whether the relation of a step has a single answer."""
    relation = schema.relations.get(step.judged.fact.relation)
    return not step.inverse and relation is not None and (relation.functional or relation.changes)


def _asks_one(group: Group, schema: Schema) -> bool:
    """Whether a single answer is right for an entity."""
    return group.single or any(_single(c.steps[-1], schema) for one in group.conclusions for c in one.chains)


def _is_denied(step: Step) -> bool:
    return any(pin.assertion == "negated" for pin in step.judged.fact.pins)


def _exclusive(conclusions: Sequence[Conclusion]) -> list[Conclusion]:
    """Rescale the scores of conclusions that exclude each other: their odds, scaled to sum to the best score.

    Unlikely ones take nothing from those that are likely, as they do not dispute them.
    """
    odds = [min(one.score, CERTAIN) / (1 - min(one.score, CERTAIN)) for one in conclusions]
    best = max(one.score for one in conclusions)
    total = sum(odd for one, odd in zip(conclusions, odds, strict=True) if one.score >= LIKELY) or sum(odds)
    scaled = [replace(one, score=best * odd / total) for one, odd in zip(conclusions, odds, strict=True)]
    return sorted(scaled, key=lambda one: (-one.score, -len(_texts(one)), one.entity.name))


def _texts(conclusion: Conclusion) -> set[str]:
    return {pin.text_key for chain in conclusion.chains for pin in chain.steps[-1].judged.fact.pins}


def _answer(question: ParsedQuestion, groups: Sequence[Group], notes: list[str]) -> Answer:
    """The answer for the most likely entity of that name, with those for the others as alternatives.

    There is no answer if two entities are equally likely.
    """
    groups = _weighed(_distinct(groups))
    first = groups[0]
    if len(groups) > 1:
        notes.append(say("ambiguous", question.language, count=len(groups), name=question.text[_anchor(first)]))
    if first.conflict and len(first.conclusions) > 1:
        notes.append(say("conflict", question.language, names=" / ".join(t.entity.name for t in first.conclusions)))
    likely = [one for one in first.conclusions if one.score >= LIKELY] or first.conclusions
    listed = first.conclusions[:1] if first.single or first.conflict else likely[:MOST_LISTED]
    if len(likely) > len(listed) and not first.single and not first.conflict:
        notes.append(say("more", question.language, count=len(likely) - len(listed)))
    others = [
        *(one for one in first.conclusions if one not in listed),
        *(conclusion for group in groups[1:] for conclusion in group.conclusions),
    ]
    answer = _of(question, listed)
    alternatives = tuple(_of(question, [conclusion]) for conclusion in others[:MOST_LISTED])
    if len(groups) > 1 and answer.score <= max(conclusion.score for conclusion in groups[1].conclusions):
        return Answer(question.text, "", answer.score, "facts", abstained=True, alternatives=(answer, *alternatives),
                      notes=tuple(notes))  # fmt: skip
    return replace(answer, alternatives=alternatives, conflict=first.conflict, notes=tuple(notes))


def _anchor(group: Group) -> slice:
    return slice(*group.conclusions[0].chains[0].anchor)


def _distinct(groups: Sequence[Group]) -> list[Group]:
    """Drop groups that repeat an earlier one: the same thing under two types is not ambiguous."""
    kept: list[Group] = []
    for group in groups:
        names = {fold(conclusion.entity.name) for conclusion in group.conclusions}
        if not any(names <= {fold(conclusion.entity.name) for conclusion in other.conclusions} for other in kept):
            kept.append(group)
    return kept


def _weighed(groups: Sequence[Group]) -> list[Group]:
    """Multiply the scores by the share of each entity among those with an answer; best first."""
    total = sum(group.candidate.prior for group in groups)
    weighed = [
        replace(g, conclusions=[replace(t, score=t.score * g.candidate.prior / total) for t in g.conclusions])
        for g in groups
    ]
    return sorted(weighed, key=lambda g: (-max(t.score for t in g.conclusions), g.candidate.entity.id))


def _of(question: ParsedQuestion, conclusions: Sequence[Conclusion]) -> Answer:
    """An answer that lists the conclusions, with the lowest of their scores."""
    citations = [c for one in conclusions for chain in one.chains for c in
                 citations_of(chain.steps[-1].judged.fact, inverse=chain.steps[-1].inverse)]  # fmt: skip
    text = ("、" if question.language == "zh" else ", ").join(one.entity.name for one in conclusions)
    path = tuple(_hop(step) for step in conclusions[0].chains[0].steps)
    score = min(1.0, min(one.score for one in conclusions))
    return Answer(question.text, text, score, "facts", citations=shared(citations), path=path)


def _hop(step: Step) -> Hop:
    fact = step.judged.fact
    best = citations_of(fact, inverse=step.inverse)[0]
    return Hop(step.source.name, step.target.name, replace(best, weight=1.0), fact.relation)


def _notes(steps: Sequence[Step], language: str) -> list[str]:
    """A note for each fact that would answer the question if it held."""
    notes: dict[str, None] = {}
    for step in steps:
        fact = step.judged.fact
        citation = citation_of(fact.pins[0], fact.id, None)
        notes[say(step.judged.status, language, head=fact.head.name, relation=fact.relation, tail=fact.tail.name,
                  uri=citation.uri)] = None  # fmt: skip
    return list(notes)[:MOST_NOTES]
