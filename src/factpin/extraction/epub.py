"""The text of e-books (EPUB 2 and 3): their chapters in reading order, without the table of contents.

Needs no other package: the file is an archive of XHTML pages.
"""

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from factpin.errors import BadFile
from factpin.extraction.zipped import Archive

CONTAINER = "META-INF/container.xml"
BREAK = "\n\n"  # between chapters
LINE = {"address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "div", "dl", "dt", "figcaption",
        "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre",
        "section", "table", "tr", "ul"}  # fmt: skip
CELL = {"td", "th"}
UNREAD = {"head", "rp", "rt", "script", "style", "svg"}  # rt is how ruby text is pronounced


def read_epub(path: Path) -> tuple[str, list[list[int]], str]:
    """The text of a book, the [start, end] of its chapters, and its title or ""."""
    archive = Archive(path, "EPUB")
    if "META-INF/encryption.xml" in archive and "META-INF/rights.xml" in archive:
        raise BadFile(f"{path}: is protected against copying. Export it without protection.")
    package = _package(archive)
    root = archive.xml(package)
    names = dict.fromkeys(_pages(root, package))  # a page that is listed twice is read once
    chapters = [text for name in names if (text := page_text(_decoded(archive, name)))]
    if not chapters:
        raise BadFile(f"{path}: no text was found in it; are its pages images? Run text recognition first.")
    spans, start = [], 0
    for chapter in chapters:
        spans.append([start, start + len(chapter)])
        start += len(chapter) + len(BREAK)
    return BREAK.join(chapters), spans, (root.findtext(".//{*}metadata/{*}title") or "").strip()


def _package(archive: Archive) -> str:
    """The part that lists the pages."""
    file = archive.xml(CONTAINER).find(".//{*}rootfile")
    if file is None or not file.get("full-path"):
        raise archive.damaged(f"{CONTAINER} names no package")
    return file.get("full-path", "")


def _pages(root: Element, package: str) -> Iterator[str]:
    """The names of the pages in reading order."""
    items = {item.get("id"): item for item in root.iterfind("{*}manifest/{*}item")}
    for reference in root.iterfind("{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "nav" in item.get("properties", "").split() or "html" not in item.get("media-type", ""):
            continue
        yield posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(item.get("href", ""))))


def _decoded(archive: Archive, name: str) -> str:
    raw = archive.read(name)
    try:
        return raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise archive.damaged(f"{name}: {error}") from None


def page_text(page: str) -> str:
    """The text of an XHTML page: a line for each block."""
    collector = _Collector()
    collector.feed(page)
    collector.close()
    lines = (re.sub(r"[ \t\r\n\f]+", " ", line).strip(" ") for line in "".join(collector.parts).split("\x00"))
    return "\n".join(line for line in lines if line)


class _Collector(HTMLParser):
    """Collects text, with \\x00 where a line ends."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.unread = 0  # how many elements that are not read are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """A block starts a line."""
        self.unread += tag in UNREAD
        self.parts.append("\x00" if tag in LINE else " " if tag in CELL else "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """`<br/>`, and in XHTML an empty `<script/>`."""
        self.parts.append("\x00" if tag in LINE else " " if tag in CELL else "")

    def handle_endtag(self, tag: str) -> None:
        """A block ends a line."""
        self.unread = max(0, self.unread - (tag in UNREAD))
        self.parts.append("\x00" if tag in LINE else "")

    def handle_data(self, data: str) -> None:
        """Text."""
        if not self.unread:
            self.parts.append(data.replace("\x00", ""))
