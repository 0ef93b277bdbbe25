"""/v1/jobs: many texts in the background."""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.app.serve.answers import ERRORS, LinesResponse, as_json, client_of
from factpin.app.serve.extraction import documents_of, read_options
from factpin.app.serve.jobs import Jobs, TextJob, events
from factpin.app.serve.service import Service
from factpin.app.serve.shapes import ExtractRequest, JobAnswer
from factpin.app.serve.strict_json import JsonRoute

router = APIRouter(route_class=JsonRoute)
UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.post("/v1/jobs", status_code=202, responses={202: {"model": JobAnswer}, **ERRORS})
async def add(body: ExtractRequest, request: Request) -> Response:
    """Begin a job."""
    service: Service = request.app.state.service
    documents = documents_of(body, service.limits, service.limits.job_texts)
    used = read_options(body.options, service)
    return as_json(_jobs(request).add(documents, used, body.options, client_of(request)).record(), 202)


@router.get("/v1/jobs/{id}", responses={200: {"model": JobAnswer}, **ERRORS})
async def state(id: str, request: Request) -> Response:
    """How far a job is."""
    return as_json(_jobs(request).get(id).record())


@router.get("/v1/jobs/{id}/events", responses={200: {"content": {"text/event-stream": {}}}, **ERRORS})
async def progress(id: str, request: Request) -> Response:
    """How far a job is, again and again until its end."""
    last = request.headers.get("last-event-id", "")
    seen = int(last) if last.isascii() and last.isdecimal() and len(last) < 10 else -1
    return LinesResponse(events(_jobs(request).get(id), seen), "text/event-stream", UNBUFFERED)


@router.get("/v1/jobs/{id}/result", responses={200: {"content": {"application/x-ndjson": {}}}, **ERRORS})
async def result(id: str, request: Request) -> Response:
    """The documents that have been read so far."""
    return LinesResponse(_lines(_jobs(request).get(id)), "application/x-ndjson")


@router.delete("/v1/jobs/{id}", status_code=204, responses=ERRORS)
async def remove(id: str, request: Request) -> Response:
    """Stop and forget a job."""
    _jobs(request).remove(id)
    return Response(status_code=204)


async def _lines(job: TextJob) -> AsyncIterator[bytes]:
    for line in job.lines[: job.done]:
        yield line


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs
