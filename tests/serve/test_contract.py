"""Every answer fits the OpenAPI document: schemathesis makes requests from it, with and without a token."""

import json
from typing import Any

import pytest

from tests.serve.conftest import TOKEN, RunningServer

schemathesis = pytest.importorskip("schemathesis")
EXAMPLES, MANY = 3, 60  # requests for each route: in every run, and in the long one


@schemathesis.serializer("application/x-ndjson")
def as_lines(_: Any, value: Any) -> bytes:
    """The body of a stream: the text as it is."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def check(server: RunningServer, count: int, token: str | None) -> dict[str, Any]:
    """Send requests for every route of the document; the number of answers by status."""
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    # a name of a model or a date can be wrong in ways that the document cannot say: 422 is right then
    excluded = [positive_data_acceptance]
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    seen: dict[str, Any] = {}
    quiet = settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    failures: list[str] = []
    for result in schema.get_all_operations():
        operation = result.ok()

        @quiet
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            response = case.call(headers=headers, timeout=60)
            case.validate_response(response, excluded_checks=excluded)
            assert response.status_code < 500
            seen.setdefault(str(response.status_code), set()).add(case.operation.label)

        try:
            send()
        except (AssertionError, BaseExceptionGroup) as error:
            failures.append(f"{operation.label}: {error}")
    assert not failures, "\n".join(failures)
    return seen


def test_every_answer_is_as_the_document_says(server: RunningServer) -> None:
    seen = check(server, EXAMPLES, None)
    assert len(seen["200"]) >= 8 and "401" not in seen


def test_without_the_token_only_401(closed_server: RunningServer) -> None:
    seen = check(closed_server, EXAMPLES, None)
    assert seen["401"] and not {label for label in seen.get("200", ()) if "/v1/" in label}
    assert not seen["401"] & {"GET /health", "GET /ready"}


@pytest.mark.verify
def test_every_answer_is_as_the_document_says_with_many_requests(
    server: RunningServer, closed_server: RunningServer
) -> None:
    check(server, MANY, None)
    check(closed_server, MANY, TOKEN)
    assert json.loads(closed_server.get("/health").body)["status"] == "ok"
