"""Score events under five conventions, with a row of counts for each document.

    strict     arguments (role, span) of events that are paired one to one; the trigger is one more role
    trigger    event type, span of the trigger                       ("trigger classification" in the papers on ACE)
    argument   event type, role, span, whichever event it is in      ("argument classification" there; no triggers)
    text       event type, role, text of the argument                (close to DuEE's own score; no triggers)
    event      event type, and all arguments and the trigger with their spans: the whole event is right or wrong

`strict` pairs gold and predicted events of the same type in a document so that as many arguments as possible are right;
the arguments of an event without a partner are wrong or missed. So only `strict` and `event` penalise a right argument
in the wrong event, or two events merged into one. Equal events of a document count once, and so do equal arguments of
an event, and equal tuples under `trigger`, `argument` and `text`. The span of an argument that is itself an event is
that event's trigger; without a trigger it is not compared. Labels are "type" for triggers and "type.role" for
arguments. The outcome of a scored event is whether the whole event is right. Unlike DuEE's own score, `text` gives no
credit for partly right characters or aliases.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from factpin.documents import Document
from factpin.scoring.align import Pair
from factpin.scoring.assignment import best_assignment
from factpin.scoring.confusions import Mistakes
from factpin.scoring.counts import Row, as_rows, by_label, row
from factpin.scoring.scores import Scores

T = TypeVar("T")
Place: TypeAlias = tuple[int, int]
CONVENTIONS = ("strict", "trigger", "argument", "text", "event")


class EventPart(NamedTuple):
    """An argument or the trigger of an event."""

    label: str  # "type.role", or "type" for a trigger
    place: Place
    role: str | None  # None for a trigger


class EventKey(NamedTuple):
    """An event as it is compared."""

    type: str
    parts: frozenset[EventPart]

    def arguments(self) -> list[EventPart]:
        return [part for part in self.parts if part.role is not None]


def score(pairs: Sequence[Pair]) -> Scores:
    """Rows of all conventions, strict counts by label, confusions, and the outcome of every scored event."""
    rows: dict[str, list[Row]] = {name: [] for name in CONVENTIONS}
    right_by, predicted_by, gold_by = Counter[str](), Counter[str](), Counter[str]()
    mistakes = Mistakes()
    outcomes: list[tuple[float, bool]] = []
    for pair in pairs:
        gold, predicted = _unique(event_keys(pair.gold)), _unique(event_keys(pair.predicted))
        partner = pair_up(gold, predicted)
        right = [part for p, g in partner.items() for part in predicted[p].parts & gold[g].parts]
        right_by.update(part.label for part in right)
        gold_by.update(part.label for event in gold for part in event.parts)
        predicted_by.update(part.label for event in predicted for part in event.parts)
        outcomes += _outcomes(pair.predicted, set(gold))
        _explain(pair.gold, gold, predicted, partner, mistakes)
        sizes = sum(len(event.parts) for event in predicted), sum(len(event.parts) for event in gold)
        rows["strict"].append(row(len(right), *sizes))
        rows["trigger"].append(_by_set(_triggers(gold), _triggers(predicted)))
        rows["argument"].append(_by_set(_arguments(gold), _arguments(predicted)))
        rows["text"].append(_by_set(_texts(gold, pair.gold.text), _texts(predicted, pair.predicted.text)))
        rows["event"].append(_by_set(set(gold), set(predicted)))
    return Scores(
        rows={name: as_rows(values) for name, values in rows.items()},
        labels=by_label(right_by, predicted_by, gold_by),
        confusions=mistakes.worst(),
        outcomes=outcomes,
    )


def event_keys(doc: Document) -> list[EventKey]:
    """The events of a document as they are compared."""
    place: dict[str | None, Place] = {m.id: (m.start, m.end) for m in doc.mentions}
    trigger = {event.id: event.trigger for event in doc.events}
    found = []
    for event in doc.events:
        parts = set()
        if event.trigger is not None:
            parts.add(EventPart(event.type, place[event.trigger], None))
        for a in event.arguments:
            mention = a.mention if a.event is None else trigger[a.event]
            if mention is not None:
                parts.add(EventPart(f"{event.type}.{a.role}", place[mention], a.role))
        found.append(EventKey(event.type, frozenset(parts)))
    return found


def pair_up(gold: Sequence[EventKey], predicted: Sequence[EventKey]) -> dict[int, int]:
    """predicted -> gold, as indices: one to one, of the same type, with the most common parts in total."""
    if not gold or not predicted:
        return {}
    common = np.array([[len(p.parts & g.parts) if p.type == g.type else 0 for g in gold] for p in predicted], float)
    return {p: g for p, g in best_assignment(common) if common[p, g]}


def _unique(events: list[EventKey]) -> list[EventKey]:
    return list(dict.fromkeys(events))


def _triggers(events: list[EventKey]) -> set[tuple[str, Place]]:
    return {(part.label, part.place) for event in events for part in event.parts if part.role is None}


def _arguments(events: list[EventKey]) -> set[tuple[str, str | None, Place]]:
    return {(event.type, part.role, part.place) for event in events for part in event.arguments()}


def _texts(events: list[EventKey], text: str) -> set[tuple[str, str | None, str]]:
    return {(type, role, text[start:end]) for type, role, (start, end) in _arguments(events)}


def _by_set(gold: set[T], predicted: set[T]) -> Row:
    return row(len(gold & predicted), len(predicted), len(gold))


def _outcomes(doc: Document, gold: set[EventKey]) -> list[tuple[float, bool]]:
    best: dict[EventKey, float] = {}
    for event, key in zip(doc.events, event_keys(doc), strict=True):
        if event.score is not None:
            best[key] = max(event.score, best.get(key, 0.0))
    return [(value, key in gold) for key, value in best.items()]


def _explain(
    doc: Document, gold: list[EventKey], predicted: list[EventKey], partner: dict[int, int], mistakes: Mistakes
) -> None:
    """Explain each part as the right part of another event, a wrong label, a wrong boundary, or missed or spurious."""
    missed, wrong = _left(gold, predicted, partner)
    for kind in ("event", "label", "boundary"):
        rest = []
        for g in missed:
            match = next((p for p in wrong if _is(kind, g, p)), None)
            if match is None:
                rest.append(g)
                continue
            wrong.remove(match)
            instead = () if kind != "boundary" else (match.place,)
            mistakes.add(kind, doc, gold=g.label, predicted=match.label, places=(g.place,), instead=instead)
        missed = rest
    for g in missed:
        mistakes.add("missed", doc, gold=g.label, places=(g.place,))
    for p in wrong:
        mistakes.add("spurious", doc, predicted=p.label, places=(p.place,))


def _left(
    gold: list[EventKey], predicted: list[EventKey], partner: dict[int, int]
) -> tuple[list[EventPart], list[EventPart]]:
    """The parts that `strict` counts as missed and as wrong, in the order of the text."""
    missed, wrong = [set(event.parts) for event in gold], [set(event.parts) for event in predicted]
    for p, g in partner.items():
        missed[g] -= predicted[p].parts
        wrong[p] -= gold[g].parts
    both = ([part for parts in side for part in parts] for side in (missed, wrong))
    first, second = (sorted(side, key=lambda part: (part.place, part.label)) for side in both)
    return first, second


def _is(kind: str, g: EventPart, p: EventPart) -> bool:
    """Whether a missed and a wrong part are a mistake of this kind."""
    same, place = g.label == p.label, g.place == p.place
    if kind == "event":
        return same and place
    if kind == "label":
        return place
    return same and g.place[0] < p.place[1] and p.place[0] < g.place[1]
