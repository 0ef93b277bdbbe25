"""A server with the shipped models and a small store, and a browser that may talk to nothing else."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factpin.memory import TypedFact

CHROMIUM = os.environ.get("CHROMIUM", "") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import factpin

    path = tmp_path_factory.mktemp("store") / "kb.db"
    with factpin.open_store(str(path), create=True) as kb:
        kb.store.add(TypedFact("Still Water", "director", "Ann Ash", "work", "person"))
        kb.store.add(TypedFact("Ann Ash", "place of birth", "Rome", "person", "location", published="2020"))
        kb.store.add(TypedFact("Ann Ash", "place of birth", "Oslo", "person", "location", published="2021"))
        kb.store.add(TypedFact("Acme", "CEO", "Cy Cole", "organization", "person", valid_from="2015"))
    return path


@pytest.fixture(scope="session")
def server(store_file: Path) -> Iterator[str]:
    pytest.importorskip("fastapi")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "factpin", "serve", "--port", str(port), "--db", str(store_file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/ready", timeout=2)
                break
            except OSError:
                time.sleep(0.2)
        else:
            raise RuntimeError("the server did not start")
        yield address
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM:
        pytest.skip("needs chromium")
    with playwright.sync_playwright() as api:
        chromium = api.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Window:
    """A page in a fresh browser profile that notes errors and refuses requests to other machines."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(accept_downloads=True, **{"locale": "en-GB", **options})
        self.page = self.context.new_page()
        self.address, self.problems, self.outside = address, [], []
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error('CSP ' + e.violatedDirective))"
        )
        self.context.route("**/*", self._route)

    def _route(self, route: Any) -> None:
        if route.request.url.startswith((self.address, "blob:", "data:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def open(self, path: str = "/") -> Any:
        self.page.goto(self.address + path)
        self.page.wait_for_selector("body[data-ready]", timeout=60_000)
        return self.page


@pytest.fixture
def window(browser: Any, server: str) -> Iterator[Any]:
    made = []

    def make(**options: Any) -> Window:
        made.append(Window(browser, server, **options))
        return made[-1]

    yield make
    for one in made:
        one.context.close()
        assert not one.problems
        assert not one.outside
