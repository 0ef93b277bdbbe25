"""The text of PDF files, page by page."""

import io
import logging
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from factpin import files
from factpin.documents import Document
from factpin.errors import BadFile, MissingExtra
from factpin.extraction.characters import replace_surrogates

PAGE_BREAK = "\n\n"


def read_pdf(path: Path) -> list[str]:
    """The text of every page."""
    try:
        import pypdf  # noqa: PLC0415  (an extra)
        from pypdf.errors import DependencyError  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"{path}: reading PDF needs pypdf: pip install 'factpin[pdf]'.") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # errors are raised below
    raw = io.BytesIO(files.read_bytes(path))
    try:
        reader = pypdf.PdfReader(raw)
        locked = reader.is_encrypted and not reader.decrypt("")  # many are only locked against changes
        pages = [] if locked else [replace_surrogates(page.extract_text()) for page in reader.pages]
    except DependencyError:
        raise MissingExtra(f"{path}: reading an encrypted PDF needs cryptography: pip install cryptography.") from None
    except Exception as error:  # damaged files raise almost anything
        reason = str(error) or type(error).__name__
        raise BadFile(f"{path}: cannot be read as PDF ({reason}). Save it again, or as text.") from None
    if locked:
        raise BadFile(f"{path}: is locked with a password. Save it without one.")
    if not any(page.strip() for page in pages):
        raise BadFile(f"{path}: no text on any of its pages; are they scanned? Run text recognition first.")
    return pages


def page_spans(pages: Sequence[str]) -> list[list[int]]:
    """The [start, end] of each page in the text of all."""
    spans, start = [], 0
    for page in pages:
        spans.append([start, start + len(page)])
        start += len(page) + len(PAGE_BREAK)
    return spans


def pages_of(doc: Document) -> list[tuple[int, int]]:
    """Start and end of each page; none if `meta.pages` is absent or has another form."""
    pages = doc.meta.get("pages")
    if not isinstance(pages, list):
        return []
    pairs = [
        tuple(page) for page in pages if isinstance(page, list) and [type(border) for border in page] == [int, int]
    ]
    return pairs if len(pairs) == len(pages) else []


def page_of(pages: list[tuple[int, int]], start: int) -> int | None:
    """The page of a character, counted from 1."""
    number = bisect_right(pages, start, key=lambda page: page[0])
    return number if number and start < pages[number - 1][1] else None
