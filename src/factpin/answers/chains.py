"""From a name in a question along one fact, or two, to what the question asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from factpin.answers.asked import Asked, unexplained
from factpin.answers.kinds import fits, kind_of
from factpin.answers.relate import Cue, cues
from factpin.documents import Span
from factpin.memory import ALL, Filter, JudgedFact, Pattern, Store, StoredEntity

HOLDS = ("active", "disputed")
MOST_MIDDLE = 20  # entities from which a second step is tried
MOST_LOOKS = 60  # facts that an explanation lists
NOT_ASKED = "no word of the question asks for it"
_JOINED = re.compile(r"\s+(?:(?:of|by|for|in|from|to|at)\s+)?(?:the\s+)?(?:\w+\s+)?$")
_OWNED = re.compile(r"['’]s?\s+(?:\w+\s+)?$")


@dataclass(frozen=True, slots=True)
class Step:
    """A fact that is followed from one end to the other."""

    judged: JudgedFact
    inverse: bool
    cue: Cue

    @property
    def source(self) -> StoredEntity:
        """Where the step begins."""
        return self.judged.fact.tail if self.inverse else self.judged.fact.head

    @property
    def target(self) -> StoredEntity:
        """Where it leads."""
        return self.judged.fact.head if self.inverse else self.judged.fact.tail


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps from a name of the question to an answer, which explain all its words."""

    anchor: Span
    steps: tuple[Step, ...]

    @property
    def score(self) -> float:
        """The probability that all its facts are right, less where only the evidence shares words with the question."""
        score = 1.0
        for step in self.steps:
            score *= step.judged.confidence * step.cue.weight
        return score

    @property
    def target(self) -> StoredEntity:
        """What it answers."""
        return self.steps[-1].target


@dataclass(frozen=True, slots=True)
class Looked:
    """A fact that was looked at, and what came of it."""

    head: str
    relation: str
    tail: str
    status: str
    confidence: float
    why: str


@dataclass
class Finder:
    """Finds the chains that answer a question from one entity, and remembers what it looked at."""

    store: Store
    asked: Asked
    filter: Filter = ALL
    looks: dict[str, Looked] = field(default_factory=dict)  # by fact
    others: list[Step] = field(default_factory=list)  # steps that would answer if their facts held

    def chains(self, anchor: Span, entity: StoredEntity) -> list[Chain]:
        """Chains of one fact; where there is none, of two."""
        steps = list(self._steps(anchor, [entity.id]))
        single = [Chain(anchor, (step,)) for step in steps if self._answers(anchor, entity, (step,))]
        self.others += [c.steps[0] for c in single if c.steps[0].judged.status not in HOLDS]
        single = [c for c in single if c.steps[0].judged.status in HOLDS]
        return single or self._double(anchor, entity, [s for s in steps if s.judged.status in HOLDS])

    def _double(self, anchor: Span, entity: StoredEntity, steps: Sequence[Step]) -> list[Chain]:
        middle = list(dict.fromkeys(step.target.id for step in steps))[:MOST_MIDDLE]
        found = []
        for second in self._steps(anchor, middle) if middle else ():
            for first in steps:
                if (
                    _follows(first, second)
                    and _ordered(self.asked, anchor, first.cue, second.cue)
                    and self._answers(anchor, entity, (first, second))
                ):
                    found.append(Chain(anchor, (first, second)))
        return found

    def _steps(self, anchor: Span, entities: Sequence[str]) -> Iterator[Step]:
        """Every fact of some entities for which the question has a cue."""
        for inverse in (False, True):
            pattern = Pattern(tails=tuple(entities)) if inverse else Pattern(heads=tuple(entities))
            for judged in self.store.judged(pattern, self.filter):
                found = cues(self.asked, anchor, judged.fact, inverse=inverse)
                self._note(judged, "the question asks for it" if found else NOT_ASKED)
                for cue in found:
                    yield Step(judged, inverse, cue)

    def _answers(self, anchor: Span, entity: StoredEntity, steps: tuple[Step, ...]) -> bool:
        """Whether steps lead to the kind of thing that is asked for, and explain every word."""
        last = steps[-1]
        if not fits(self.asked.kind, last.target, last.cue.kinds):
            self._note(last.judged, f"{last.target.name} is no answer to a question for a {self.asked.kind}")
            return False
        kinds = {self.asked.kind, kind_of(entity), *(kind_of(step.target) for step in steps)}
        left = unexplained(self.asked, [anchor, *(span for step in steps for span in step.cue.spans)], kinds)
        self._note(last.judged, f"it does not explain the words: {left}" if left else "it answers the question")
        return not left

    def _note(self, judged: JudgedFact, why: str) -> None:
        fact = judged.fact
        if (why == NOT_ASKED and fact.id in self.looks) or len(self.looks) == MOST_LOOKS:
            return
        self.looks[fact.id] = Looked(
            fact.head.name, fact.relation, fact.tail.name, judged.status, judged.confidence, why
        )


def _follows(first: Step, second: Step) -> bool:
    """Whether the second step begins where the first ends, with another fact that holds."""
    same = first.judged.fact.id == second.judged.fact.id
    return first.target.id == second.source.id and not same and second.judged.status in HOLDS


def _ordered(asked: Asked, anchor: Span, first: Cue, second: Cue) -> bool:
    """Whether the first cue belongs to the name and the second to what the first leads to."""
    for inner in first.spans:
        for outer in second.spans:
            apart = inner.end <= outer.start or outer.end <= inner.start
            if apart and _distance(asked, anchor, inner) < _distance(asked, anchor, outer):
                return True
    return False


def _distance(asked: Asked, anchor: Span, cue: Span) -> tuple[bool, int]:
    """How far words are from a name; in English, words that are joined to it by `of` or 's come first."""
    before = cue.end <= anchor.start
    gap = asked.text[cue.end : anchor.start] if before else asked.text[anchor.end : cue.start]
    joined = asked.language == "zh" or bool((_JOINED if before else _OWNED).fullmatch(gap))
    return not joined, len(gap)
