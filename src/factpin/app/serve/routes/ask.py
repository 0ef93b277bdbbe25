"""POST /v1/ask: an answer from the store, with citations."""

from typing import Any

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.app.serve.refusal import Refusal
from factpin.app.serve.routes.extract import ERRORS, until_gone
from factpin.app.serve.shapes import AskAnswer, AskRequest, ErrorAnswer
from factpin.app.serve.stored import StoreThread
from factpin.app.serve.strict_json import JsonRoute
from factpin.documents.answer import answer_to_json

router = APIRouter(route_class=JsonRoute)
WITH_STORE = {404: {"model": ErrorAnswer}, **ERRORS}


@router.post("/v1/ask", responses={200: {"model": AskAnswer}, **WITH_STORE})
async def ask(body: AskRequest, request: Request) -> Response:
    """Answer a question from the store, or abstain."""
    from factpin.extraction.knowledge_base import KnowledgeBase  # noqa: PLC0415  (heavy)

    def answer(base: KnowledgeBase) -> dict[str, Any]:
        found = base.ask(body.question, body.mode, body.min_score, body.k, body.as_of)
        return {**answer_to_json(found), "as_of": body.as_of}

    record = await until_gone(request, store_of(request).run(answer))
    return Response(orjson.dumps(record), media_type="application/json")


def store_of(request: Request) -> StoreThread:
    """The store of the server; 404 if it has none."""
    store: StoreThread | None = request.app.state.store
    if store is None:
        raise Refusal(404, "This server has no store. Start it with factpin serve --db kb.db.", kind="NoStore")
    return store
