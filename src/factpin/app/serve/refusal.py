"""What a server answers when it does not do what was asked: one shape for every error.

{"error": {"kind": "BadInput", "message": "…", "field": "texts[3]"}}
"""

from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response

from factpin.errors import FactpinError, MissingExtra

KINDS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    408: "TooSlow",
    413: "TooLarge",
    415: "UnsupportedMediaType",
    429: "TooManyRequests",
    500: "Internal",
    503: "Unavailable",
}


class Refusal(HTTPException):
    """An answer other than success. retry: seconds after which to try again."""

    def __init__(self, status: int, message: str, *, kind: str = "", field: str = "", retry: float | None = None):
        headers = {} if retry is None else {"Retry-After": str(max(1, round(retry)))}
        super().__init__(status, message, headers)
        self.kind, self.field = kind or KINDS.get(status, "Error"), field


def refusal_of(error: FactpinError, field: str = "") -> Refusal:
    """The answer to an error of the user."""
    inner = getattr(error, "field", "")
    place = ".".join(filter(None, (field, inner)))
    status = 415 if isinstance(error, MissingExtra) else 422
    return Refusal(status, str(error), kind=type(error).__name__, field=place)


def error_response(status: int, kind: str, message: str, field: str = "", **more: Any) -> Response:
    """An error in the one shape that all errors have."""
    record = {"kind": kind, "message": message, **({"field": field} if field else {}), **more}
    body = orjson.dumps({"error": record}, default=str)
    return Response(body, status, media_type="application/json")


def as_response(refusal: HTTPException) -> Response:
    """The response to a refusal, or to what the framework refuses by itself (404, 405)."""
    kind = getattr(refusal, "kind", "") or KINDS.get(refusal.status_code, "Error")
    response = error_response(refusal.status_code, kind, str(refusal.detail), getattr(refusal, "field", ""))
    response.headers.update(refusal.headers or {})
    return response


def internal_error(id: str) -> Response:
    """The answer to an error in the server. id: of the request, which the log has too."""
    return error_response(500, "Internal", "An error in the server. Its log has a line with this id.", id=id)
