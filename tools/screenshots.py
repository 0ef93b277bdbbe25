"""Take the pictures of the page for the docs: python tools/screenshots.py [ADDRESS OF A SERVER]

Needs chromium and playwright; with Pillow the files are half as large. Without an address, a server is started with the
shipped models and a small store. Pictures go to docs/images/: light.png, dark.png, chinese.png and answer.png.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {
    "light": {"locale": "en-GB", "color_scheme": "light"},
    "dark": {"locale": "en-GB", "color_scheme": "dark"},
    "chinese": {"locale": "zh-CN", "color_scheme": "light"},
    "answer": {"locale": "en-GB", "color_scheme": "light"},
}
QUESTION = "Where was the director of Still Water born?"
COLOURS = 192
SIZE = {"width": 1280, "height": 760}
TALL = {"width": 1280, "height": 1080}
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    if len(sys.argv) > 1:
        return take(sys.argv[1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder) / "kb.db")
        words = ["serve", "--port", str(port), "--db", str(store), "--quiet"]
        server = subprocess.Popen([sys.executable, "-m", "factpin", *words])
        try:
            wait(f"http://127.0.0.1:{port}")
            take(f"http://127.0.0.1:{port}")
        finally:
            server.terminate()
            server.wait(30)


def make_store(path: Path) -> Path:
    """A store with a few facts, two of which contradict each other."""
    import factpin
    from factpin.memory import TypedFact

    with factpin.open_store(str(path), create=True) as kb:
        kb.store.add(TypedFact("Still Water", "director", "Ann Ash", "work", "person"))
        kb.store.add(TypedFact("Still Water", "performer", "Cy Cole", "work", "person"))
        kb.store.add(TypedFact("Ann Ash", "place of birth", "Rome", "person", "location", published="2020"))
        kb.store.add(TypedFact("Ann Ash", "place of birth", "Oslo", "person", "location", published="2021"))
    return path


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
    """The example with the fact that its text denies pinned, once as a graph; or an answer from the store."""
    page = browser.new_context(
        viewport=TALL if name == "answer" else SIZE, reduced_motion="reduce", **options
    ).new_page()
    page.goto(address)
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    if name == "answer":
        page.click("[data-view=ask]")
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("#cited .cited")
    else:
        page.click("tr[data-fact]:has(.relation.negated)")
    if name == "dark":
        page.click("#tab-graph")
    page.mouse.move(5, 5)
    page.wait_for_timeout(500)
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path)
    shrink(path)
    print(f"{path.name}: {path.stat().st_size // 1024} KB")


def shrink(path: Path) -> None:
    """Use fewer colours, if Pillow is there."""
    try:
        from PIL import Image
    except ImportError:
        return
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
