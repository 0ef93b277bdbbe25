"""The text of HTML pages."""

import codecs
import logging
import re
from pathlib import Path

from factpin import files
from factpin.errors import BadFile, BadInput, MissingExtra
from factpin.extraction.characters import replace_surrogates

DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252"}  # as browsers read them
INLINE = re.compile(r"</?(?:a|abbr|b|bdi|cite|code|em|font|i|mark|q|s|small|span|strong|u)(?:\s[^>]*)?>", re.IGNORECASE)
SHORT_PAGE = 2000  # characters


def read_html(path: Path, encoding: str | None) -> str:
    """The main text of a page."""
    try:
        import trafilatura  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtra(f"{path}: reading HTML needs trafilatura ({error}): pip install 'factpin[html]'.") from None
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # errors are raised below
    with files.open_bytes(path) as stream:
        raw = stream.read()
    page = _decode(path, raw, encoding or declared_encoding(raw)).replace("\x00", "")
    if not re.search("<html", page, re.IGNORECASE):  # trafilatura takes only whole pages for HTML
        page = f"<html><body>{page}</body></html>"
    text = trafilatura.extract(page, include_comments=False, favor_recall=True) or trafilatura.html2txt(page)
    if len(text) < SHORT_PAGE:  # trafilatura breaks lines at inline tags of short pages
        whole = trafilatura.extract(INLINE.sub("", page), include_comments=False, favor_recall=True) or ""
        text = whole if "".join(whole.split()) == "".join(text.split()) else text
    if not text.strip():
        raise BadFile(f"{path}: no text was found in the page. Save it as text, or check that it is HTML.")
    return replace_surrogates(text)


def declared_encoding(raw: bytes) -> str:
    """The encoding that a page declares."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    named = None if raw.startswith(codecs.BOM_UTF8) else DECLARED.search(raw[:4096])
    name = named[1].decode("ascii", "replace").lower() if named else "utf-8"
    try:
        name = codecs.lookup(name).name
    except LookupError:
        name = "utf-8"
    if name.startswith("utf-16"):
        return "utf-8"  # a page whose declaration reads as ASCII is not in UTF-16
    return "utf-8-sig" if name == "utf-8" else WIDER.get(name, name)


def _decode(path: Path, raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{path}: not {encoding.removesuffix('-sig')}: byte {error.start} cannot be decoded. "
            f"Give its encoding with --encoding, such as --encoding gb18030."
        ) from None
    except LookupError:
        raise BadInput(f"There is no encoding {encoding!r}. Usual ones: utf-8, gb18030, utf-16, latin-1.") from None
