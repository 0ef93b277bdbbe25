"""/v1/store: look into the store."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from factpin.app.serve.answers import ERRORS, as_json
from factpin.app.serve.routes.ask import store_of
from factpin.app.show.store_tables import conflict_record, entity_record, fact_record
from factpin.documents import to_json
from factpin.documents.likely import LIKELY
from factpin.memory import Filter, JudgedFact, Pattern, Pin
from factpin.memory.find_facts import fact_by_key, find_chains, find_facts, in_order

if TYPE_CHECKING:
    from factpin.extraction.knowledge_base import KnowledgeBase

router = APIRouter(responses=ERRORS)
AsOf = Annotated[str, Query(max_length=10, description="Ignore documents published later.")]
After = Annotated[str, Query(max_length=2000, description="Where the last list ended.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Score = Annotated[float, Query(ge=0, le=1)]
Needed = Annotated[str, Query(min_length=1, max_length=2000)]


@router.get("/v1/store")
async def about(request: Request) -> Response:
    """What the store holds."""
    store = store_of(request)

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        relations = sorted({judged.fact.relation for judged in base.store.judged()})
        return {"stats": base.store.stats(), "relations": relations, "writable": store.writable}

    return as_json(await store.run(look))


@router.get("/v1/store/documents")
async def documents(request: Request, as_of: AsOf = "", after: After = "", limit: Limit = 100) -> Response:
    """The documents, by uri."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        filter = Filter(as_of)
        partly = set(base.store.partly_read(filter))
        rows = [asdict(s) | {"whole": s.uri not in partly} for s in base.store.sources(filter)]
        return page("documents", rows, "uri", after, limit)

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/document")
async def document(request: Request, uri: Needed) -> Response:
    """One document and the facts that it supports."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        doc, source = base.store.document(uri)
        facts = [f for f in base.store.judged() if any(pin.uri == uri for pin in f.fact.pins)]
        return {"source": asdict(source), "document": to_json(doc), "facts": [full_fact(f) for f in facts]}

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/entities")
async def entities(
    request: Request, name: str = "", as_of: AsOf = "", after: After = "", limit: Limit = 100
) -> Response:
    """The entities that a name may mean, or all that facts are about, by key."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        filter = Filter(as_of)
        names = [name] if name else sorted({e.name for f in base.store.facts(filter=filter) for e in (f.head, f.tail)})
        found = {c.entity.id: c for n in names for c in base.store.candidates(n, filter)}
        rows = [
            {**entity_record(c.entity), "mentions": c.mentions, "names": list(c.names)}
            for c in sorted(found.values(), key=lambda c: c.entity.id)
        ]
        return page("entities", rows, "id", after, limit)

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/entity")
async def entity(request: Request, id: Needed, as_of: AsOf = "") -> Response:
    """An entity with its names, its mentions and the facts about it."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        filter = Filter(as_of)
        found = base.store.entity(id, filter)
        mentions = base.store.mentions(found.id, filter)
        patterns = (Pattern(heads=(found.id,)), Pattern(tails=(found.id,)))
        facts = in_order(f for pattern in patterns for f in base.store.judged(pattern, filter))
        return {
            "entity": entity_record(found),
            "names": sorted({pin.quote for pin in mentions}),
            "mentions": [{"uri": p.uri, "start": p.start, "end": p.end, "quote": p.quote} for p in mentions],
            "facts": [full_fact(fact) for fact in facts],
        }

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/facts")
async def facts(
    request: Request,
    head: str = "",
    relation: str = "",
    tail: str = "",
    min_score: Score = LIKELY,
    as_of: AsOf = "",
    after: After = "",
    limit: Limit = 100,
) -> Response:
    """Facts with all their evidence, by key."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        found = find_facts(base.store, head or None, relation or None, tail or None, Filter(as_of))
        shown = sorted((f for f in found if f.confidence >= min_score), key=lambda f: f.fact.id)
        rows = [full_fact(f) for f in shown if f.fact.id > after][: limit + 1]
        return {**page("facts", rows, "id", "", limit), "hidden": len(found) - len(shown)}

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/paths")
async def paths(request: Request, start: Needed, end: Needed, as_of: AsOf = "") -> Response:
    """The shortest chains of facts between two entities."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        chains = find_chains(base.store, start, end, Filter(as_of))
        return {"paths": [[full_fact(f) for f in chain] for chain in chains]}

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/why")
async def why(request: Request, fact: Needed) -> Response:
    """A fact with every text that says or denies it."""
    return as_json(await store_of(request).run(lambda base: full_fact(fact_by_key(base.store, fact))))


@router.get("/v1/store/conflicts")
async def conflicts(request: Request, as_of: AsOf = "") -> Response:
    """Facts that contradict each other."""

    def look(base: "KnowledgeBase") -> dict[str, Any]:
        found = base.store.conflicts(Filter(as_of))
        return {"conflicts": [{**conflict_record(c), "facts": [full_fact(f) for f in c.facts]} for c in found]}

    return as_json(await store_of(request).run(look))


@router.get("/v1/store/decisions")
async def decisions(request: Request) -> Response:
    """What was decided by hand."""
    found = await store_of(request).run(lambda base: base.store.decisions())
    return as_json({"decisions": [asdict(decision) for decision in found]})


def full_fact(judged: JudgedFact) -> dict[str, Any]:
    """The record of a fact; its evidence says when it was published, and where head and tail are."""
    record = fact_record(judged)
    evidence = [{**cited, **_places(pin)} for cited, pin in zip(record["evidence"], judged.fact.pins, strict=True)]
    return {**record, "evidence": evidence}


def _places(pin: Pin) -> dict[str, Any]:
    ends = {"head": pin.head and list(pin.head), "tail": pin.tail and list(pin.tail)}
    return {"published": pin.published, "score": pin.score, **ends}


def page(name: str, rows: list[dict[str, Any]], key: str, after: str, limit: int) -> dict[str, Any]:
    """A part of a sorted list, and where the next part begins."""
    left = [row for row in rows if row[key] > after]
    return {name: left[:limit], "next": left[limit - 1][key] if len(left) > limit else None}
