"""What a store holds, for the terminal and as JSON records."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Column, Table
from rich.text import Text

from factpin.answers.cite import citation_of
from factpin.documents.answer import citation_to_json
from factpin.documents.mentions import show_score
from factpin.memory import Conflict, Decision, Filter, JudgedFact, Pattern, Source, Store, StoredEntity
from factpin.memory.names import ranked


def entity_record(entity: StoredEntity) -> dict[str, str]:
    """The record of an entity."""
    return {"id": entity.id, "name": entity.name, "type": entity.type}


def fact_record(judged: JudgedFact) -> dict[str, Any]:
    """The record of a fact with all its evidence."""
    fact = judged.fact
    return {
        "id": fact.id,
        "head": entity_record(fact.head),
        "relation": fact.relation,
        "tail": entity_record(fact.tail),
        "confidence": judged.confidence,
        "status": judged.status,
        "valid_from": fact.valid_from,
        "valid_to": fact.valid_to,
        "qualifiers": [{"role": q.role, "entity": entity_record(q.entity)} for q in fact.qualifiers],
        "verdict": fact.verdict,
        "note": fact.note,
        "evidence": [citation_to_json(citation_of(pin, fact.id, None)) for pin in fact.pins],
    }


def conflict_record(conflict: Conflict) -> dict[str, Any]:
    """The record of a conflict with both sides."""
    facts = [fact_record(judged) for judged in conflict.facts]
    return {"head": entity_record(conflict.head), "relation": conflict.relation, "facts": facts}


def facts_table(facts: Sequence[JudgedFact]) -> Table:
    """A row for each fact."""
    columns = (
        Column(name, overflow="fold") for name in ("head", "relation", "tail", "dates", "sure", "status", "texts")
    )
    table = Table(Column("fact", no_wrap=True), *columns, box=box.SIMPLE_HEAD)
    for judged in facts:
        fact = judged.fact
        dates = f"{fact.valid_from}–{fact.valid_to}" if fact.valid_from or fact.valid_to else ""
        texts = str(len({pin.document for pin in fact.pins}))
        triple = (fact.head.name, fact.relation, fact.tail.name)
        row = (fact.id[:8], *triple, dates, f"{judged.confidence:.2f}", judged.status, texts)
        table.add_row(*(Text(cell) for cell in row))
    return table


def why_lines(judged: JudgedFact) -> list[Text]:
    """A fact and every text that says or denies it."""
    fact = judged.fact
    lines = [Text(fact_line(judged), style="bold")]
    lines[0].append(f"  {judged.status}, {judged.confidence:.2f}", "dim")
    lines += [Text(f"  {q.role}: {q.entity.name}") for q in fact.qualifiers]
    for role, date in (("from", fact.valid_from), ("until", fact.valid_to)):
        lines += [Text(f"  {role} {date}")] if date else []
    for pin in fact.pins:
        score = show_score(pin.score) or "by hand or annotated"
        said = ", ".join(filter(None, (pin.assertion, score, pin.published)))
        lines.append(Text(f"  {pin.uri}:{pin.start}-{pin.end} ", style="cyan"))
        lines[-1].append(f"“{pin.quote}”", "default").append(f"  {said}", "dim")
    return lines + ([Text(f"  {fact.verdict} by hand{': ' + fact.note if fact.note else ''}")] if fact.verdict else [])


def sources_table(sources: Sequence[Source], partly: Sequence[str]) -> Table:
    """A row for each document."""
    table = Table(Column("document", overflow="fold"), "title", "published", "models", "read", box=box.SIMPLE_HEAD)
    unread = set(partly)
    for source in sources:
        models = ", ".join(name.split(":")[0] for name in source.model.split("+") if name)
        row = (source.uri, source.title, source.published, models, "in part" if source.uri in unread else "whole")
        table.add_row(*(Text(cell) for cell in row))
    return table


def decision_line(store: Store, decision: Decision) -> Text:
    """What was decided by hand, with names instead of keys where the store still has them."""
    if decision.kind == "same":
        said = f"{_name(store, decision.a)} and {_name(store, decision.b)} are one entity"
    elif decision.kind == "apart":
        uri = store.uris([decision.a]).get(decision.a, decision.a)
        said = f"in {uri}, {decision.b} is another entity than elsewhere"
    else:
        found = store.judged(Pattern(keys=(decision.a,)))
        said = f"{decision.a[:8]}  " + "".join(f"{fact_line(fact)} is " for fact in found) + decision.value
        said += f": {decision.note}" if decision.note else ""
    return Text(f"{decision.kind:<7}  {said}")


def fact_line(judged: JudgedFact) -> str:
    """`head – relation → tail`."""
    return f"{judged.fact.head.name} – {judged.fact.relation} → {judged.fact.tail.name}"


def _name(store: Store, entity: str) -> str:
    """The usual name of an entity as it was before it was joined, or its key."""
    names = store.tables.names([entity], Filter())
    return ranked(names)[0] if names else entity
