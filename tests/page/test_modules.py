"""The page's modules: their own tests under node, and what no file of the page may contain."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "src" / "factpin" / "app" / "page"
FORBIDDEN = {
    "HTML made from strings": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser",
    "code made from strings": r"\beval\(|new Function\(|javascript:",
    "inline handlers or styles in markup": r"<[^>]*\s(on\w+|style)=",
    "a style attribute, which the policy forbids": r"setAttribute\(\s*[\"']style",
    "something from another machine": r"(?<!xmlns=\")https?://(?!www\.w3\.org/2000/svg)",
}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_modules_without_a_browser() -> None:
    tests = Path(__file__).parent / "js" / "pure.test.mjs"
    done = subprocess.run(["node", "--test", str(tests)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("why", FORBIDDEN)
def test_no_file_has(why: str) -> None:
    files = [path for path in PAGE.rglob("*") if path.suffix in (".js", ".html", ".css")]
    assert len(files) > 10
    found = [f"{path.name}: {m[0]}" for path in files for m in re.finditer(FORBIDDEN[why], path.read_text("utf-8"))]
    assert not found


def test_every_word_is_used_and_known() -> None:
    files = [p for p in PAGE.iterdir() if p.suffix in (".js", ".html") and p.name != "words.js"]
    source = "\n".join(p.read_text("utf-8") for p in files)
    words = (PAGE / "words.js").read_text("utf-8")
    known = set(re.findall(r"^    (\w+):", words, re.MULTILINE))
    asked = set(re.findall(r"word\(\"(\w+)\"", source)) | set(re.findall(r"data-(?:word|label|hint)=\"(\w+)\"", source))
    assert asked <= known, asked - known
    made = ("type_", "status_", "answer_from_", "col_", "tab_", "key_")
    unused = {key for key in known if not key.startswith(made) and not re.search(rf"\b{key}\b", source)}
    assert not unused
