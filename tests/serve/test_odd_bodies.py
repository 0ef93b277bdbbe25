"""Odd bodies: only 4xx, the server stays alive, and nothing that a client wrote is in a log or a metric."""

import json
import random
import socket
import time
from collections.abc import Iterator

import pytest

from tests.serve.conftest import TOKEN, RunningServer

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
