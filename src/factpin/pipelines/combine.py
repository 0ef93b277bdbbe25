"""One document of what several models found in it.

The same characters with the same type are one mention, with the better score. A mention without a type takes that of
the one typed mention on its characters. Entities of one name and type are one. A fact between the same mentions is told
once, with the better score.
"""

from collections.abc import Sequence
from dataclasses import replace

from factpin.documents import Argument, Coverage, Document, Entity, Event, Fact, Mention, Qualifier

Place = tuple[int, int, str]


def combine(doc: Document, found: Sequence[Document]) -> Document:
    """The document with all that its versions hold; sentences are those of the first."""
    mentions = _mentions(found)
    order = {m.id: i for i, m in enumerate(dict.fromkeys(mentions.values()))}
    pinned = [{m.id: mentions[m.start, m.end, m.type].id for m in part.mentions} for part in found]
    entities, named = _entities(found, pinned, list(dict.fromkeys(mentions.values())))
    told: dict[tuple[str, str, str, str | None, str | None], Fact] = {}
    events: list[Event] = []
    for part, mention, entity in zip(found, pinned, named, strict=True):
        for fact in part.facts:
            new = _fact(fact, mention, entity)
            key = (new.head, new.relation, new.tail, new.head_mention, new.tail_mention)
            if key not in told or (told[key].score or 0.0) < (new.score or 0.0):
                told[key] = new
        events += _events(part.events, mention, len(events))
    coverages = [part.coverage or Coverage() for part in found]
    return replace(
        doc,
        sentences=found[0].sentences if found else doc.sentences,
        mentions=tuple(dict.fromkeys(mentions.values())),
        entities=entities,
        facts=tuple(sorted(told.values(), key=lambda fact: _place(fact, order))),
        events=tuple(events),
        coverage=Coverage(
            tuple(sorted({span for coverage in coverages for span in coverage.read})),
            notes=tuple(dict.fromkeys(note for coverage in coverages for note in coverage.notes)),
        ),
    )


def _mentions(found: Sequence[Document]) -> dict[Place, Mention]:
    """The mention of every place, in the order of the text, with new ids."""
    best: dict[Place, Mention] = {}
    types: dict[tuple[int, int], set[str]] = {}
    for part in found:
        for m in part.mentions:
            old = best.get((m.start, m.end, m.type))
            if old is None or (old.score or 0.0) < (m.score or 0.0):
                best[m.start, m.end, m.type] = m
            types.setdefault((m.start, m.end), set()).add(m.type)
    same = {(*span, ""): (*span, max(kinds)) for span, kinds in types.items() if len(kinds) == 2 and "" in kinds}
    kept = {place: replace(best[place], id=f"m{i}") for i, place in enumerate(sorted(best.keys() - same.keys()))}
    return kept | {place: kept[typed] for place, typed in same.items()}


def _entities(
    found: Sequence[Document], pinned: Sequence[dict[str, str]], mentions: Sequence[Mention]
) -> tuple[tuple[Entity, ...], list[dict[str, str]]]:
    """The entities by name and type, and for each version its ids as new ones."""
    type_of = {m.id: m.type for m in mentions}
    order = {m.id: i for i, m in enumerate(mentions)}
    groups: dict[tuple[str, str], set[str]] = {}
    keys = []
    for part, mention in zip(found, pinned, strict=True):
        own = {}
        for e in part.entities:
            own[e.id] = e.name or part.mention(e.mentions[0]).text, e.type or type_of[mention[e.mentions[0]]]
            groups.setdefault(own[e.id], set()).update(mention[id] for id in e.mentions)
        keys.append(own)
    first = sorted(groups, key=lambda key: (min(order[id] for id in groups[key]), key))
    ids = {key: f"e{i}" for i, key in enumerate(first)}
    entities = tuple(
        Entity(ids[key], tuple(sorted(groups[key], key=order.__getitem__)), key[1], key[0]) for key in first
    )
    return entities, [{old: ids[key] for old, key in own.items()} for own in keys]


def _fact(fact: Fact, mention: dict[str, str], entity: dict[str, str]) -> Fact:
    return replace(
        fact,
        head=entity[fact.head],
        tail=entity[fact.tail],
        head_mention=fact.head_mention and mention[fact.head_mention],
        tail_mention=fact.tail_mention and mention[fact.tail_mention],
        qualifiers=tuple(
            Qualifier(q.role, entity[q.entity], q.mention and mention[q.mention]) for q in fact.qualifiers
        ),
    )


def _events(events: Sequence[Event], mention: dict[str, str], at: int) -> list[Event]:
    ids = {event.id: f"v{at + i}" for i, event in enumerate(events)}
    return [
        replace(
            event,
            id=ids[event.id],
            trigger=event.trigger and mention[event.trigger],
            arguments=tuple(
                Argument(a.role, a.mention and mention[a.mention], a.event and ids[a.event]) for a in event.arguments
            ),
        )
        for event in events
    ]


def _place(fact: Fact, order: dict[str, int]) -> tuple[int, int, str]:
    """Facts in the order of their heads and tails in the text; those that are not pinned come last."""
    head, tail = (order.get(id or "", len(order)) for id in (fact.head_mention, fact.tail_mention))
    return head, tail, fact.relation
