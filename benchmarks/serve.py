"""A server under load: right answers, batches against single texts, memory, and a stop with requests under way.

    python benchmarks/serve.py [--data ../shared/data] [--seconds 60] [--burst 10] [--output results.json]

Starts `factpin serve` on this machine and asks it for sentences of CLUENER, DuIE and Re-DocRED, one per request. First
every text is sent alone, which gives the answers that are expected later. Then 64 clients send for a minute and 512 for
ten seconds; then 512 clients meet a server with room for 100 requests; then servers with and without batches take
turns; at last a server is stopped while 50 requests are under way. The figures are CPU seconds of the server: other
programs may be running.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from factpin import formats

HOST = "127.0.0.1"
CORPORA = {"cluener": "cluener/dev.json.xz", "duie": "duie/duie2_dev.json.xz", "docred": "redocred/dev_revised.json.xz"}
CLIENTS, MANY, ROOM, UNDER_WAY = 64, 512, 100, 50
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Outcome:
    """What a group of clients saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: int = 0  # answers that differ from the answer given alone
    scores: float = 0.0  # the greatest difference of a score in answers that are otherwise equal
    patience: int = 0  # refusals that did not say when to come back
    broken: int = 0  # connections that ended without an answer
    seconds: list[float] = field(default_factory=list)  # until an answer came
    megabytes: list[float] = field(default_factory=list)  # of the server, every half second

    @property
    def good(self) -> int:
        """How many texts were read."""
        return self.statuses[200]


@dataclass
class Server:
    """A running server."""

    process: "subprocess.Popen[bytes]"
    port: int

    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """Resident megabytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def stop(self) -> int:
        """Its exit code."""
        self.process.terminate()
        return self.process.wait(60)


def start(*limits: str) -> Server:
    """A server with these limits, once it is ready."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    options = [word for limit in limits for word in ("--limit", limit)]
    command = [sys.executable, "-m", "factpin", "serve", "--quiet", "--no-page", "--port", str(port), *options]
    server = Server(subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}), port)
    for _ in range(600):
        if server.process.poll() is None and asyncio.run(is_ready(port)):
            return server
        time.sleep(0.1)
    server.process.kill()
    raise SystemExit("The server did not start.")


async def is_ready(port: int) -> bool:
    """Whether the models are loaded."""
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    status, _, _ = await ask(reader, writer, "GET", "/ready")
    writer.close()
    return status == 200


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, method: str, path: str, body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """One request over an open connection: status, headers and body of the answer."""
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n{kind}\r\n".encode() + body)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    return int(head[0].split()[1]), headers, await reader.readexactly(int(headers.get("content-length", 0)))


def body_of(text: str) -> bytes:
    """The request for one text."""
    return json.dumps({"texts": [text]}).encode()


def compare(expected: Any, found: Any) -> float:
    """The greatest difference of a score; infinite if something else differs."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        return max((compare(value, found[key]) for key, value in expected.items()), default=0.0)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return max((compare(*pair) for pair in zip(expected, found, strict=True)), default=0.0)
    if isinstance(expected, float) and isinstance(found, float):
        return abs(expected - found)
    return 0.0 if expected == found else float("inf")


async def alone(port: int, texts: list[str]) -> list[Any]:
    """The answer to every text when nobody else asks."""
    reader, writer = await asyncio.open_connection(HOST, port)
    answers = [await ask(reader, writer, "POST", "/v1/extract", body_of(text)) for text in texts]
    writer.close()
    return [json.loads(content)["documents"] for _, _, content in answers]


async def load(server: Server, texts: list[str], expected: list[Any], clients: int, seconds: float) -> Outcome:
    """Let clients ask for so many seconds, each as soon as it has its answer."""
    outcome, end = Outcome(), time.monotonic() + seconds

    async def client(number: int) -> None:
        chance = random.Random(number)
        reader, writer = await asyncio.open_connection(HOST, server.port)
        while time.monotonic() < end:
            i, began = chance.randrange(len(texts)), time.monotonic()
            try:
                status, headers, content = await ask(reader, writer, "POST", "/v1/extract", body_of(texts[i]))
            except (OSError, asyncio.IncompleteReadError):
                outcome.broken += 1
                reader, writer = await asyncio.open_connection(HOST, server.port)
                continue
            outcome.statuses[status] += 1
            outcome.seconds.append(time.monotonic() - began)
            if status == 200:
                difference = compare(expected[i], json.loads(content)["documents"])
                outcome.wrong += difference == float("inf")
                outcome.scores = max(outcome.scores, difference if difference < float("inf") else 0)
            else:
                outcome.patience += not headers.get("retry-after", "").isdecimal()
                await asyncio.sleep(min(1.0, float(headers.get("retry-after", 1))))
        writer.close()

    async def watch() -> None:
        while time.monotonic() < end:
            outcome.megabytes.append(server.memory())
            await asyncio.sleep(0.5)

    await asyncio.gather(watch(), *(client(number) for number in range(clients)))
    return outcome


def choose(data: Path, count: int) -> list[str]:
    """Chinese and English texts of several lengths; those of Re-DocRED are cut to their first sentences."""
    chance = random.Random(0)
    texts: list[str] = []
    for name, path in CORPORA.items():
        documents = list(formats.read(data / path, format=name))
        for doc in chance.sample(documents, count // 3):
            end = doc.sentences[chance.randrange(min(3, len(doc.sentences)))].end if doc.sentences else len(doc.text)
            texts.append(doc.text[: end if name == "docred" else None])
    return texts


def report(title: str, outcome: Outcome, cpu: float) -> dict[str, Any]:
    """Print and return the figures of one part."""
    times = sorted(outcome.seconds) or [0.0]
    half = outcome.megabytes[len(outcome.megabytes) // 2 :] or [0.0]
    record = {
        "statuses": dict(sorted(outcome.statuses.items())),
        "wrong": outcome.wrong,
        "greatest score difference": round(outcome.scores, 6),
        "refusals without Retry-After": outcome.patience,
        "broken connections": outcome.broken,
        "CPU ms per text": round(1000 * cpu / max(1, outcome.good), 2),
        "median and 99th percentile of seconds": [round(times[int(q * (len(times) - 1))], 3) for q in (0.5, 0.99)],
        "MB at the start, in the middle, at the end": [round(m) for m in (outcome.megabytes[0], half[0], half[-1])],
    }
    print(title, json.dumps(record), flush=True)
    return record


def under_load(server: Server, texts: list[str], expected: list[Any], clients: int, seconds: float) -> dict[str, Any]:
    """The figures of one group of clients."""
    before = server.cpu()
    outcome = asyncio.run(load(server, texts, expected, clients, seconds))
    return report(f"{clients} clients:", outcome, server.cpu() - before)


def in_turns(texts: list[str], expected: list[Any], rounds: int, seconds: float) -> dict[str, Any]:
    """CPU per text with batches and with one text at a time, in turns."""
    servers = {"batches": start(), "single": start("batch_characters=1")}
    rows: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(rounds + 1):
        for name, server in servers.items():
            before = server.cpu()
            outcome = asyncio.run(load(server, texts, expected, CLIENTS, seconds))
            if turn:  # the first one warms up
                rows[name].append(1000 * (server.cpu() - before) / outcome.good)
    for server in servers.values():
        server.stop()
    medians = {name: round(statistics.median(values), 2) for name, values in rows.items()}
    ratio = statistics.median(a / b for a, b in zip(rows["batches"], rows["single"], strict=True))
    rounded = {name: [round(value, 2) for value in values] for name, values in rows.items()}
    record = {"CPU ms per text": medians, "ratio": round(ratio, 3), "rounds": rounded}
    print("in turns:", json.dumps(record), flush=True)
    return record


async def stopped(server: Server, texts: list[str], expected: list[Any]) -> dict[str, Any]:
    """Send SIGTERM while requests are under way."""
    wires = [await asyncio.open_connection(HOST, server.port) for _ in range(UNDER_WAY)]
    asking = [
        asyncio.create_task(ask(*wire, "POST", "/v1/extract", body_of(text)))
        for wire, text in zip(wires, texts, strict=False)
    ]
    await asyncio.sleep(0.15)
    waiting = sum(not task.done() for task in asking)
    server.process.send_signal(signal.SIGTERM)
    answers = await asyncio.gather(*asking, return_exceptions=True)
    good = [answer for answer in answers if not isinstance(answer, BaseException)]
    right = sum(
        status == 200 and compare(want, json.loads(content)["documents"]) < 1e-3
        for want, (status, _, content) in zip(expected, good, strict=False)
    )
    record = {"under way": waiting, "answered": len(good), "right": right, "exit code": server.process.wait(60)}
    print("SIGTERM:", json.dumps(record), flush=True)
    return record


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--texts", type=int, default=600, help="different ones")
    parser.add_argument("--seconds", type=float, default=60, help="of 64 clients")
    parser.add_argument("--burst", type=float, default=10, help="seconds of 512 clients, and of a turn")
    parser.add_argument("--rounds", type=int, default=4, help="turns with and without batches; 0 for none")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    texts = choose(options.data, options.texts)
    print(f"{len(texts)} texts, {statistics.mean(map(len, texts)):.0f} characters on average", flush=True)
    server = start()
    expected = asyncio.run(alone(server.port, texts))
    found = {"64 clients": under_load(server, texts, expected, CLIENTS, options.seconds)}
    found["512 clients"] = under_load(server, texts, expected, MANY, options.burst)
    server.stop()
    small = start(f"waiting_requests={ROOM}")
    found["64 clients, room for 100"] = under_load(small, texts, expected, CLIENTS, options.burst)
    found["512 clients, room for 100"] = under_load(small, texts, expected, MANY, options.burst)
    small.stop()
    if options.rounds:
        found["in turns"] = in_turns(texts, expected, options.rounds, options.burst)
    found["SIGTERM"] = asyncio.run(stopped(start(), texts, expected))
    if options.output:
        options.output.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
