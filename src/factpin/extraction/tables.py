"""What was found, as rows: for CSV, and facts alone for lists of triples."""

from collections.abc import Callable, Iterator

from factpin.documents import Document, Event, Fact

Row = tuple[object, ...]
ENTITY = ("document", "start", "end", "mention", "type", "score", "entity")
FACT = ("document", "head", "head_type", "relation", "tail", "tail_type", "score", "status", "cue", "head_start",
        "head_end", "tail_start", "tail_end", "qualifiers", "evidence")  # fmt: skip
EVENT = ("document", "event", "type", "trigger", "role", "argument", "start", "end", "score", "status", "cue")


def entity_rows(doc: Document) -> Iterator[Row]:
    """Every mention, with the name of its entity."""
    names = {id: _name(doc, entity.id) for entity in doc.entities for id in entity.mentions}
    for m in doc.mentions:
        yield doc.id, m.start, m.end, m.text, m.type, _number(m.score), names.get(m.id, "")


def fact_rows(doc: Document) -> Iterator[Row]:
    """Every fact, with the characters of its mentions and the sentences that support it."""
    for fact in doc.facts:
        ends = (fact.head_mention or fact.head.mentions[0].id, fact.tail_mention or fact.tail.mentions[0].id)
        head, tail = (doc.mention(id) for id in ends)
        qualifiers = "; ".join(f"{q.role}: {_name(doc, q.entity)}" for q in fact.qualifiers)
        yield (
            doc.id, fact.head.name, fact.head.type, fact.relation, fact.tail.name, fact.tail.type, _number(fact.score),
            fact.assertion or "", _cue(doc, fact), head.start, head.end, tail.start, tail.end, qualifiers,
            " ".join(e.quote for e in fact.evidence),
        )  # fmt: skip


def event_rows(doc: Document) -> Iterator[Row]:
    """A row for each argument of an event; one without arguments has one row."""
    for event in doc.events:
        trigger = doc.mention(event.trigger).text if event.trigger else ""
        about = (_number(event.score), event.assertion or "", _cue(doc, event))
        places: list[Row] = [
            (a.role, doc.mention(a.mention).text, doc.mention(a.mention).start, doc.mention(a.mention).end)
            if a.mention
            else (a.role, a.event, "", "")
            for a in event.arguments
        ]
        for place in places or [("", "", "", "")]:
            yield doc.id, event.id, event.type, trigger, *place, *about


TABLES: dict[str, tuple[tuple[str, ...], Callable[[Document], Iterator[Row]]]] = {
    "entities": (ENTITY, entity_rows),
    "events": (EVENT, event_rows),
    "facts": (FACT, fact_rows),
}


def triples(doc: Document) -> Iterator[tuple[str, str, str]]:
    """Head, relation and tail of every fact that the text asserts: three fields cannot say that it is denied."""
    for fact in doc.facts:
        if is_asserted(fact):
            yield fact.head.name, fact.relation, fact.tail.name


def is_asserted(claim: Fact | Event) -> bool:
    """Whether the text asserts it; without a status, it does."""
    return claim.assertion in (None, "asserted")


def _name(doc: Document, id: str) -> str:
    entity = doc.entity(id)
    return entity.name or max((doc.mention(m).text for m in entity.mentions), key=len)


def _cue(doc: Document, claim: Fact | Event) -> str:
    return "" if claim.cue is None else doc.text[claim.cue.start : claim.cue.end]


def _number(score: float | None) -> object:
    return "" if score is None else score
