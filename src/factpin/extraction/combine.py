"""One document from what several models found in it.

Mentions with the same characters and type are one. A mention without a type joins the typed mention on the same
characters, if there is only one. Entities that share a mention, or a name and type, are one entity with the longest
name. Facts between the same two mentions are one fact with all qualifiers and evidence, and events with the same
trigger and arguments are one event. What was found twice keeps the better score.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from factpin.documents import Argument, Coverage, Document, Entity, Event, Fact, Mention, Qualifier

Place = tuple[int, int, str]
TITLE = re.compile("《[^《》]+》")


def combine(doc: Document, found: Sequence[Document]) -> Document:
    """The document with everything its versions hold, and the sentences of the first."""
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


def without_title_marks(doc: Document) -> Document:
    """The document with the titles of works without the marks 《》: models differ in whether they belong to a name."""
    mentions = tuple(_without_marks(m) for m in doc.mentions)
    if mentions == doc.mentions:
        return doc
    return replace(doc, mentions=mentions, entities=tuple(_without_marks_in_name(e) for e in doc.entities))


def _without_marks(m: Mention) -> Mention:
    marked = TITLE.fullmatch(m.text) is not None
    return replace(m, start=m.start + 1, end=m.end - 1, text=m.text[1:-1]) if marked else m


def _without_marks_in_name(e: Entity) -> Entity:
    return replace(e, name=e.name[1:-1]) if TITLE.fullmatch(e.name) else e


def _score(x: Mention | Fact | Event) -> float:
    return -1.0 if x.score is None else x.score


def _mentions(found: Sequence[Document]) -> dict[Place, Mention]:
    """The mention at each place, in the order of the text, with new ids."""
    best: dict[Place, Mention] = {}
    types: dict[tuple[int, int], set[str]] = {}
    for part in found:
        for m in part.mentions:
            best[m.start, m.end, m.type] = max(best.get((m.start, m.end, m.type), m), m, key=_score)
            types.setdefault((m.start, m.end), set()).add(m.type)
    same = {(*span, ""): (*span, max(kinds)) for span, kinds in types.items() if len(kinds) == 2 and "" in kinds}
    for place, typed in same.items():
        best[typed] = replace(best[typed], score=max(best[typed], best.pop(place), key=_score).score)
    kept = {place: replace(best[place], id=f"m{i}") for i, place in enumerate(sorted(best))}
    return kept | {place: kept[typed] for place, typed in same.items()}


def _entities(
    found: Sequence[Document], pinned: Sequence[dict[str, str]], mentions: Sequence[Mention]
) -> tuple[tuple[Entity, ...], list[dict[str, str]]]:
    """The merged entities, and for each version a map from its ids to the new ones."""
    known = {m.id: m for m in mentions}
    order = {m.id: i for i, m in enumerate(mentions)}
    groups: list[list[Entity]] = []
    at: dict[str | tuple[str, str], int] = {}  # the group of a mention, and of a name and type
    for part, mention in zip(found, pinned, strict=True):
        for e in part.entities:
            own = tuple(mention[id] for id in e.mentions)
            one = replace(e, mentions=own, name=e.name or known[own[0]].text, type=e.type or known[own[0]].type)
            touched = sorted({at[key] for key in _keys(one) if key in at})
            union = [*(other for k in touched for other in groups[k]), one]
            for k in touched:
                groups[k] = []
            at |= {key: len(groups) for other in union for key in _keys(other)}
            groups.append(union)
    merged = sorted((_merge_entities(group, order) for group in groups if group), key=lambda e: order[e.mentions[0]])
    entities = tuple(replace(e, id=f"e{i}") for i, e in enumerate(merged))
    owner = {id: e.id for e in entities for id in e.mentions}
    ids = [
        {e.id: owner[mention[e.mentions[0]]] for e in part.entities}
        for part, mention in zip(found, pinned, strict=True)
    ]
    return entities, ids


def _keys(e: Entity) -> list[str | tuple[str, str]]:
    """What no two entities share."""
    return [*e.mentions, (e.name, e.type)]


def _merge_entities(group: Sequence[Entity], order: dict[str, int]) -> Entity:
    """One entity; name, type and link come from the longest name that has them."""
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
    """Every fact once, ordered by the places of head and tail; those without mentions come last."""
    facts: dict[tuple[str | None, ...], Fact] = {}
    for part, mention, entity in zip(found, pinned, named, strict=True):
        for fact in part.facts:
            new = _fact(fact, mention, entity)
            ends = (new.head_mention, new.tail_mention)
            key = (new.relation, *ends) if all(ends) else (new.relation, *ends, new.head, new.tail)
            facts[key] = merge_facts(facts[key], new) if key in facts else new
    order = {m.id: i for i, m in enumerate(mentions)}

    def place(fact: Fact) -> tuple[int, int, str]:
        head, tail = (order.get(id or "", len(order)) for id in (fact.head_mention, fact.tail_mention))
        return head, tail, fact.relation

    return tuple(sorted(facts.values(), key=place))


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


def merge_facts(old: Fact, new: Fact) -> Fact:
    """The fact with the better score, and the qualifiers and evidence of both."""
    a, b = (old, new) if _score(old) >= _score(new) else (new, old)
    qualifiers = tuple(dict.fromkeys(a.qualifiers + b.qualifiers))
    return replace(a, qualifiers=qualifiers, evidence=tuple(dict.fromkeys(a.evidence + b.evidence)))


def _events(found: Sequence[Document], pinned: Sequence[dict[str, str]]) -> tuple[Event, ...]:
    """Every event once. Events that are arguments are merged first, so that the events around them can be."""
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
        fewer = [_event(max(group, key=_score), ids, same) for group in groups.values()]
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
