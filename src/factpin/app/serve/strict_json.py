"""Routes that read JSON strictly: UTF-8, no NaN, no half of a surrogate pair; anything else than JSON is refused."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from factpin.app.serve.refusal import Refusal


class JsonRequest(Request):
    """A request whose body is parsed by orjson."""

    async def json(self) -> Any:
        """The body."""
        if not hasattr(self, "_json"):
            self._json = orjson.loads(await self.body())
        return self._json


class JsonRoute(APIRoute):
    """A route whose body, if it has one, is JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of this route."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            if self.body_field is not None:
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
                    raise Refusal(415, "The body must be JSON: send it with Content-Type: application/json.")
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json
