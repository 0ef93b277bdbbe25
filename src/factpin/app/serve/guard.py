"""Guard: what is checked for every request before a route sees it, and written down after it.

Host, origin and token; the size of the body, counted as it arrives; how long a client takes to send it. After the
answer: one line in the log and the metrics, neither with anything that a client wrote.
"""

import asyncio
import hmac
import secrets
import time
from base64 import b64decode
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factpin.app.serve.limits import Limits
from factpin.app.serve.logs import RequestLog
from factpin.app.serve.metrics import Metrics
from factpin.app.serve.refusal import Refusal, as_response, internal_error
from factpin.words import count

CONTENT_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    b"content-security-policy": CONTENT_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
}
REQUEST_ID = "factpin.id"  # the key of the id in the scope of a request
# what pages of other sites may do, where --allow-origin names them
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, X-Request-ID",
    "Access-Control-Max-Age": "600",
}
EXPOSED = b"Content-Disposition, Retry-After, X-Factpin-Lost, X-Request-ID"
CLOSED = ("/v1/", "/metrics", "/labelstudio", "/doccano", "/uie", "/hf")  # need the token
STREAM, FILES = "/v1/stream", "/v1/files"  # the bodies of these may be larger than others
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class AccessRules:
    """Who may use a server. hosts: names by which it may be called; none: any."""

    token: str | None = None
    hosts: tuple[str, ...] = LOOPBACK
    origins: tuple[str, ...] = ()  # sites whose pages may use it, such as https://example.org


@dataclass
class Exchange:
    """One request and what has been answered so far."""

    scope: Scope
    headers: dict[str, str]
    id: str
    origin: str = ""  # of a page of another site that may use the server
    started: float = field(default_factory=time.monotonic)
    status: int = 0  # 0: nothing was sent yet
    received: int = 0  # bytes

    @property
    def is_preflight(self) -> bool:
        """Whether a browser asks what a page of another site may do. It sends no token with that."""
        asks = self.scope["method"] == "OPTIONS" and "access-control-request-method" in self.headers
        return asks and bool(self.origin)


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, rules: AccessRules, limits: Limits, log: RequestLog, metrics: Metrics) -> None:
        self.app, self.rules, self.limits, self.log, self.metrics = app, rules, limits, log, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        exchange = Exchange(scope, headers, request_id(headers.get("x-request-id", "")))
        scope[REQUEST_ID] = exchange.id
        out = self._sending(exchange, send)
        try:
            self._check(exchange)
            if exchange.is_preflight:
                return await Response(None, 204, PREFLIGHT)(scope, receive, out)
            await self.app(scope, self._receiving(exchange, receive), out)
        except Refusal as refusal:
            await as_response(refusal)(scope, receive, out)
        except Exception as error:
            self.log.failure(exchange.id, error)
            if not exchange.status:
                await internal_error(exchange.id)(scope, receive, out)
        finally:
            seconds = time.monotonic() - exchange.started
            self.log.request(exchange.id, scope, exchange.status or 499, seconds)
            self.metrics.request(scope, exchange.status or 499, seconds)

    def _check(self, exchange: Exchange) -> None:
        headers, rules = exchange.headers, self.rules
        host = headers.get("host", "")
        if rules.hosts and host_name(host) not in rules.hosts:
            raise Refusal(400, "The Host header names another server.", kind="BadHost")
        origin = headers.get("origin")
        if origin is not None and site_of(origin) != host:
            if origin.lower() not in [allowed.lower().rstrip("/") for allowed in rules.origins]:
                raise Refusal(403, "Pages of other sites may not use this server. Allow one with --allow-origin.")
            exchange.origin = origin
        closed = exchange.scope["path"].startswith(CLOSED) and not exchange.is_preflight
        if rules.token and closed and not is_token(headers, rules.token):
            raise Refusal(401, "The token is missing or wrong. Send it as Authorization: Bearer …")
        length, most = headers.get("content-length", "0"), self._most(exchange.scope)
        if length.isdecimal() and int(length) > most:
            raise too_large(most)

    def _most(self, scope: Scope) -> float:
        """How many bytes the body of a request may have."""
        if scope["path"] == STREAM:
            return float("inf")
        return self.limits.file_bytes if scope["path"] == FILES else self.limits.body_bytes

    def _receiving(self, exchange: Exchange, receive: Receive) -> Receive:
        complete = False
        path, most = exchange.scope["path"], self._most(exchange.scope)

        async def receive_bounded() -> Message:
            nonlocal complete
            if complete:  # what comes now is the end of the connection, however late
                return await receive()
            since = time.monotonic() if path == STREAM else exchange.started  # a stream may pause between parts only
            left = since + self.limits.timeout - time.monotonic()
            try:
                message = await asyncio.wait_for(receive(), max(left, 0.001))
            except TimeoutError:
                raise Refusal(408, "The body did not arrive in time.") from None
            exchange.received += len(message.get("body", b""))
            if exchange.received > most:
                raise too_large(most)
            complete = not message.get("more_body", False)
            return message

        return receive_bounded

    def _sending(self, exchange: Exchange, send: Send) -> Send:
        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                more = {**HEADERS, b"x-request-id": exchange.id.encode()}
                if exchange.status in (408, 413):
                    more[b"connection"] = b"close"  # the rest of the body will not be read
                if exchange.status == 401:
                    more[b"www-authenticate"] = b"Bearer"
                if exchange.origin:
                    more[b"access-control-allow-origin"] = exchange.origin.encode("latin-1")
                    more[b"access-control-expose-headers"] = EXPOSED
                    more[b"cross-origin-resource-policy"] = b"cross-origin"
                if self.rules.origins:
                    more[b"vary"] = b"Origin"
                message = {**message, "headers": [*message.get("headers", ()), *more.items()]}
            await send(message)

        return send_noted


def too_large(most: float) -> Refusal:
    """The answer to a body that is too large."""
    return Refusal(413, f"The body is larger than {count(round(most), 'byte')}. Send it in parts.")


def request_id(given: str) -> str:
    """The id of a request: the client's, if it is a plain word."""
    plain = given.isascii() and 0 < len(given) <= 64 and given.replace("-", "").isalnum()
    return given if plain else secrets.token_hex(8)


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] or host if host.rpartition(":")[2].isdecimal() else host


def site_of(origin: str) -> str | None:
    """Name and port in an Origin header; None where it has none."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def is_token(headers: dict[str, str], token: str) -> bool:
    """Whether a request has the token: as Bearer, or as the password of Basic, as Label Studio sends it."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            value = b64decode(value, validate=True).decode("latin-1").partition(":")[2]
        except ValueError:
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(value.strip().encode("latin-1"), token.encode())
