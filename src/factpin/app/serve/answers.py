"""What routes share: answers as JSON and as lines, the errors they may give, clients that go away."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any, TypeVar

import orjson
from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from factpin.app.serve.refusal import Refusal
from factpin.app.serve.shapes import ErrorAnswer

T = TypeVar("T")
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer} for status in (400, 401, 403, 404, 408, 413, 415, 422, 429, 503)
}


def as_json(record: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(orjson.dumps(record), status, media_type="application/json")


class LinesResponse(Response):
    """An answer that is sent line by line, while the body of the request may still arrive."""

    def __init__(self, lines: AsyncIterator[bytes], media_type: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(None, 200, headers, media_type)
        self.lines = lines
        self.raw_headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  (the signature of ASGI)
        """Send every line as soon as it is there."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for line in self.lines:
            await send({"type": "http.response.body", "body": line, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


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
