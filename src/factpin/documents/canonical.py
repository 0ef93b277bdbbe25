"""A canonical form of documents, to compare their content.

Ids are not content. `canonical` sorts mentions, entities, facts and events by content and renumbers them (m0, e0, v0,
…), so that `canonical(a) == canonical(b)` if and only if two documents have the same content.
"""

from dataclasses import replace
from typing import Any

from factpin.documents.nouns import Document, Entity, Event, Fact, Mention


def canonical(doc: Document) -> Document:
    """The same content in canonical order, with new ids."""
    owner = {id: _entity_text(e) for e in doc.entities for id in e.mentions}
    mentions = sorted(doc.mentions, key=lambda m: (_mention_key(m), owner.get(m.id, ())))
    mention_id: dict[str | None, str | None] = {m.id: f"m{i}" for i, m in enumerate(mentions)}
    place = {m.id: i for i, m in enumerate(mentions)}
    entities = sorted(doc.entities, key=lambda e: (sorted(place[id] for id in e.mentions), _entity_text(e)))
    entity_id = {e.id: f"e{i}" for i, e in enumerate(entities)}
    events = sorted(doc.events, key=lambda v: _event_key(v, place))
    event_id: dict[str | None, str | None] = {v.id: f"v{i}" for i, v in enumerate(events)}

    def renamed_entity(e: Entity) -> Entity:
        ids = sorted(e.mentions, key=place.__getitem__)
        return replace(e, id=entity_id[e.id], mentions=tuple(str(mention_id[id]) for id in ids))

    def renamed_fact(f: Fact) -> Fact:
        qualifiers = [replace(q, entity=entity_id[q.entity], mention=mention_id.get(q.mention)) for q in f.qualifiers]
        return replace(
            f,
            head=entity_id[f.head],
            tail=entity_id[f.tail],
            head_mention=mention_id.get(f.head_mention),
            tail_mention=mention_id.get(f.tail_mention),
            evidence=tuple(sorted(f.evidence, key=lambda e: (e.sentence, e.start or 0, e.end or 0))),
            qualifiers=tuple(sorted(qualifiers, key=lambda q: (q.role, q.entity))),
        )

    def renamed_event(v: Event) -> Event:
        arguments = [replace(a, mention=mention_id.get(a.mention), event=event_id.get(a.event)) for a in v.arguments]
        arguments.sort(key=lambda a: (a.role, a.mention or "", a.event or ""))
        return replace(v, id=str(event_id[v.id]), trigger=mention_id.get(v.trigger), arguments=tuple(arguments))

    return replace(
        doc,
        mentions=tuple(replace(m, id=f"m{i}") for i, m in enumerate(mentions)),
        entities=tuple(renamed_entity(e) for e in entities),
        facts=tuple(sorted((renamed_fact(f) for f in doc.facts), key=_fact_key)),
        events=tuple(renamed_event(v) for v in events),
    )


def _mention_key(m: Mention) -> tuple[Any, ...]:
    return m.start, m.end, m.type, -1.0 if m.score is None else m.score


def _entity_text(e: Entity) -> tuple[str, ...]:
    return e.type, e.name, e.link


def _fact_key(f: Fact) -> tuple[Any, ...]:
    return f.head, f.relation, f.tail, f.head_mention or "", f.tail_mention or "", f.score or 0.0, repr(f.qualifiers)


def _event_key(v: Event, place: dict[str, int]) -> tuple[Any, ...]:
    trigger = -1 if v.trigger is None else place[v.trigger]
    return trigger, v.type, sorted((a.role, -1 if a.mention is None else place[a.mention]) for a in v.arguments)
