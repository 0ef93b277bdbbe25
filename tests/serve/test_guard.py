"""What the guard does around the routes: errors in one shape, pages of other sites, names of the server, the end."""

import json
import signal
import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from factpin.app.serve.application import create_app
from factpin.app.serve.guard import AccessRules, Guard
from factpin.app.serve.limits import Limits
from factpin.app.serve.logs import RequestLog
from factpin.app.serve.routes import stream
from tests.serve.conftest import TOKEN, RunningServer, start, stop
from tests.serve.test_queue import Fragile

SITE = "https://example.org"
ASKS = {"origin": SITE, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}


@pytest.fixture(scope="module")
def guard() -> Guard:
    """A server whose model fails at "bug", with a token, for the pages of one site."""
    rules = AccessRules(TOKEN, origins=(f"{SITE}/",))
    return create_app(Fragile([], Limits()), rules, RequestLog(None))[1]


@pytest.fixture(scope="module")
def client(guard: Guard) -> Iterator[TestClient]:
    with TestClient(guard, "http://127.0.0.1", raise_server_exceptions=False) as client:
        while client.get("/ready").status_code != 200:
            time.sleep(0.01)
        client.headers["authorization"] = f"Bearer {TOKEN}"
        yield client


def test_an_error_in_the_server_has_the_shape_of_all_errors_and_the_id(client: TestClient) -> None:
    answer = client.post("/v1/extract", json={"text": "bug"}, headers={"x-request-id": "a-1"})
    assert answer.status_code == 500 and answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert (error["kind"], error["id"], answer.headers["x-request-id"]) == ("Internal", "a-1", "a-1")


def test_an_error_of_one_line_names_it_and_the_stream_goes_on(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in ("fine", "bad", "bug", "fine"))
    kind = {"content-type": "application/x-ndjson"}
    good, bad, bug, _, last = map(json.loads, client.post("/v1/stream", content=lines, headers=kind).text.splitlines())
    assert (good["text"], bad["error"]["kind"], bad["error"]["message"]) == ("fine", "BadInput", "bad text")
    assert (bug["error"]["kind"], bug["error"]["line"]) == ("Internal", 3)
    assert last == {"summary": {"documents": 2, "errors": 2}}

    def fails(doc: object, asked: object) -> None:
        raise ValueError("in writing")

    monkeypatch.setattr(stream, "record_of", fails)
    answer = client.post("/v1/stream", content=lines, headers=kind).text.splitlines()
    assert json.loads(answer[-1]) == {"summary": {"documents": 0, "errors": 4}}


def test_pages_of_a_site_that_is_named_may_use_the_server(client: TestClient) -> None:
    asked = client.options("/v1/extract", headers={**ASKS, "authorization": ""})
    assert asked.status_code == 204 and not asked.content
    assert asked.headers["access-control-allow-origin"] == SITE
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert {"authorization", "content-type"} <= set(asked.headers["access-control-allow-headers"].lower().split(", "))
    for body in ({"text": "fine"}, {"text": 5}, {"text": "bug"}):
        answer = client.post("/v1/extract", json=body, headers={"origin": SITE})
        assert answer.headers["access-control-allow-origin"] == SITE
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        assert answer.headers["vary"] == "Origin"
        assert "X-Request-ID" in answer.headers["access-control-expose-headers"]
    refused = client.post("/v1/extract", json={"text": "fine"}, headers={"origin": SITE, "authorization": ""})
    assert refused.status_code == 401 and refused.headers["access-control-allow-origin"] == SITE


def test_pages_of_other_sites_may_not(client: TestClient) -> None:
    for origin in ("https://example.com", "http://example.org", f"{SITE}.evil.example", "null"):
        for method in ("OPTIONS", "POST"):
            refused = client.request(method, "/v1/extract", headers={**ASKS, "origin": origin})
            assert refused.status_code == 403
            assert "access-control-allow-origin" not in refused.headers
            assert refused.headers["cross-origin-resource-policy"] == "same-origin"
    own = client.post("/v1/extract", json={"text": "fine"}, headers={"origin": "http://127.0.0.1"})
    assert own.status_code == 200 and "access-control-allow-origin" not in own.headers
    no_page = client.options("/v1/extract", headers={"access-control-request-method": "POST", "authorization": ""})
    assert no_page.status_code == 401


def test_a_path_without_routes_is_not_found_whatever_the_method(client: TestClient) -> None:
    for method, path in (
        ("POST", "/nothing"),
        ("DELETE", "/index.html"),
        ("PATCH", "/v1/nothing"),
        ("GET", "/nothing"),
    ):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "NotFound"), path
        assert "allow" not in answer.headers


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that listens on another address of this machine."""
    running = start(tmp_path_factory.mktemp("elsewhere"), host="127.0.0.2")
    yield running
    stop(running)


def test_a_server_may_be_called_by_the_address_it_listens_on(elsewhere: RunningServer) -> None:
    assert elsewhere.get("/health").status == 200
    assert elsewhere.get("/health", host="127.0.0.3").status == 400


def test_a_server_that_stops_says_so_and_ends_well(elsewhere: RunningServer) -> None:
    elsewhere.process.send_signal(signal.SIGTERM)
    seen = []
    try:
        while True:
            ready, answer = elsewhere.get("/ready"), elsewhere.post("/v1/extract", {"text": "Ann Ash lives in Rome."})
            seen.append((ready.status, answer.status))
    except OSError:  # connections are refused
        pass
    assert elsewhere.process.wait(30) == 0
    assert (503, 200) in seen and all(ready == 503 for ready, _ in seen[1:])
