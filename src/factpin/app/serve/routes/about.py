"""What the server is and how it is: /health, /ready, /v1/models."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin.app.serve.answers import as_json
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.service import Service
from factpin.app.serve.shapes import ErrorAnswer, HealthAnswer, ModelsAnswer
from factpin.app.serve.version import VERSION
from factpin.extraction.inputs import ENDINGS
from factpin.formats import FORMATS

router = APIRouter()


@router.get("/health", responses={200: {"model": HealthAnswer}})
async def health(request: Request) -> Response:
    """Whether the server is alive. Never waits for the models."""
    return as_json(_health(request))


@router.get("/ready", responses={200: {"model": HealthAnswer}, 503: {"model": ErrorAnswer}})
async def ready(request: Request) -> Response:
    """Whether requests are answered now."""
    service: Service = request.app.state.service
    if request.app.state.stopping:
        raise Refusal(503, "The server is stopping.", retry=5)
    if not service.ready:
        raise Refusal(503, service.failure or "The models are still being loaded.", retry=5)
    return as_json(_health(request))


@router.get("/v1/models", responses={200: {"model": ModelsAnswer}, 401: {"model": ErrorAnswer}})
async def models(request: Request) -> Response:
    """The models of this server, what it accepts, and its limits."""
    state = request.app.state
    service: Service = state.service
    rows = [
        {
            "name": name,
            "task": settings.task,
            "language": settings.language or "any",
            "finds": settings.finds,
            "labels": list(settings.labels),
            "encoder": settings.encoder,
            "digest": f"sha256:{service.fingerprints[name]}",
        }
        for name, settings in service.settings.items()
    ]
    return as_json(
        {
            "models": rows,
            "limits": asdict(service.limits),
            "formats": sorted(FORMATS),
            "files": sorted(ENDINGS),
            "store": state.store is not None,
            "writable": state.store is not None and state.store.writable,
            "version": VERSION,
        }
    )


def _health(request: Request) -> dict[str, Any]:
    service: Service = request.app.state.service
    status = "stopping" if request.app.state.stopping else "failed" if service.failure else "ok"
    status = status if service.ready or status != "ok" else "loading"
    return {"status": status, "models": list(service.folders), "version": VERSION}


@router.get("/metrics", responses={200: {"content": {"text/plain": {}}}, 401: {"model": ErrorAnswer}})
async def metrics(request: Request) -> Response:
    """Counts for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")
