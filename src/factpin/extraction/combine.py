"""One document of what several models found in it.

The same characters with the same type are one mention. A mention without a type is one with the only typed mention on
its characters. Entities that share a mention, or a name and a type, are one, with the longest name. A fact is told once
between two mentions, with the qualifiers and evidence of all, and so is an event of the same trigger and arguments.
What is told twice has the better score.
"""

from collections.abc import Sequence
from dataclasses import replace

from factpin.documents import Argument, Coverage, Document, Entity, Event, Fact, Mention, Qualifier

Place = tuple[int, int, str]


def combine(doc: Document, found: Sequence[Document]) -> Document:
    """The document with all that its versions hold; sentences are those of the first."""
    place = _mentions(found)
    mentions = tuple(dict.fromkeys(place.values()))
    pinned = [{m.id: place[m.start, m.end, m.type].id for m in part.mentions} for part in found]
    entities, named = _entities(found, pinned, mentions)
    coverages = [part.coverage or Coverage() for part in found]
    return replace(
        doc,
        sentences=found[0].sentences if found else doc.sentences,
        mentions=mentions,
        entities=entities,
        facts=_facts(found, pinned, named, mentions),
        events=_events(found, pinned),
        coverage=Coverage(
            tuple(sorted({span for coverage in coverages for span in coverage.read})),
            notes=tuple(dict.fromkeys(note for coverage in coverages for note in coverage.notes)),
        ),
    )


def _sure(x: Mention | Fact | Event) -> float:
    return -1.0 if x.score is None else x.score


def _mentions(found: Sequence[Document]) -> dict[Place, Mention]:
    """The mention of every place, in the order of the text, with new ids."""
    best: dict[Place, Mention] = {}
    types: dict[tuple[int, int], set[str]] = {}
    for part in found:
        for m in part.mentions:
            best[m.start, m.end, m.type] = max(best.get((m.start, m.end, m.type), m), m, key=_sure)
            types.setdefault((m.start, m.end), set()).add(m.type)
    same = {(*span, ""): (*span, max(kinds)) for span, kinds in types.items() if len(kinds) == 2 and "" in kinds}
    for place, typed in same.items():
        best[typed] = replace(best[typed], score=max(best[typed], best.pop(place), key=_sure).score)
    kept = {place: replace(best[place], id=f"m{i}") for i, place in enumerate(sorted(best))}
    return kept | {place: kept[typed] for place, typed in same.items()}


def _entities(
    found: Sequence[Document], pinned: Sequence[dict[str, str]], mentions: Sequence[Mention]
) -> tuple[tuple[Entity, ...], list[dict[str, str]]]:
    """The entities that are one put together, and for each version its ids as new ones."""
    known = {m.id: m for m in mentions}
    order = {m.id: i for i, m in enumerate(mentions)}
    groups: list[list[Entity]] = []
    at: dict[str | tuple[str, str], int] = {}  # the group of a mention, and of a name and type
    for part, mention in zip(found, pinned, strict=True):
        for e in part.entities:
            own = tuple(mention[id] for id in e.mentions)
            one = replace(e, mentions=own, name=e.name or known[own[0]].text, type=e.type or known[own[0]].type)
            met = sorted({at[key] for key in _keys(one) if key in at})
            union = [*(other for k in met for other in groups[k]), one]
            for k in met:
                groups[k] = []
            at |= {key: len(groups) for other in union for key in _keys(other)}
            groups.append(union)
    united = sorted((_united(group, order) for group in groups if group), key=lambda e: order[e.mentions[0]])
    entities = tuple(replace(e, id=f"e{i}") for i, e in enumerate(united))
    owner = {id: e.id for e in entities for id in e.mentions}
    return entities, [{e.id: owner[mention[e.mentions[0]]] for e in part.entities}
                      for part, mention in zip(found, pinned, strict=True)]  # fmt: skip


def _keys(e: Entity) -> list[str | tuple[str, str]]:
    """What an entity shares with no other."""
    return [*e.mentions, (e.name, e.type)]


def _united(group: Sequence[Entity], order: dict[str, int]) -> Entity:
    """One of several; name, type and link are those of the longest name, where it has them."""
    ranked = sorted(group, key=lambda e: (-len(e.name), order[e.mentions[0]]))
    mentions = sorted({id for e in group for id in e.mentions}, key=order.__getitem__)
    type, link = (next(filter(None, values), "") for values in ((e.type for e in ranked), (e.link for e in ranked)))
    return Entity("", tuple(mentions), type, ranked[0].name, link)


def _facts(
    found: Sequence[Document],
    pinned: Sequence[dict[str, str]],
    named: Sequence[dict[str, str]],
    mentions: Sequence[Mention],
) -> tuple[Fact, ...]:
    """Every fact once, in the order of their heads and tails in the text; those that are not pinned come last."""
    told: dict[tuple[str | None, ...], Fact] = {}
    for part, mention, entity in zip(found, pinned, named, strict=True):
        for fact in part.facts:
            new = _fact(fact, mention, entity)
            ends = (new.head_mention, new.tail_mention)
            key = (new.relation, *ends) if all(ends) else (new.relation, *ends, new.head, new.tail)
            told[key] = surer(told[key], new) if key in told else new
    order = {m.id: i for i, m in enumerate(mentions)}

    def place(fact: Fact) -> tuple[int, int, str]:
        head, tail = (order.get(id or "", len(order)) for id in (fact.head_mention, fact.tail_mention))
        return head, tail, fact.relation

    return tuple(sorted(told.values(), key=place))


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


def surer(old: Fact, new: Fact) -> Fact:
    """The fact with the better score, with the qualifiers and the evidence of both."""
    a, b = (old, new) if _sure(old) >= _sure(new) else (new, old)
    qualifiers = tuple(dict.fromkeys(a.qualifiers + b.qualifiers))
    return replace(a, qualifiers=qualifiers, evidence=tuple(dict.fromkeys(a.evidence + b.evidence)))


def _events(found: Sequence[Document], pinned: Sequence[dict[str, str]]) -> tuple[Event, ...]:
    """Every event once; what an event names is made one before it."""
    events: list[Event] = []
    for k, (part, mention) in enumerate(zip(found, pinned, strict=True)):
        own = {event.id: f"{k} {event.id}" for event in part.events}
        events += [_event(event, own, mention) for event in part.events]
    same = {m: m for mention in pinned for m in mention.values()}
    while True:
        groups: dict[tuple[str, str | None, frozenset[Argument]], list[Event]] = {}
        for event in events:
            groups.setdefault((event.type, event.trigger, frozenset(event.arguments)), []).append(event)
        ids = {event.id: f"v{i}" for i, group in enumerate(groups.values()) for event in group}
        fewer = [_event(max(group, key=_sure), ids, same) for group in groups.values()]
        if len(fewer) == len(events):
            return tuple(fewer)
        events = fewer


def _event(event: Event, ids: dict[str, str], mention: dict[str, str]) -> Event:
    return replace(
        event,
        id=ids[event.id],
        trigger=event.trigger and mention[event.trigger],
        arguments=tuple(
            Argument(a.role, a.mention and mention[a.mention], a.event and ids[a.event]) for a in event.arguments
        ),
    )
