"""Hooks of mkdocs: the pages are written for the repository, and become a site.

Pages that mkdocs.yml does not list are added below "Methods". Links that leave docs/ lead to pages that do the same for
other Markdown files of the repository; links to any other file become its name.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```$|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
OUTSIDE = "repository"  # the folder of the site for pages from outside docs/
METHODS = "Methods"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages that the navigation does not have."""
    nav: Any = config.nav
    listed = set(_pages(nav))
    docs = Path(config.docs_dir)
    rest = sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))
    nav.append({METHODS: [page for page in rest if page not in listed]})
    return config


def _pages(nav: Any) -> Iterator[str]:
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from _pages(value)
            else:
                yield value


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the Markdown files outside docs/ that pages link to, and those that they link to in turn."""
    root = Path(config.docs_dir).parent
    waiting = [(f"docs/{file.src_uri}", file.content_string) for file in files.documentation_pages()]
    seen: set[str] = set()
    while waiting:
        place, text = waiting.pop()
        for *_, target in LINK.findall(CODE.sub("", text)):
            path = _resolved(place, target)
            if _is_page(root, path) and path not in seen:
                seen.add(path)
                content = (root / path).read_text(encoding="utf-8")
                waiting.append((path, content))
                files.append(File.generated(config, f"{OUTSIDE}/{path}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Point links at the site."""
    uri = page.file.src_uri
    place = uri.removeprefix(f"{OUTSIDE}/") if uri.startswith(f"{OUTSIDE}/") else f"docs/{uri}"
    root = Path(config.docs_dir).parent

    def moved(found: re.Match[str]) -> str:
        image, label, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path, anchor = _resolved(place, target), "".join(target.partition("#")[1:])
        if path.startswith("docs/"):
            new = path.removeprefix("docs/")
        elif _is_page(root, path):
            new = f"{OUTSIDE}/{path}"
        else:
            return label
        if files.get_file_from_path(new) is None:
            return found[0] if place.startswith("docs/") else label
        return f"{image}[{label}]({posixpath.relpath(new, posixpath.dirname(uri) or '.')}{anchor})"

    parts = CODE.split(markdown)
    return "".join(part if at % 2 else LINK.sub(moved, part) for at, part in enumerate(parts))


def _resolved(place: str, target: str) -> str:
    """The path in the repository that a link on the page at `place` leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(place), target.partition("#")[0]))


def _is_page(root: Path, path: str) -> bool:
    return path.endswith(".md") and not path.startswith(("docs/", "..")) and (root / path).is_file()
