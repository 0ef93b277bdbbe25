"""The walk-through of docs/store.md: its commands are run, and print what the page says.

`python -m tests.app.test_store_page` writes the outputs of the page anew.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "store.md"
SOURCE = Path(__file__).parents[2] / "src"
BLOCK = re.compile(r"^```sh\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)


def written(folder: Path) -> str:
    """The page with the outputs that its commands have now."""
    text = PAGE.read_text(encoding="utf-8")
    news = re.search(r"^```jsonl\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert news
    (folder / "news.jsonl").write_text(news[1], encoding="utf-8")
    return BLOCK.sub(lambda match: f"```sh\n{_run(match[1], folder)}```", text)


def _run(block: str, folder: Path) -> str:
    lines: list[str] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:])
            assert words[0] == "factpin"
            environment = {**os.environ, "FACTPIN_DB": "kb.db", "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1",
                           "PYTHONPATH": str(SOURCE)}  # fmt: skip
            done = subprocess.run([sys.executable, "-m", *words], cwd=folder, env=environment, capture_output=True,
                                  text=True, timeout=300)  # fmt: skip
            assert done.returncode in (0, 1), done.stderr
            lines += [line, *(out.rstrip() for out in done.stdout.splitlines() if out.strip())]
    return "".join(f"{line}\n" for line in lines)


def test_the_walk_through_is_real(tmp_path: Path) -> None:
    assert written(tmp_path) == PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(written(Path(folder)), encoding="utf-8")
