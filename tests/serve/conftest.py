"""A real server in a process of its own, with two shipped models and a small store."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

MODELS = ("zh-facts", "en-entities")
TOKEN = "a-token-for-tests-0123456789"


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"]["kind"])


@dataclass
class RunningServer:
    port: int
    process: subprocess.Popen[bytes]
    log: Path
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        connection = HTTPConnection(self.host, self.port, timeout=60)
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        plain = {name.replace("_", "-"): value for name, value in headers.items()}
        if content is not None:
            plain.setdefault("content-type", "application/json")
        try:
            connection.request(method, path, content, plain)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        return self.send("POST", path, body, **headers)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def start(folder: Path, *options: str, host: str = "127.0.0.1") -> RunningServer:
    port, log = free_port(), folder / "server.log"
    models = [word for name in MODELS for word in ("--model", name)]
    command = [sys.executable, "-m", "factpin", "serve", "--host", host, "--port", str(port), *models, *options]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env={**os.environ, "OMP_NUM_THREADS": "1"})
    server = RunningServer(port, process, log, host)
    for _ in range(600):
        try:
            if server.get("/ready").status == 200:
                return server
        except OSError:
            pass
        if process.poll() is not None:
            break
        time.sleep(0.1)
    process.kill()
    raise AssertionError(log.read_text())


def stop(server: RunningServer) -> None:
    server.process.terminate()
    try:
        server.process.wait(30)
    except subprocess.TimeoutExpired:
        server.process.kill()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a token, with a store that may be edited."""
    from factpin import extract, open_store

    folder = tmp_path_factory.mktemp("server")
    with open_store(folder / "kb.db", create=True) as base:
        (doc,) = extract("谷爱凌出生于旧金山。", "zh-facts", min_score=0)
        base.add(doc, "gu.txt", published="2022-02-08")
    running = start(folder, "--db", str(folder / "kb.db"), "--allow-edits")
    yield running
    stop(running)


@pytest.fixture(scope="session")
def closed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with a token and without a store."""
    folder = tmp_path_factory.mktemp("closed")
    (folder / "token").write_text(TOKEN)
    running = start(folder, "--token-file", str(folder / "token"))
    yield running
    stop(running)
