"""POST /v1/ask: an answer from the store, with citations."""

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.answers.ask import Trace, trace
from factpin.answers.passages import Retrieval
from factpin.app.serve.answers import ERRORS, as_json, until_gone
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.shapes import AskAnswer, AskRequest
from factpin.app.serve.stored import StoreThread
from factpin.app.serve.strict_json import JsonRoute
from factpin.app.show.store_tables import entity_record
from factpin.documents.answer import answer_to_json, citation_to_json

if TYPE_CHECKING:
    from factpin.extraction.knowledge_base import KnowledgeBase

router = APIRouter(route_class=JsonRoute)


@router.post("/v1/ask", responses={200: {"model": AskAnswer}, **ERRORS})
async def ask(body: AskRequest, request: Request) -> Response:
    """Answer a question from the store, or abstain."""

    def answer(base: "KnowledgeBase") -> dict[str, Any]:
        asked = (body.question, base.store, body.mode, body.min_score, body.k, body.as_of)
        found = trace(*asked, reader=base.readers, search=base.search)
        more = {"searched": searched(found)} if body.explain else {}
        return {**answer_to_json(found.answer), "as_of": body.as_of, **more}

    return as_json(await until_gone(request, store_of(request).run(answer)))


def searched(found: Trace) -> dict[str, Any]:
    """What was considered on the way to an answer."""
    facts = found.lookup.inspections if found.lookup else ()
    names = found.lookup.names if found.lookup else ()
    retrieval = found.retrieval or Retrieval((), {}, {})
    return {
        "names": [
            {"name": name, "entities": [entity_record(c.entity) | {"share": c.prior} for c in candidates]}
            for name, candidates in names
        ],
        "facts": [
            {"head": f.head, "relation": f.relation, "tail": f.tail, "status": f.status, "confidence": f.confidence,
             "why": f.why}
            for f in facts
        ],
        "passages": [
            {"id": p.id, "document": p.document, "uri": retrieval.uris[p.document], "title": p.title, "start": p.start,
             "end": p.end, "text": p.text, "read": i < found.read}
            for i, p in enumerate(retrieval.passages)
        ],
        "hops": [
            {"source": hop.source, "relation": hop.relation, "target": hop.target, "passage": passage,
             "citation": citation_to_json(hop.citation)}
            for passage, hop in retrieval.hops.items()
        ],
    }  # fmt: skip


def store_of(request: Request) -> StoreThread:
    """The store of the server; 404 if it has none."""
    store: StoreThread | None = request.app.state.store
    if store is None:
        raise Refusal(404, "This server has no store. Start it with factpin serve --db kb.db.", kind="NoStore")
    return store
