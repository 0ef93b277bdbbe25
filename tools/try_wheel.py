"""Install a wheel into an empty environment, without torch, and use it: extract, serve, page.

    python tools/try_wheel.py dist/*.whl

Prints the size of the wheel and of the environment, the seconds of the installation, and the seconds and memory of the
first answer. Ends with 1 where something is missing.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
LARGEST = 80e6  # bytes
PATIENCE = 180  # seconds for the server to start


def main(wheel: Path) -> None:
    size = wheel.stat().st_size
    print(f"wheel: {size / 1e6:.1f} MB")
    _expect(size < LARGEST, f"the wheel has {size:,} bytes; expected less than {LARGEST:,.0f}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        python = place / "env" / "bin" / "python"
        constraints = ("--constraint", str(ROOT / "constraints.txt"))
        began = time.perf_counter()
        _run(
            python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *constraints, str(wheel.resolve())
        )
        seconds = time.perf_counter() - began
        used = sum(
            file.stat().st_size for file in (place / "env").rglob("*") if file.is_file() and not file.is_symlink()
        )
        print(f"installed without extras: {seconds:.0f} s, {used / 1e6:.0f} MB")
        _try_extract(python, place)
        extra = f"{wheel.resolve()}[serve]"
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *constraints, extra)
        _try_server(python, place)
        _expect(_run(python, "-m", "pip", "list").count("torch") == 0, "torch was installed")
    print("extract, server and page work, without torch")


def _try_extract(python: Path, place: Path) -> None:
    began = time.perf_counter()
    out = _run(python, "-m", "factpin", "extract", str(ROOT / "examples" / "works.txt"), cwd=place)
    seconds, memory = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    facts = json.loads(out)["facts"]
    _expect(len(facts) > 5, f"only {len(facts)} facts were found")
    print(f"first answer: {seconds:.1f} s; at most {memory / 1024:.0f} MB of any process so far, pip included")


def _try_server(python: Path, place: Path) -> None:
    server = subprocess.Popen([python, "-m", "factpin", "serve", "--port", "8431", "--quiet"], cwd=place)
    try:
        _wait("http://127.0.0.1:8431/ready")
        page = _get("http://127.0.0.1:8431/").decode()
        _expect("<html" in page and "module" in page, "the page at / is not complete")
        body = json.dumps({"text": "《晴天》是周杰伦演唱的歌曲。"}).encode()
        answer = json.loads(_get("http://127.0.0.1:8431/v1/extract", body))
        _expect(bool(answer["documents"][0]["facts"]), "the server found no fact")
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _get(url: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def _wait(url: str) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            _get(url)
            return
        except OSError:
            _expect(time.monotonic() < until, f"{url} did not answer in {PATIENCE} seconds")
            time.sleep(0.2)


def _run(*words: str | Path, cwd: Path | None = None) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(words, cwd=cwd, env=clean, capture_output=True, text=True)
    _expect(done.returncode == 0, f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def _expect(holds: bool, message: str) -> None:
    if not holds:
        sys.exit(message)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
