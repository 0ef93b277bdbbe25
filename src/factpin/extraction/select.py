"""Keep a part of what was found: entities, facts or events."""

from collections.abc import Collection
from dataclasses import replace

from factpin.documents import Document
from factpin.extraction.settle import without_mentions

PARTS = ("entities", "events", "facts")


def select(doc: Document, only: Collection[str]) -> Document:
    """The document with these PARTS alone, and the mentions that they need; all of it if none is named."""
    if not only:
        return doc
    facts = doc.facts if "facts" in only else ()
    events = doc.events if "events" in only else ()
    left = replace(doc, facts=facts, events=events)
    if "entities" in only:
        return left
    ends = {end for fact in facts for end in (fact.head, fact.tail, *(q.entity for q in fact.qualifiers))}
    used = {id for entity in doc.entities if entity.id in ends for id in entity.mentions}
    used |= {q.mention for fact in facts for q in fact.qualifiers if q.mention}
    used |= {a.mention for event in events for a in event.arguments if a.mention}
    used |= {event.trigger for event in events if event.trigger}
    return without_mentions(left, {m.id for m in doc.mentions} - used)
