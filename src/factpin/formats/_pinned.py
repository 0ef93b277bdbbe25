"""Facts between mentions, which doccano, Label Studio and UIE draw as arrows from one span to another.

Each mention in a fact gets its own entity; the fact connects the two entities and refers to the mentions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from factpin.documents import Document, Entity, Fact, Mention
from factpin.errors import BadDocument
from factpin.formats._writing import single


class Arrow(NamedTuple):
    """A relation in a file: ids of mentions, and its place in the record for error messages."""

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
                    f"the relation {arrow.relation!r} refers to {id!r}, which is not a span of this record. "
                    f"Correct the id, or remove the relation.",
                    field=arrow.where,
                )
    used = {id for arrow in arrows for id in (arrow.head, arrow.tail)}
    entity: dict[str, Entity] = {}
    for m in mentions:
        if m.id in used and m.id not in entity:
            entity[m.id] = single(m, f"e{len(entity)}")
    facts = tuple(Fact(entity[a.head].id, a.relation, entity[a.tail].id, a.head, a.tail, a.score) for a in arrows)
    return tuple(entity.values()), facts


def arrows_of(doc: Document) -> list[Arrow]:
    """The facts of a document as arrows. An argument without a mention uses the first mention of its entity."""
    first = {e.id: e.mentions[0] for e in doc.entities}
    return [
        Arrow(f.head_mention or first[f.head], f.relation, f.tail_mention or first[f.tail], f"facts[{i}]", f.score)
        for i, f in enumerate(doc.facts)
    ]


def entity_losses(doc: Document, *, typed: bool = True) -> Counter[str]:
    """What is lost of entities and facts if facts connect mentions, beyond what `losses` counts."""
    lost: Counter[str] = Counter()
    if not doc.entities:
        return lost
    types = {m.id: m.type for m in doc.mentions}
    lost["facts without mentions"] = sum(f.head_mention is None or f.tail_mention is None for f in doc.facts)
    if typed:
        lost["types of entities"] = sum(e.type != types[e.mentions[0]] for e in doc.entities)
    owners = Counter(id for e in doc.entities for id in e.mentions)
    lost["mentions shared by entities"] = sum(count > 1 for count in owners.values())
    return +lost
