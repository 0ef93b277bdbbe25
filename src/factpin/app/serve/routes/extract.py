"""POST /v1/extract: texts to documents."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.app.serve.limits import Limits
from factpin.app.serve.offsets import in_utf16
from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.app.serve.service import ReadOptions, Service
from factpin.app.serve.shapes import ErrorAnswer, ExtractAnswer, ExtractOptions, ExtractRequest
from factpin.app.serve.strict_json import JsonRoute
from factpin.documents import Document, to_json
from factpin.documents.native import from_json
from factpin.errors import FactpinError

T = TypeVar("T")
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer} for status in (400, 401, 403, 408, 413, 415, 422, 429, 503)
}
INPUTS = ("text", "texts", "documents")

router = APIRouter(route_class=JsonRoute)


@router.post("/v1/extract", responses={200: {"model": ExtractAnswer}, **ERRORS})
async def extract(body: ExtractRequest, request: Request) -> Response:
    """Find mentions, entities, facts and events in texts."""
    started = time.monotonic()
    service: Service = request.app.state.service
    documents = documents_of(body, service.limits)
    options = read_options(body.options, service)
    found = await until_gone(request, service.extract(documents, options, client_of(request)))
    return answer(found, options, body.options, service, started)


def documents_of(body: ExtractRequest, limits: Limits) -> list[Document]:
    """The documents of a request, checked."""
    given = [name for name in INPUTS if name in body.model_fields_set]
    if len(given) != 1:
        raise Refusal(422, "Give exactly one of text, texts and documents.", kind="BadInput")
    texts = [body.text] if given == ["text"] else body.texts
    count = len(body.documents) if given == ["documents"] else len(texts)
    if count > limits.texts:
        raise Refusal(413, f"The request has {count} texts; at most {limits.texts} are read at once.", field=given[0])
    found = []
    for i, record in enumerate(body.documents if given == ["documents"] else texts):
        field = "text" if given == ["text"] else f"{given[0]}[{i}]"
        found.append(_document(record, i, field, body.options.language))
        check_length(found[-1].text, limits, field)
    return found


def _document(given: str | dict[str, Any], index: int, field: str, language: str | None) -> Document:
    try:
        doc = Document(f"d{index}", given) if isinstance(given, str) else from_json(given, f"d{index}")
        return replace(doc, language=language) if language else doc
    except FactpinError as error:
        raise refusal_of(error, field) from None


def check_length(text: str, limits: Limits, field: str) -> None:
    """Refuse a text that is too long."""
    if len(text) > limits.characters:
        message = f"The text has {len(text):,} characters; at most {limits.characters:,} are read at once."
        raise Refusal(413, message, field=field)


def read_options(options: ExtractOptions, service: Service) -> ReadOptions:
    """The options of a request, checked."""
    try:
        models = service.choose(options.models)
    except FactpinError as error:
        raise refusal_of(error, "options.models") from None
    return ReadOptions(models, options.min_score, options.coreference == "rules", options.on_overflow)


def answer(
    found: Sequence[Document], used: ReadOptions, asked: ExtractOptions, service: Service, started: float
) -> Response:
    """The documents as JSON."""
    record = {
        "documents": [record_of(doc, asked) for doc in found],
        "models": {name: f"sha256:{service.fingerprints[name]}" for name in used.models},
        "took_ms": round(1000 * (time.monotonic() - started)),
    }
    return Response(orjson.dumps(record), media_type="application/json")


def record_of(doc: Document, options: ExtractOptions) -> dict[str, Any]:
    """The record of a document, with the offsets that were asked for."""
    return in_utf16(to_json(doc)) if options.offsets == "utf16" else to_json(doc)


def client_of(request: Request) -> str:
    """Who asks, for a fair share of the models."""
    return request.client.host if request.client else ""


async def until_gone(request: Request, work: Awaitable[T]) -> T:
    """The result of some work, which ends when the client goes away."""
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Refusal(499, "The client closed the connection.", kind="Gone")
    finally:
        working.cancel()
        watching.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
