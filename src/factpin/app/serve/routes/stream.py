"""POST /v1/stream: a document per line in, a document per line out, as soon as it is read."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from factpin.app.serve.answers import ERRORS, LinesResponse, client_of
from factpin.app.serve.extraction import check_length, document_of, read_options, record_of
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.service import Service
from factpin.app.serve.shapes import ExtractOptions
from factpin.documents import Document
from factpin.documents.likely import LIKELY
from factpin.words import count

NDJSON = "application/x-ndjson"
UNAVAILABLE = 503
AT_ONCE = 16  # lines that are read together
BODY = {"requestBody": {"content": {NDJSON: {"schema": {"type": "string"}}}, "required": True}}

router = APIRouter()


@router.post("/v1/stream", responses={200: {"content": {NDJSON: {}}}, **ERRORS}, openapi_extra=BODY)
async def stream(
    request: Request,
    models: Annotated[list[str] | None, Query()] = None,
    min_score: Annotated[float, Query(ge=0, le=1)] = LIKELY,
    language: str | None = None,
    offsets: Literal["codepoint", "utf16"] = "codepoint",
) -> Response:
    """Find mentions, entities, facts and events in a stream of texts."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in (NDJSON, "application/jsonl"):
        raise Refusal(415, f"The body must be one JSON object per line: send it with Content-Type: {NDJSON}.")
    state = request.app.state
    asked = ExtractOptions(models=models or [], min_score=min_score, language=language, offsets=offsets)
    read_options(asked, state.service)
    if state.streams >= state.service.limits.streams:
        raise Refusal(429, "Too many streams are open. Try again later.", retry=10)
    return LinesResponse(_answers(request, asked), NDJSON)


async def _answers(request: Request, asked: ExtractOptions) -> AsyncIterator[bytes]:
    state = request.app.state
    done, failed = 0, 0
    state.streams += 1
    try:
        async for group in _groups(request, state.service.limits.line_bytes):
            for record in await _read(request, asked, group):
                failed += "error" in record
                done += "error" not in record
                yield orjson.dumps(record) + b"\n"
        yield orjson.dumps({"summary": {"documents": done, "errors": failed}}) + b"\n"
    finally:
        state.streams -= 1


async def _groups(request: Request, longest: int) -> AsyncIterator[list[tuple[int, bytes]]]:
    """The lines of a body with their numbers, a few at once; what has arrived is not kept waiting."""
    rest, number = b"", 0
    async for part in request.stream():
        *lines, rest = (rest + part).split(b"\n")
        if len(rest) > longest:
            rest = rest[: longest + 1]
        numbered = [(number + i, line) for i, line in enumerate(lines, start=1)]
        number += len(lines)
        full = [pair for pair in numbered if pair[1].strip()]
        for i in range(0, len(full), AT_ONCE):
            yield full[i : i + AT_ONCE]
    if rest.strip():
        yield [(number + 1, rest)]


async def _read(request: Request, asked: ExtractOptions, lines: list[tuple[int, bytes]]) -> list[dict[str, Any]]:
    """The record of a document, or of an error, for each line."""
    service: Service = request.app.state.service
    options = read_options(asked, service)
    parsed = [_parse(number, line, asked, service) for number, line in lines]
    documents = [doc for doc in parsed if isinstance(doc, Document)]
    try:
        results = iter(await service.extract(documents, options, client_of(request), patient=True))
        return [record_of(next(results), asked) if isinstance(doc, Document) else doc for doc in parsed]
    except Exception as error:  # if it is about one of them: each by itself
        busy = isinstance(error, Refusal) and error.status_code == UNAVAILABLE
        if len(lines) > 1 and not busy:
            return [record for line in lines for record in await _read(request, asked, [line])]
        refusal = error if isinstance(error, Refusal) else Refusal(500, "An error in the server.")
        numbered = zip(lines, parsed, strict=True)
        return [_error(number, refusal) if isinstance(doc, Document) else doc for (number, _), doc in numbered]


def _parse(number: int, line: bytes, asked: ExtractOptions, service: Service) -> Document | dict[str, Any]:
    try:
        if len(line) > service.limits.line_bytes:
            raise Refusal(413, f"The line is longer than {count(service.limits.line_bytes, 'byte')}.")
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise Refusal(400, f"The line is not JSON: {error.msg}.", kind="BadJson") from None
        if not isinstance(record, dict):
            raise Refusal(422, 'Expected an object with "text".', kind="BadInput")
        doc = document_of(record, number - 1, "", asked.language)
        check_length(doc.text, service.limits, "text")
        return doc
    except Refusal as refusal:
        return _error(number, refusal)


def _error(number: int, refusal: Refusal) -> dict[str, Any]:
    return {"error": {"kind": refusal.kind, "message": refusal.detail, "line": number}}
