"""Facts between mentions: what doccano, Label Studio and UIE draw as arrows from one span to another.

A mention that takes part in a fact gets an entity of its own; the fact joins the two entities and pins the mentions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from factpin.documents import Document, Entity, Fact, Mention
from factpin.errors import BadDocument
from factpin.formats._writing import single


class Arrow(NamedTuple):
    """One relation of a file: ids of mentions, and the place in the record for an error message."""

    head: str
    relation: str
    tail: str
    where: str
    score: float | None = None


def pin(mentions: Sequence[Mention], arrows: Iterable[Arrow]) -> tuple[tuple[Entity, ...], tuple[Fact, ...]]:
    """The entities and facts of the arrows between mentions."""
    arrows = list(arrows)
    known = {m.id for m in mentions}
    for arrow in arrows:
        for id in (arrow.head, arrow.tail):
            if id not in known:
                raise BadDocument(
                    f"the relation {arrow.relation!r} joins {id!r}, which is no span of this record. "
                    f"Correct the id, or drop the relation.",
                    field=arrow.where,
                )
    used = {id for arrow in arrows for id in (arrow.head, arrow.tail)}
    entity: dict[str, Entity] = {}
    for m in mentions:
        if m.id in used and m.id not in entity:
            entity[m.id] = single(m, f"e{len(entity)}")
    facts = tuple(
        Fact(entity[a.head].id, a.relation, entity[a.tail].id, a.head, a.tail, a.score) for a in arrows
    )  # fmt: skip
    return tuple(entity.values()), facts


def arrows_of(doc: Document) -> list[Arrow]:
    """The document's facts as arrows; an unpinned argument is its entity's first mention."""
    first = {e.id: e.mentions[0] for e in doc.entities}
    return [
        Arrow(f.head_mention or first[f.head], f.relation, f.tail_mention or first[f.tail], f"facts[{i}]", f.score)
        for i, f in enumerate(doc.facts)
    ]


def entity_losses(doc: Document, *, typed: bool = True) -> Counter[str]:
    """What of entities and facts goes lost where facts join mentions, beyond what `losses` counts."""
    lost: Counter[str] = Counter()
    if not doc.entities:
        return lost
    types = {m.id: m.type for m in doc.mentions}
    lost["facts without pins"] = sum(f.head_mention is None or f.tail_mention is None for f in doc.facts)
    if typed:
        lost["types of entities"] = sum(e.type != types[e.mentions[0]] for e in doc.entities)
    owners = Counter(id for e in doc.entities for id in e.mentions)
    lost["mentions shared by entities"] = sum(count > 1 for count in owners.values())
    return +lost
