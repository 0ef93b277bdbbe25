"""Take the pictures of the page for the docs: python tools/screenshots.py [ADDRESS OF A SERVER]

Needs chromium and playwright. Without an address, a server is started with the shipped models. Pictures go to
docs/images/: light.png, dark.png and chinese.png.
"""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {
    "light": {"locale": "en-GB", "color_scheme": "light"},
    "dark": {"locale": "en-GB", "color_scheme": "dark"},
    "chinese": {"locale": "zh-CN", "color_scheme": "light"},
}
SIZE = {"width": 1280, "height": 760}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    if len(sys.argv) > 1:
        return take(sys.argv[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "factpin", "serve", "--port", str(port), "--quiet"])
    try:
        wait(f"http://127.0.0.1:{port}")
        take(f"http://127.0.0.1:{port}")
    finally:
        server.terminate()
        server.wait(30)


def wait(address: str) -> None:
    """Wait until the server is ready."""
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/ready", timeout=2)
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{address} did not become ready in a minute. Start `factpin serve` to see why.")


def take(address: str) -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, options in PICTURES.items():
            picture(browser, address, name, options)
        browser.close()


def picture(browser: Any, address: str, name: str, options: dict[str, str]) -> None:
    """One picture: the example, with the fact that its text denies pinned; the dark one shows the graph."""
    page = browser.new_context(viewport=SIZE, reduced_motion="reduce", **options).new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    page.click("tr[data-fact]:has(.relation.negated)")
    if name == "dark":
        page.click("#tab-graph")
    page.mouse.move(5, 5)
    page.wait_for_timeout(500)
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path)
    print(f"{path.name}: {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
