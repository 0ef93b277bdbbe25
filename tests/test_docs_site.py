"""The documentation as a site: built without a warning, searched in both languages, loading nothing from elsewhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
USERS_FIRST = ["index.html", "install.html", "extract.html", "page.html", "store.html"]


def test_the_site_is_built_and_complete(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    done = subprocess.run(words, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    site = tmp_path / "site"
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    assert all((site / page).is_file() for page in pages)
    index = (site / "index.html").read_text()
    links = re.findall(r'class="md-nav__link[^"]*"[^>]*href="([^"#]+)"|href="([^"#]+)" class="md-nav__link', index)
    ordered = list(dict.fromkeys(a or b for a, b in links))
    assert [link for link in ordered if link in USERS_FIRST] == USERS_FIRST
    assert {str(page) for page in pages} <= {*ordered, "index.html"}, "every page is in the navigation"
    for page in site.rglob("*.html"):
        assert not re.search(
            r'(?:<script[^>]*src|<img[^>]*src|<link rel="stylesheet"[^>]*href)="https?:', page.read_text()
        )
    found = json.loads((site / "search" / "search_index.json").read_text())
    assert found["config"]["lang"] == ["en", "zh"]
    assert any("\u200b周杰伦\u200b" in entry["text"] for entry in found["docs"]), "Chinese is split into words"
