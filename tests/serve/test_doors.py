"""The command line, Python with both runtimes, REST and the client give equal documents."""

import json
from pathlib import Path

import pytest

import factpin
from factpin.app.cli import main
from factpin.client import Client, ServerError
from factpin.documents import to_json
from factpin.models.graphs.check import same
from tests.serve.conftest import MODELS, RunningServer

LONG = "谷爱凌出生于旧金山。" + "今天下了一整天的雨，大家都待在家里看书和休息。" * 900
TEXTS = [
    "谷爱凌出生于旧金山。",
    "Marie Curie was born in Warsaw and worked in Paris.",
    "Tim Cook 于 2011 年出任苹果公司首席执行官。He lives in California.",
    "👨‍👩‍👧 谷爱凌𠮷出生于旧金山😀。",
    "",
    " \n\t",
    LONG[:20_000],
]


def test_all_doors_give_equal_documents(
    server: RunningServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = list(factpin.extract(TEXTS, list(MODELS)))
    for runtime in ("onnx", "torch"):
        again = factpin.load(list(MODELS), runtime=runtime).extract(TEXTS)
        assert all(same(a, b) for a, b in zip(found, again, strict=True)), runtime
    by_python = [to_json(doc) for doc in found]
    answer = server.post("/v1/extract", {"texts": TEXTS})
    assert answer.status == 200
    assert answer.json["documents"] == by_python
    assert [to_json(doc) for doc in Client(server.url).extract(TEXTS)] == by_python

    corpus = tmp_path / "texts.jsonl"
    corpus.write_text("".join(json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(TEXTS)))
    capfd.readouterr()
    models = [word for name in MODELS for word in ("--model", name)]
    with pytest.raises(SystemExit):
        main(["extract", str(corpus), "--to", "jsonl", "--quiet", *models])
    assert [json.loads(line) for line in capfd.readouterr().out.splitlines()] == by_python

    lines = "".join(json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(TEXTS)).encode()
    streamed = server.post("/v1/stream", lines, content_type="application/x-ndjson").body.splitlines()
    assert [json.loads(line) for line in streamed[:-1]] == by_python
    assert json.loads(streamed[-1]) == {"summary": {"documents": len(TEXTS), "errors": 0}}


def test_utf16_offsets_point_at_the_mentions(server: RunningServer) -> None:
    text = "👨‍👩‍👧 谷爱凌𠮷出生于旧金山😀。"
    (doc,) = server.post("/v1/extract", {"text": text, "options": {"offsets": "utf16"}}).json["documents"]
    units = text.encode("utf-16-le")
    assert doc["mentions"]
    for mention in doc["mentions"]:
        assert units[2 * mention["start"] : 2 * mention["end"]].decode("utf-16-le") == mention["text"]
    assert doc["sentences"][-1][1] == len(units) // 2


def test_a_client_splits_by_the_limits_and_reads_files(server: RunningServer, tmp_path: Path) -> None:
    client = Client(server.url)
    client.about["limits"]["texts"] = 2
    found = client.extract(["谷爱凌出生于旧金山。", "a", "b", "c", "d"], min_score=0.1)
    assert [doc.id for doc in found] == ["d0", "d1", "d2", "d3", "d4"]
    assert found[0].facts
    file = tmp_path / "gu.md"
    file.write_text("# 谷爱凌\n\n谷爱凌出生于旧金山。\n", encoding="utf-8")
    (doc,) = client.extract_file(file)
    assert doc.text == file.read_text(encoding="utf-8") and doc.facts
    assert client.ask("谷爱凌出生在哪里？").text == "旧金山"


def test_a_client_names_the_reason(server: RunningServer) -> None:
    with pytest.raises(ServerError, match="Did you mean 'zh-facts'") as refused:
        Client(server.url).extract("a", models=["zh-fact"])
    assert (refused.value.status, refused.value.field) == (422, "options.models")
    with pytest.raises(ServerError, match="factpin serve"):
        Client("http://127.0.0.1:1").extract("a")
