"""/v1/store: edit the store, on a server that allows it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.app.serve.answers import ERRORS, as_json
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.routes.ask import store_of
from factpin.app.serve.shapes import EntityJoin, EntitySplit, FactToAdd, FactVerdict
from factpin.app.serve.strict_json import JsonRoute
from factpin.memory import TypedFact
from factpin.memory.find_facts import fact_by_key

if TYPE_CHECKING:
    from factpin.extraction.knowledge_base import KnowledgeBase

router = APIRouter(route_class=JsonRoute, responses=ERRORS)


@router.post("/v1/store/add")
async def add(body: FactToAdd, request: Request) -> Response:
    """Add a fact by hand."""
    return await _edit(request, lambda base: {"uri": base.store.add(TypedFact(**body.model_dump()))})


@router.post("/v1/store/reject")
async def reject(body: FactVerdict, request: Request) -> Response:
    """Reject a fact."""
    return await _edit(request, lambda base: _judge(base, body, "rejected"))


@router.post("/v1/store/confirm")
async def confirm(body: FactVerdict, request: Request) -> Response:
    """Confirm a fact."""
    return await _edit(request, lambda base: _judge(base, body, "confirmed"))


@router.post("/v1/store/join")
async def join(body: EntityJoin, request: Request) -> Response:
    """Make two entities one, or two again."""

    def edit(base: "KnowledgeBase") -> dict[str, Any]:
        if body.undo:
            base.store.unjoin(body.a, body.b)
        else:
            base.store.join(body.a, body.b, "user")
        return {}

    return await _edit(request, edit)


@router.post("/v1/store/split")
async def split(body: EntitySplit, request: Request) -> Response:
    """In one document, let a name mean another entity, or the same again."""

    def edit(base: "KnowledgeBase") -> dict[str, Any]:
        if body.undo:
            base.store.unsplit(body.uri, body.name)
            return {}
        return {"id": base.store.split(body.uri, body.name)}

    return await _edit(request, edit)


def _judge(base: "KnowledgeBase", body: FactVerdict, verdict: str) -> dict[str, Any]:
    base.store.judge(fact_by_key(base.store, body.fact).fact.id, "" if body.undo else verdict, body.note)
    return {}


async def _edit(request: Request, edit: Callable[["KnowledgeBase"], dict[str, Any]]) -> Response:
    store = store_of(request)
    if not store.writable:
        raise Refusal(403, "The store may not be edited. Start the server with --allow-edits.")
    return as_json({"ok": True, **await store.run(edit)})
