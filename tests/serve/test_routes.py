"""Every route with something real in it."""

import io
import json
import zipfile

import pytest

from tests.extraction.papers import pdf
from tests.serve.conftest import MODELS, RunningServer

TEXT = "谷爱凌出生于旧金山。"
QUESTION = "谷爱凌出生在哪里？"
CONFIG = """<View><Text name="t" value="$body"/><Labels name="l" toName="t"><Label value="person"/></Labels></View>"""


def form(name: str, content: bytes, options: str = "{}", column: str = "") -> tuple[bytes, str]:
    """A body of /v1/files and its type."""
    head = f'--b\r\nContent-Disposition: form-data; name="options"\r\n\r\n{options}\r\n--b\r\n'
    head += f'Content-Disposition: form-data; name="column"\r\n\r\n{column}\r\n--b\r\n' if column else ""
    head += f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"


def test_health_readiness_models_and_metrics(server: RunningServer) -> None:
    assert server.get("/health").json["status"] == server.get("/ready").json["status"] == "ok"
    about = server.get("/v1/models").json
    assert [model["name"] for model in about["models"]] == sorted(MODELS) or len(about["models"]) == 2
    assert about["store"] and about["writable"] and ".pdf" in about["files"] and "brat" in about["formats"]
    server.post("/v1/extract", {"text": TEXT})
    metrics = server.get("/metrics").body.decode()
    assert 'factpin_requests_total{route="/v1/extract",status="200"}' in metrics
    page = server.get("/")
    assert "script-src 'self'" in page.headers["content-security-policy"] and b"<html" in page.body


def test_files_are_read_by_their_endings(server: RunningServer) -> None:
    for name, content in (
        ("a.txt", TEXT.encode()),
        ("a.md", f"# 谷爱凌\n\n{TEXT}".encode()),
        ("a.html", f"<html><body><article><p>{TEXT}</p></article></body></html>".encode()),
        ("a.jsonl", json.dumps({"text": TEXT}).encode()),
    ):
        body, kind = form(name, content, '{"models": ["zh-facts"]}')
        answer = server.post("/v1/files", body, content_type=kind)
        assert answer.status == 200, (name, answer.body)
        assert answer.json["documents"][0]["facts"][0]["relation"] == "出生地"
    body, kind = form("a.pdf", pdf("Marie Curie was born in Warsaw.", "She died in Passy."))
    (doc,) = server.post("/v1/files", body, content_type=kind).json["documents"]
    assert len(doc["meta"]["pages"]) == 2 and "Warsaw" in doc["text"]
    body, kind = form("a.exe", b"MZ")
    assert server.post("/v1/files", body, content_type=kind).status == 415
    body, kind = form("a.pdf", b"%PDF-1.4 broken")
    assert server.post("/v1/files", body, content_type=kind).status == 422
    body, kind = form("a.txt", TEXT.encode(), "{")
    assert server.post("/v1/files", body, content_type=kind).status == 400


def test_the_column_of_a_table_can_be_named(server: RunningServer) -> None:
    table = f"stars,comment\n5,{TEXT}\n3,Marie Curie was born in Warsaw.\n".encode()
    body, kind = form("reviews.csv", table, column="comment")
    documents = server.post("/v1/files", body, content_type=kind).json["documents"]
    assert [doc["text"] for doc in documents] == [TEXT, "Marie Curie was born in Warsaw."]
    assert documents[0]["meta"]["columns"] == {"stars": "5"}
    for column in ("", "coment"):
        body, kind = form("reviews.csv", table, column=column)
        answer = server.post("/v1/files", body, content_type=kind)
        assert answer.status == 422 and answer.json["error"]["kind"] == "UnknownColumn", answer.body
        assert "stars, comment" in answer.json["error"]["message"] and "--column" not in answer.json["error"]["message"]


def test_a_stream_names_bad_lines_and_goes_on(server: RunningServer) -> None:
    lines = [{"id": "a", "text": TEXT}, {"text": 7}, {"id": "c", "text": "Marie Curie was born in Warsaw."}]
    body = "\n".join(map(json.dumps, lines)).encode() + b"\n{broken\n"
    answer = server.post("/v1/stream?min_score=0.1&models=zh-facts", body, content_type="application/x-ndjson")
    first, bad, third, broken, last = map(json.loads, answer.body.splitlines())
    assert (first["id"], third["id"]) == ("a", "c") and first["facts"]
    assert (bad["error"]["line"], broken["error"]["line"]) == (2, 4)
    assert last == {"summary": {"documents": 2, "errors": 2}}


def test_a_job_reports_its_progress_and_keeps_its_result(server: RunningServer) -> None:
    begun = server.post("/v1/jobs", {"texts": [TEXT] * 40})
    assert begun.status == 202 and begun.json["total"] == 40
    path = f"/v1/jobs/{begun.json['id']}"
    events = server.get(f"{path}/events").body.decode().strip().split("\n\n")
    last = dict(line.split(": ", 1) for line in events[-1].splitlines())
    assert last["event"] == "end" and json.loads(last["data"])["state"] == "done"
    again = server.get(f"{path}/events", last_event_id="40").body.decode()
    assert again.count("event: ") == 1
    found = [json.loads(line) for line in server.get(f"{path}/result").body.splitlines()]
    assert len(found) == 40 and all(doc["facts"] for doc in found)
    assert server.get(path).json == {"id": begun.json["id"], "state": "done", "done": 40, "total": 40}
    assert server.send("DELETE", path).status == 204
    assert server.get(path).status == 404


def test_a_method_that_a_path_does_not_have_is_answered_with_those_it_has(server: RunningServer) -> None:
    for path, methods in (("/v1/jobs/x", "DELETE, GET"), ("/v1/extract", "POST"), ("/openapi.json", "GET, HEAD")):
        answer = server.send("PATCH", path)
        assert (answer.status, answer.error, answer.headers["allow"]) == (405, "MethodNotAllowed", methods)


def test_ask_cites_what_the_store_holds(server: RunningServer) -> None:
    answer = server.post("/v1/ask", {"question": QUESTION, "explain": True}).json
    (citation,) = answer["citations"]
    doc = server.get(f"/v1/store/document?uri={citation['uri']}").json["document"]
    assert answer["answer"] == "旧金山" == doc["text"][citation["start"] : citation["end"]] == citation["quote"]
    assert answer["searched"]["facts"]
    assert server.post("/v1/ask", {"question": "谁画了月亮？"}).json["abstained"]


def test_the_store_can_be_browsed(server: RunningServer) -> None:
    assert server.get("/v1/store").json["stats"]["document"] >= 1
    assert server.get("/v1/store/documents?limit=1").json["documents"][0]["uri"]
    (entity,) = server.get("/v1/store/entities?name=%E8%B0%B7%E7%88%B1%E5%87%8C").json["entities"]
    found = server.get(f"/v1/store/entity?id={entity['id']}").json
    assert found["entity"]["name"] == "谷爱凌" and found["mentions"]
    (fact,) = server.get(f"/v1/store/facts?head={entity['id']}&relation=%E5%87%BA%E7%94%9F%E5%9C%B0").json["facts"]
    assert fact["evidence"][0]["uri"] == "gu.txt" and fact["evidence"][0]["head"]
    assert server.get(f"/v1/store/why?fact={fact['id'][:8]}").json["id"] == fact["id"]
    (path,) = server.get(f"/v1/store/paths?start={entity['id']}&end={fact['tail']['id']}").json["paths"]
    assert [step["id"] for step in path] == [fact["id"]]
    for unknown in ("document?uri=nothing", "entity?id=nothing", "why?fact=nothing", "facts?head=nothing"):
        refused = server.get(f"/v1/store/{unknown}")
        assert refused.status == 404 and b"kb.db" not in refused.body


def test_the_store_can_be_edited_and_edits_undone(server: RunningServer) -> None:
    for place in ("Rome", "Oslo"):
        fact = {"head": "Ann Ash", "relation": "place of birth", "tail": place, "head_type": "person"}
        assert server.post("/v1/store/add", fact).json["uri"].startswith("manual:")
    (conflict,) = server.get("/v1/store/conflicts").json["conflicts"]
    first = conflict["facts"][0]["id"]
    assert server.post("/v1/store/reject", {"fact": first, "note": "a slip"}).json == {"ok": True}
    assert server.get(f"/v1/store/why?fact={first}").json["status"] == "rejected"
    assert not server.get("/v1/store/conflicts").json["conflicts"]
    assert server.get("/v1/store/decisions").json["decisions"]
    assert server.post("/v1/store/reject", {"fact": first, "undo": True}).status == 200
    assert server.get("/v1/store/conflicts").json["conflicts"]
    assert server.post("/v1/store/confirm", {"fact": first}).status == 200
    assert server.post("/v1/store/join", {"a": "Rome", "b": "Oslo"}).status == 200
    assert server.post("/v1/store/join", {"a": "Rome", "b": "Oslo", "undo": True}).status == 200


def test_a_server_without_a_store_says_so(closed_server: RunningServer) -> None:
    from tests.serve.conftest import TOKEN

    asked = closed_server.post("/v1/ask", {"question": QUESTION}, authorization=f"Bearer {TOKEN}")
    assert (asked.status, asked.error) == (404, "NoStore")


@pytest.mark.parametrize("to", ["jsonl", "brat", "labelstudio"])
def test_documents_are_converted_and_losses_named(server: RunningServer, to: str) -> None:
    documents = server.post("/v1/extract", {"text": TEXT}).json["documents"]
    refused = server.post("/v1/convert", {"documents": documents, "to": to})
    answer = server.post("/v1/convert", {"documents": documents, "to": to, "lossy": True})
    assert answer.status == 200 and "attachment" in answer.headers["content-disposition"]
    assert (refused.status == 422) == bool(answer.headers["x-factpin-lost"])
    if to == "brat":
        assert any(name.endswith(".ann") for name in zipfile.ZipFile(io.BytesIO(answer.body)).namelist())


def test_other_programs_get_their_shapes(server: RunningServer) -> None:
    assert server.get("/labelstudio/health").json["status"] == "UP"
    assert server.post("/labelstudio/setup", {"project": "1", "schema": CONFIG}).json["model_version"]
    assert server.post("/labelstudio/webhook", {"action": "PROJECT_UPDATED"}).status == 200
    predicted = server.post("/labelstudio/predict", {"tasks": [{"data": {"body": TEXT}}], "label_config": CONFIG})
    (row,) = predicted.json["results"][0]["result"]
    assert row["value"]["labels"] == ["person"] and int(predicted.headers["x-factpin-lost"]) >= 1
    assert {"label": "person", "start_offset": 0, "end_offset": 3} in server.post("/doccano", {"text": TEXT}).json
    assert server.post("/hf", {"inputs": TEXT}).json[0]["word"] == "谷爱凌"
    (record,) = server.post("/uie", {"texts": [TEXT], "schema": {"person": ["出生地"]}}).json
    assert record["person"][0]["relations"]["出生地"][0]["text"] == "旧金山"
