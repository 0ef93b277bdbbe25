"""POST /v1/extract: texts to documents."""

import time

from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.app.serve.answers import ERRORS, client_of, until_gone
from factpin.app.serve.extraction import answer, documents_of, read_options
from factpin.app.serve.service import Service
from factpin.app.serve.shapes import ExtractAnswer, ExtractRequest
from factpin.app.serve.strict_json import JsonRoute

router = APIRouter(route_class=JsonRoute)


@router.post("/v1/extract", responses={200: {"model": ExtractAnswer}, **ERRORS})
async def extract(body: ExtractRequest, request: Request) -> Response:
    """Find mentions, entities, facts and events in texts."""
    started = time.monotonic()
    service: Service = request.app.state.service
    documents = documents_of(body, service.limits, service.limits.texts)
    options = read_options(body.options, service)
    found = await until_gone(request, service.extract(documents, options, client_of(request)))
    return answer(found, options, body.options, service, started)
