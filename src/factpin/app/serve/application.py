"""The application: routes, errors in one shape, the page, and the guard around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import as_file
from importlib.resources import files as resources
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.staticfiles import StaticFiles

from factpin.app.serve.guard import REQUEST_ID, AccessRules, Guard
from factpin.app.serve.jobs import Jobs
from factpin.app.serve.logs import RequestLog
from factpin.app.serve.metrics import Metrics
from factpin.app.serve.refusal import Refusal, as_response, error_response, internal_error
from factpin.app.serve.routes import about, adapters, ask, convert, edit, extract, files, jobs, store, stream
from factpin.app.serve.service import Service
from factpin.app.serve.stored import StoreThread
from factpin.app.serve.uploads import FileReaders
from factpin.app.serve.version import VERSION

NOT_FOUND, NO_SUCH_METHOD = 404, 405
ROUTERS = tuple(room.router for room in (about, adapters, ask, convert, edit, extract, files, jobs, store, stream))


def create_app(
    service: Service, rules: AccessRules, log: RequestLog, base: StoreThread | None = None, *, page: bool = True
) -> tuple[FastAPI, Guard]:
    """The application and the guard around it, which is what a server runs."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        app.state.jobs.stop()
        service.stop(service.limits.grace)
        if base is not None:
            base.close()

    app = FastAPI(title="factpin", version=VERSION, lifespan=lifespan, docs_url=None, redoc_url=None)
    metrics = Metrics(VERSION, list(service.folders))
    metrics.watch(service.queue.state)
    service.on_batch = metrics.on_batch
    service.on_failure = partial(log.failure, "models")
    app.state.service, app.state.store, app.state.metrics = service, base, metrics
    app.state.stopping, app.state.streams = False, 0
    app.state.jobs, app.state.readers = Jobs(service, service.limits), FileReaders(service.limits)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _failed)
    for router in ROUTERS:
        app.include_router(router)
    if page:
        app.router.default = StaticFiles(directory=page_folder(), html=True)  # behind all routes, so that 405 works
    return app, Guard(app, rules, service.limits, log, metrics)


def page_folder() -> Path:
    """Where the files of the page are."""
    with as_file(resources("factpin.app") / "page") as folder:
        return folder


async def _refused(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return await _failed(request, error)
    if error.status_code == NO_SUCH_METHOD:  # the framework names the methods of one of several routes
        methods = _methods(request)
        if not methods:
            return as_response(Refusal(NOT_FOUND, "Not Found"))
        error = Refusal(NO_SUCH_METHOD, f"There is no {request.method} here; there is {' and '.join(methods)}.")
        error.headers = {"Allow": ", ".join(methods)}
    return as_response(error)


async def _failed(request: Request, _: Exception) -> Response:
    """The answer to an error in a route. It is raised again after the answer, and the guard writes it to the log."""
    return internal_error(request.scope[REQUEST_ID])


def _methods(request: Request) -> list[str]:
    """The methods of all routes with the path of a request."""
    routes = [route for router in (request.app.router, *ROUTERS) for route in router.routes if isinstance(route, Route)]
    there = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return sorted({method for route in there for method in route.methods or ()})


async def _invalid(_: Request, error: Exception) -> Response:
    """The first thing that is wrong with a body, in the shape of all errors."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    if first.get("type") == "json_invalid":
        return error_response(400, "BadJson", f"The body is not JSON: {first.get('ctx', {}).get('error', '')}.")
    place = [str(part) if isinstance(part, str) else f"[{part}]" for part in first.get("loc", ())[1:]]
    field = ".".join(place).replace(".[", "[")
    return error_response(422, "BadInput", f"{field or 'The body'}: {first.get('msg', 'invalid')}.", field)
