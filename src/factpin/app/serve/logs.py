"""The log of a server: one JSON object per line, and never a text, a file name, a token or a query."""

import time
import traceback
from typing import IO, Any

import orjson
from starlette.types import Scope


class RequestLog:
    """Writes lines to a stream of bytes; None for no log."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self.stream = stream

    def write(self, **record: Any) -> None:
        """Write one line."""
        if self.stream is not None:
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.stream.write(orjson.dumps({"time": now, **record}) + b"\n")
            self.stream.flush()

    def request(self, id: str, scope: Scope, status: int, seconds: float) -> None:
        """Note a request by its route; the path itself may have names in it."""
        more = scope.get("factpin", {})
        self.write(
            id=id, method=method_of(scope), route=route_of(scope), status=status, ms=round(1000 * seconds), **more
        )

    def failure(self, id: str, error: BaseException) -> None:
        """Note where an unexpected error happened, without its message, which may quote a text."""
        frames = traceback.extract_tb(error.__traceback__)[-8:]
        places = [f"{frame.filename.rpartition('factpin/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
        self.write(id=id, error=type(error).__name__, places=places)


def route_of(scope: Scope) -> str:
    """The template of the route of a request; other if there is none."""
    return getattr(scope.get("route"), "path", "") or "other"


def method_of(scope: Scope) -> str:
    """The method of a request, if it is a usual one."""
    return (
        scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"
    )
