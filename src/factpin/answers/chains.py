"""Follow one or two facts from a name in the question to its answer."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from factpin.answers.kinds import fits, kind_of
from factpin.answers.parse import ParsedQuestion, unexplained
from factpin.answers.relate import Cue, cues
from factpin.answers.subjects import subjects
from factpin.documents import Span
from factpin.memory import ALL, Filter, JudgedFact, Pattern, Store, StoredEntity

HOLDS = ("active", "disputed")
MOST_MIDDLE = 20  # entities from which to try a second step
MOST_INSPECTED = 60  # facts to keep for an explanation
OF_WORKS = frozenset((
    "director", "screenwriter", "cast member", "performer", "author", "composer", "producer", "publication date",
))  # fmt: skip
NOT_ASKED = "the question does not ask for it"
_JOINED = re.compile(r"\s+(?:(?:of|by|for|in|from|to|at)\s+)?(?:the\s+)?(?:\w+\s+)?$")
_OWNED = re.compile(r"['’]s?\s+(?:\w+\s+)?$")


@dataclass(frozen=True, slots=True)
class Step:
    """A fact, followed from one end to the other."""

    judged: JudgedFact
    inverse: bool
    cue: Cue

    @property
    def source(self) -> StoredEntity:
        """The entity the step starts from."""
        return self.judged.fact.tail if self.inverse else self.judged.fact.head

    @property
    def target(self) -> StoredEntity:
        """The entity it leads to."""
        return self.judged.fact.head if self.inverse else self.judged.fact.tail

    @property
    def called(self) -> set[str]:
        """The names that texts give the target where they state the fact."""
        ends = ((pin, pin.head if self.inverse else pin.tail) for pin in self.judged.fact.pins)
        return {pin.quote[end.start - pin.start : end.end - pin.start] for pin, end in ends if end is not None} - {""}


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps from a name in the question to an answer that together explain every word of the question."""

    anchor: Span
    steps: tuple[Step, ...]

    @property
    def score(self) -> float:
        """The probability that all facts are right, lowered where only the evidence shares words with the question."""
        score = 1.0
        for step in self.steps:
            score *= step.judged.confidence * step.cue.weight
        return score

    @property
    def target(self) -> StoredEntity:
        """The answer."""
        return self.steps[-1].target


@dataclass(frozen=True, slots=True)
class Inspection:
    """A fact that was considered, and whether it answers the question."""

    head: str
    relation: str
    tail: str
    status: str
    confidence: float
    why: str


@dataclass
class ChainFinder:
    """Finds the chains that lead from an entity to an answer, and records the facts it considered."""

    store: Store
    question: ParsedQuestion
    filter: Filter = ALL
    inspections: dict[str, Inspection] = field(default_factory=dict)  # by the key of the fact
    others: list[Step] = field(default_factory=list)  # steps that would answer the question if their facts held
    titled: dict[str, set[str]] = field(default_factory=dict)  # entity -> those that documents of its name are about

    def chains(self, anchor: Span, entity: StoredEntity) -> list[Chain]:
        """Chains of one fact, or of two if there are none."""
        steps = list(self._steps(anchor, [entity.id]))
        single = [Chain(anchor, (step,)) for step in steps if self._answers(anchor, entity, (step,))]
        self.others += [c.steps[0] for c in single if c.steps[0].judged.status not in HOLDS]
        single = [c for c in single if c.steps[0].judged.status in HOLDS]
        return single or self._double(anchor, entity, [s for s in steps if s.judged.status in HOLDS])

    def _double(self, anchor: Span, entity: StoredEntity, steps: Sequence[Step]) -> list[Chain]:
        targets: dict[str, set[str]] = {}
        for step in steps[:MOST_MIDDLE]:
            targets.setdefault(step.target.id, {step.target.name}).update(step.called)
        self._find_titled(targets)
        middle = sorted({id for target in targets for id in self.titled[target]})
        found = []
        for second in self._steps(anchor, middle) if middle else ():
            for first in steps:
                if (
                    self._follows(first, second)
                    and _ordered(self.question, anchor, first.cue, second.cue)
                    and self._answers(anchor, entity, (first, second))
                ):
                    found.append(Chain(anchor, (first, second)))
        return found

    def _find_titled(self, entities: Mapping[str, set[str]]) -> None:
        """Which entities may be meant by the names of others."""
        new = {id: names for id, names in entities.items() if id not in self.titled}
        every = [name for names in new.values() for name in sorted(names)]
        about = subjects(self.store, every, self.filter) if self.question.language == "en" else {}
        for id, names in new.items():
            self.titled[id] = {id, *(candidate.entity.id for name in names for candidate in about.get(name, ()))}

    def _follows(self, first: Step, second: Step) -> bool:
        """Whether the second step continues the first with a different fact that holds."""
        same = first.judged.fact.id == second.judged.fact.id
        continues = second.source.id in self.titled.get(first.target.id, {first.target.id})
        return continues and not same and second.judged.status in HOLDS

    def _steps(self, anchor: Span, entities: Sequence[str]) -> Iterator[Step]:
        """Every fact about the entities that the question has a cue for."""
        for inverse in (False, True):
            pattern = Pattern(tails=tuple(entities)) if inverse else Pattern(heads=tuple(entities))
            for judged in self.store.judged(pattern, self.filter):
                found = cues(self.question, anchor, judged.fact, inverse=inverse)
                self._note(judged, "the question asks for it" if found else NOT_ASKED)
                for cue in found:
                    yield Step(judged, inverse, cue)

    def _answers(self, anchor: Span, entity: StoredEntity, steps: tuple[Step, ...]) -> bool:
        """Whether the steps lead to the kind of answer asked for and explain every word."""
        last = steps[-1]
        if not fits(self.question.kind, last.target, last.cue.kinds):
            self._note(last.judged, f"{last.target.name} is not of the kind asked for ({self.question.kind})")
            return False
        if _most_repeated(self.question.text, last.cue) > len(steps):
            self._note(last.judged, "the question asks for more steps")  # the father of the father of X
            return False
        kinds = {self.question.kind, kind_of(entity), *(kind_of(step.target) for step in steps)}
        kinds |= {"work" for step in steps if step.judged.fact.relation in OF_WORKS}
        left = unexplained(self.question, [anchor, *(span for step in steps for span in step.cue.spans)], kinds)
        self._note(last.judged, f"it leaves words unexplained: {left}" if left else "it answers the question")
        return not left

    def _note(self, judged: JudgedFact, why: str) -> None:
        fact = judged.fact
        if (why == NOT_ASKED and fact.id in self.inspections) or len(self.inspections) == MOST_INSPECTED:
            return
        self.inspections[fact.id] = Inspection(
            fact.head.name, fact.relation, fact.tail.name, judged.status, judged.confidence, why
        )


def _most_repeated(question: str, cue: Cue) -> int:
    """How often the question has the same word of a cue."""
    return max(Counter(question[start:end].casefold() for start, end in cue.spans).values(), default=0)


def _ordered(question: ParsedQuestion, anchor: Span, first: Cue, second: Cue) -> bool:
    """Whether the first cue is closer to the name than the second."""
    for inner in first.spans:
        for outer in second.spans:
            apart = inner.end <= outer.start or outer.end <= inner.start
            if apart and _distance(question, anchor, inner) < _distance(question, anchor, outer):
                return True
    return False


def _distance(question: ParsedQuestion, anchor: Span, cue: Span) -> tuple[bool, int]:
    """How far a cue is from a name. In English, words joined to the name by `of` or 's come first."""
    before = cue.end <= anchor.start
    gap = question.text[cue.end : anchor.start] if before else question.text[anchor.end : cue.start]
    joined = question.language == "zh" or bool((_JOINED if before else _OWNED).fullmatch(gap))
    return not joined, len(gap)
