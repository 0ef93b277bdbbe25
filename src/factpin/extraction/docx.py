"""The text of Word files (.docx): paragraphs, lists, tables, text boxes, footnotes and endnotes.

A paragraph is a line; cells of a table are separated by tabs, and its rows are lines. Tracked changes are read as if
they were accepted. Headers, footers and comments are left out: they are not part of the running text.
Needs no other package: the file is an archive of XML.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from factpin.errors import BadFile
from factpin.extraction.zipped import Archive

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"  # the namespace of "Strict Open XML", written as W here
TITLE = "{http://purl.org/dc/elements/1.1/}title"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # the same again, for old programs
UNREAD = {*(W + name for name in ("del", "delText", "instrText", "moveFrom", "pPr", "rPr", "rt", "sectPr")), FALLBACK}
WORDS = {f"{W}t", "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"}
SIGNS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}softHyphen": ""}
PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
PAGE_NOTE = {"separator", "continuationSeparator", "continuationNotice"}  # footnotes that are lines on the page


def read_docx(path: Path) -> tuple[str, str]:
    """The text of a file, and its title or ""."""
    archive = Archive(path, "docx")
    roots = [_root(archive, name) for name in PARTS if name == PARTS[0] or name in archive]
    try:
        lines = [line for root in roots for line in _lines(root)]
    except RecursionError:
        raise archive.damaged("its parts are nested too deeply") from None
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    if not text.strip():
        raise BadFile(f"{path}: no text was found in it; is it a scan? Run text recognition first.")
    title = archive.xml("docProps/core.xml").findtext(TITLE) if "docProps/core.xml" in archive else None
    return text, (title or "").strip()


def _root(archive: Archive, name: str) -> Element:
    root = archive.xml(name)
    for element in root.iter():
        if isinstance(element.tag, str) and element.tag.startswith(STRICT):
            element.tag = W + element.tag.removeprefix(STRICT)
    return root


def _lines(element: Element) -> Iterator[str]:
    """The lines of everything inside an element."""
    for child in element:
        if child.tag in UNREAD or PAGE_NOTE & {*child.attrib.values()}:
            continue
        if child.tag == f"{W}p":
            yield from _paragraph(child)
        elif child.tag == f"{W}tr":
            yield "\t".join(" ".join(line for line in _lines(cell) if line) for cell in _cells(child))
        else:
            yield from _lines(child)


def _cells(row: Element) -> Iterator[Element]:
    """The cells of a row, inside controls too."""
    for child in row:
        if child.tag == f"{W}tc":
            yield child
        elif child.tag not in UNREAD:
            yield from _cells(child)


def _paragraph(paragraph: Element) -> Iterator[str]:
    """The lines of a paragraph, then those of the text boxes that are anchored in it."""
    boxes: list[Element] = []
    yield "".join(_characters(paragraph, boxes))
    for box in boxes:
        yield from _lines(box)


def _characters(element: Element, boxes: list[Element]) -> Iterator[str]:
    for child in element:
        if child.tag in WORDS:
            yield child.text or ""
        elif child.tag in SIGNS:
            yield SIGNS[child.tag]
        elif child.tag == f"{W}txbxContent":
            boxes.append(child)
        elif child.tag not in UNREAD:
            yield from _characters(child, boxes)
