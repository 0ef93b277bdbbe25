"""Judge facts on reading: how confident we are in them, and whether they still hold. Pure functions of facts with pins.

Confidence counts independent texts: copies of a text, or one sentence in several documents, count once. Evidence that
is negated, hedged, reported or conditional adds nothing.

    active        asserted and not contradicted
    superseded    ended, not yet begun, or replaced by a later fact (relations with the mark `changes`)
    disputed      texts contradict each other: asserted and negated, or several tails where there can only be one, and
                  none of them is merely more exact (Warsaw and Poland); an unlikely fact does not dispute a likely one
    denied        only negated
    unconfirmed   only hedged, reported or conditional
    rejected      by hand
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from factpin.documents import Relation, Schema
from factpin.documents.keys import digest
from factpin.documents.likely import LIKELY
from factpin.memory.agreement import agree
from factpin.memory.dates import is_before
from factpin.memory.groups import Groups
from factpin.memory.nouns import Conflict, JudgedFact, Pin, Status, StoredFact
from factpin.memory.terms import terms

PLAIN = Relation("")
DIGITS = 12  # of a confidence: 0.3047, not 0.30469999999999997


def confidence(pins: Iterable[Pin]) -> float:
    """The probability that at least one independent text is right: 1 - prod(1 - best score in each text).

    A pin without a score was added or annotated by hand and is certain.
    """
    asserted = [pin for pin in pins if pin.assertion == "asserted"]
    best: dict[str, float] = defaultdict(float)
    for pin, text in zip(asserted, _texts(asserted), strict=True):
        best[text] = max(best[text], 1.0 if pin.score is None else pin.score)
    return round(1.0 - math.prod(1.0 - score for _, score in sorted(best.items())), DIGITS)


def _texts(pins: Sequence[Pin]) -> list[str]:
    """A label for each pin, equal for pins that are not independent: same document, same text or same sentence."""
    pairs: list[tuple[str, str]] = []
    for i, pin in enumerate(pins):
        pairs.append((f"{i}", f"document {pin.document}"))
        pairs.append((f"{i}", f"text {pin.text_key or pin.document}"))
        pairs.append((f"{i}", f"said {digest(*terms(pin.quote)) if terms(pin.quote) else pin.document}"))
    groups = Groups(pairs)
    return [groups.first(f"{i}") for i in range(len(pins))]


def judged(facts: Sequence[StoredFact], schema: Schema, as_of: str = "") -> list[JudgedFact]:
    """Every fact with its confidence and status. All facts with the same head and relation must be given."""
    siblings: dict[tuple[str, str], list[StoredFact]] = defaultdict(list)
    for fact in facts:
        siblings[fact.head.id, fact.relation].append(fact)
    status = {
        fact.id: status
        for (_, relation), group in siblings.items()
        for fact, status in _statuses(group, schema.relations.get(relation, PLAIN), as_of)
    }
    return [JudgedFact(fact, _sure(fact), status[fact.id]) for fact in facts]


def _sure(fact: StoredFact) -> float:
    return {"confirmed": 1.0, "rejected": 0.0}[fact.verdict] if fact.verdict else confidence(fact.pins)


def _statuses(group: Sequence[StoredFact], relation: Relation, as_of: str) -> list[tuple[StoredFact, Status]]:
    alone: dict[str, Status] = {fact.id: _alone(fact, as_of) for fact in group}
    running = [fact for fact in group if alone[fact.id] in ("active", "disputed")]
    if relation.changes or relation.functional:
        sure = {fact.id: _sure(fact) for fact in running}

        def opposes(other: StoredFact, fact: StoredFact) -> bool:
            """Whether a fact speaks against another one. One that is too unlikely to be shown cannot do so."""
            return not agree(fact, other) and not sure[other.id] < LIKELY <= sure[fact.id]

        for fact in running if relation.changes else ():
            if any(opposes(other, fact) and is_before(since(fact), since(other)) for other in running):
                alone[fact.id] = "superseded"
        left = [fact for fact in running if alone[fact.id] != "superseded"]
        confirmed = {fact.tail.id for fact in left if fact.verdict == "confirmed"}
        for fact in left:
            if confirmed != {fact.tail.id} and any(opposes(other, fact) for other in left):
                alone[fact.id] = "disputed"
    return [(fact, alone[fact.id]) for fact in group]


def _alone(fact: StoredFact, as_of: str) -> Status:
    """The status by the fact itself, without regard to others."""
    if fact.verdict == "rejected":
        return "rejected"
    ended = bool(fact.valid_to) and (not as_of or is_before(fact.valid_to, as_of))
    ended = ended or is_before(as_of, fact.valid_from)
    assertions = {pin.assertion for pin in fact.pins}
    if fact.verdict == "confirmed" or "asserted" in assertions:
        if ended:
            return "superseded"
        return "disputed" if "negated" in assertions and fact.verdict != "confirmed" else "active"
    return "denied" if "negated" in assertions else "unconfirmed"


def since(fact: StoredFact) -> str:
    """The date from which a fact holds: its own, or that of the latest document that asserts it."""
    dates = [pin.published for pin in fact.pins if pin.assertion == "asserted"]
    return fact.valid_from or max(dates, default="")


def conflicts(facts: Sequence[JudgedFact]) -> list[Conflict]:
    """Disputed facts, grouped by head and relation."""
    groups: dict[tuple[str, str], list[JudgedFact]] = defaultdict(list)
    for fact in facts:
        if fact.status == "disputed":
            groups[fact.fact.head.id, fact.fact.relation].append(fact)
    return [Conflict(group[0].fact.head, relation, tuple(group)) for (_, relation), group in sorted(groups.items())]
