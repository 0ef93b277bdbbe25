"""Odd bodies: only 4xx, the server stays alive, and nothing that a client wrote is in a log or a metric."""

import json
import random
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.conftest import TOKEN, RunningServer
from tests.serve.test_routes import form

CANARY = "canary-7f3a91"
ROUTES = ("/v1/extract", "/v1/ask", "/v1/convert", "/v1/jobs", "/v1/store/add", "/v1/store/join", "/hf", "/uie",
          "/doccano", "/labelstudio/predict")  # fmt: skip


def odd_bodies(seed: int) -> Iterator[tuple[str, bytes]]:
    """Routes with bodies that none of them takes, each with the canary in it."""
    chance = random.Random(seed)
    while True:
        wrong = chance.choice([5, None, True, [], {}, 1e308, -1, [[CANARY]], {CANARY: CANARY}, CANARY])
        made: list[bytes] = [
            b'{"texts": ["%s\\ud800"]}' % CANARY.encode(),
            b'{"texts": ["\xff\xfe%s"]}' % CANARY.encode(),
            json.dumps({"texts": wrong, "question": wrong, CANARY: 1}).encode(),
            b'{"options": %s' % (b"[" * chance.randrange(1, 20_000)),
            b'{"texts": [%s]}' % (b'{"a":' * chance.randrange(1, 3000)),
            b'{"text": "%s", "options": {"min_score": 9%s}}' % (CANARY.encode(), b"9" * chance.randrange(1, 400)),
            b'{"texts": [NaN, Infinity, "%s"]}' % CANARY.encode(),
            chance.randbytes(chance.randrange(1, 300)),
            b'{"texts": ["%s"], "texts": 7}' % CANARY.encode(),
            b"\x00" + CANARY.encode(),
            json.dumps({"documents": [{"id": CANARY, "text": "ab", "mentions": [{"start": 1, "text": CANARY}]}],
                        "to": CANARY}).encode(),
            json.dumps(CANARY).encode(),
        ]  # fmt: skip
        yield chance.choice(ROUTES), chance.choice(made)


def check_odd_bodies(server: RunningServer, count: int, seed: int) -> None:
    for (route, body), _ in zip(odd_bodies(seed), range(count), strict=False):
        answer = server.post(route, body)
        assert 400 <= answer.status < 500, (route, body[:200], answer.body[:300])
        assert set(answer.json) == {"error"}
    check_alive(server)


def check_alive(server: RunningServer) -> None:
    assert server.get("/health").json["status"] == "ok"
    assert CANARY.encode() not in server.get("/metrics").body
    assert CANARY not in server.log.read_text(encoding="utf-8", errors="replace")


def test_odd_bodies_get_4xx(server: RunningServer) -> None:
    check_odd_bodies(server, 1000, 0)


@pytest.mark.verify
def test_ten_thousand_odd_bodies_get_4xx(server: RunningServer) -> None:
    check_odd_bodies(server, 10_000, 1)


ODD_PAGES = [5, None, True, "ab", [], {}, [5], [[0]], [[0, 1, 2]], [["a", 1]], [[-9, 1]], [[0, 999]], [[0.5, 1]],
             [[0, True]], [{"start": 0}], {"pages": [[0, 1]]}, [[0, 2**60]]]  # fmt: skip
ODD_META: list[dict[str, Any]] = [*({"pages": pages} for pages in ODD_PAGES), {"unfound": 5}, {"extra": [1]},
            {"annotated": {"mentions": 5}}, {"unsure": 5, "source": []}, {"duie": 7, "duee": {}}]  # fmt: skip


def test_odd_meta_is_kept_as_it_is(server: RunningServer) -> None:
    text = "谷爱凌😀"
    record: dict[str, Any]
    for meta in ODD_META:
        record = {"id": "a", "text": text, "meta": meta}
        answer = server.post("/v1/extract", {"documents": [record], "options": {"offsets": "utf16"}})
        assert answer.status == 200, (meta, answer.body)
        if "pages" in meta:
            assert answer.json["documents"][0]["meta"]["pages"] == meta["pages"]
        body, kind = form("a.jsonl", json.dumps(record).encode() + b"\n", '{"offsets": "utf16"}')
        assert server.post("/v1/files", body, content_type=kind).status == 200, meta
    for wrong in (5, "a", [1], None):
        record = {"id": "a", "text": text, "meta": wrong}
        assert server.post("/v1/extract", {"documents": [record]}).status in (200, 422), wrong
        body, kind = form("a.jsonl", json.dumps(record).encode())
        assert server.post("/v1/files", body, content_type=kind).status in (200, 422), wrong
    lines = b"".join(json.dumps({"text": text, "meta": meta}).encode() + b"\n" for meta in ODD_META)
    answer = server.post("/v1/stream?offsets=utf16", lines, content_type="application/x-ndjson")
    assert json.loads(answer.body.splitlines()[-1]) == {"summary": {"documents": len(ODD_META), "errors": 0}}
    check_alive(server)


def test_pages_of_documents_are_turned_to_utf16(server: RunningServer) -> None:
    record = {"id": "a", "text": "😀a\n\nb", "meta": {"pages": [[0, 2], [4, 5]]}}
    answer = server.post("/v1/extract", {"documents": [record], "options": {"offsets": "utf16"}})
    assert answer.json["documents"][0]["meta"]["pages"] == [[0, 3], [5, 6]]


@pytest.mark.parametrize(
    "origin", ["http://[", "http://[x]", "null", "", "http://", "[", "http://a:b", "//[::1", "\xff"]
)
def test_odd_origins_are_refused(server: RunningServer, origin: str) -> None:
    answer = server.post("/v1/extract", {"text": "a"}, origin=origin)
    assert (answer.status, answer.error) == (403, "Forbidden")


def test_odd_headers_and_bytes_get_4xx(server: RunningServer) -> None:
    chance = random.Random(3)
    names = ("origin", "authorization", "content-type", "content-length", "x-request-id", "accept-encoding", "expect",
             "transfer-encoding", "last-event-id", "access-control-request-method", "cookie", "range")  # fmt: skip
    for route in ("/v1/extract", "/v1/files", "/v1/stream", "/v1/jobs/x/events", "/"):
        for method in (b"POST", b"GET", b"OPTIONS", b"DELETE"):
            for name in names:
                value = chance.choice([b"[", b"\xff\xfe", b"-1", b"9" * 300, b"a=b;;;", b"Basic !!", b"bytes=0-", b""])
                head = method + b" " + route.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                answer = talk(server, head + name.encode() + b": " + value + b"\r\n\r\n")
                assert answer.split(b" ", 2)[1:2] < [b"500"], (method, route, name, value, answer[:200])
    for _ in range(100):
        body = chance.randbytes(chance.randrange(1, 300))
        for route, kind in (("/v1/files", "multipart/form-data; boundary=b"), ("/v1/stream", "application/x-ndjson")):
            reply = server.post(route, b"--b\r\n" + body, content_type=kind)
            assert reply.status < 500
            if route == "/v1/stream":
                assert "summary" in json.loads(reply.body.splitlines()[-1])
    check_alive(server)


def talk(server: RunningServer, *parts: bytes, pause: float = 0.0) -> bytes:
    """What the server answers to raw bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as wire:
        try:
            for part in parts:
                wire.sendall(part)
                time.sleep(pause)
        except OSError:
            pass  # the server has answered and closed
        try:
            return wire.recv(4096)
        except ConnectionResetError:
            return b""


HEAD = b"POST /v1/extract HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def test_bodies_without_end_and_false_lengths_are_refused(server: RunningServer) -> None:
    chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
    endless = talk(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 12)
    assert endless == b"" or b" 413 " in endless.splitlines()[0]
    huge = talk(server, HEAD + b"Content-Length: 99999999999\r\n\r\n{")
    assert b" 413 " in huge.splitlines()[0]
    assert b" 400 " in talk(server, b"\x00\x01 nonsense " + CANARY.encode() + b"\r\n\r\n").splitlines()[0]
    check_alive(server)


def test_slow_clients_do_not_hold_others_up(server: RunningServer) -> None:
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    for wire in slow:
        wire.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
    assert server.post("/v1/extract", {"text": "谷爱凌出生于旧金山。"}).status == 200
    for wire in slow:
        wire.close()
    check_alive(server)


@pytest.mark.verify
def test_a_body_that_does_not_arrive_gets_408(server: RunningServer) -> None:
    answer = talk(server, HEAD + b"Content-Length: 100\r\n\r\n{", *[b" "] * 40, pause=1.0)
    assert b" 408 " in answer.splitlines()[0]


def test_a_token_is_needed_where_there_is_one(closed_server: RunningServer) -> None:
    body = {"text": CANARY}
    assert closed_server.post("/v1/extract", body).status == 401
    assert closed_server.post("/v1/extract", body, authorization="Bearer wrong").status == 401
    assert closed_server.post("/v1/extract", body, authorization=f"Bearer {TOKEN}").status == 200
    assert closed_server.get("/metrics").status == 401
    assert closed_server.get("/health").status == closed_server.get("/").status == 200
    log = closed_server.log.read_text()
    assert CANARY not in log and TOKEN not in log


def test_limits_and_types_have_their_codes(server: RunningServer) -> None:
    extract = "/v1/extract"
    assert server.post(extract, {"texts": ["a"] * 257}).status == 413
    assert server.post(extract, {"text": "a" * 400_001}).status == 413
    assert server.post(extract, b"{}", content_type="text/plain").status == 415
    assert server.post(extract, {"text": "a", "texts": ["b"]}).status == 422
    assert server.get(extract).status == 405
    assert server.get("/v1/nothing").status == 404
    assert server.get("/health", host="evil.example").status == 400
    assert server.post(extract, {"text": "a"}, origin="http://evil.example").status == 403
    long = {"text": "谷爱凌" * 500, "options": {"on_overflow": "error", "models": ["zh-facts"]}}
    refused = server.post(extract, long)
    assert refused.status == 422 and refused.error == "BadInput"
