"""The text of HTML pages."""

import codecs
import logging
import re
from pathlib import Path

from factpin import files
from factpin.errors import BadFile, MissingExtra
from factpin.extraction.characters import replace_surrogates
from factpin.files.encodings import decode

DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
WIDER = {  # codecs that browsers read as larger ones
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-11": "cp874",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
WEB = {  # https://encoding.spec.whatwg.org, by the names of Python; a page that declares another one is read as UTF-8
    *WIDER.values(),
    *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *("cp866", "cp1250", "cp1251", "cp1253", "cp1255", "cp1256", "cp1257", "cp1258", "euc_jp", "iso2022_jp", "koi8-r"),
    *("koi8-u", "mac-cyrillic", "mac-roman", "utf-8"),
}
INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|cite|code|em|font|i|mark|q|s|small|span|strong|u)(?:\s[^<>]*)?>", re.IGNORECASE
)
SHORT_PAGE = 2000  # characters
TAG = re.compile(r"""<[a-z](?:[^<>"']++|"[^"]*+"|'[^']*+')*+""", re.IGNORECASE)
QUOTED = re.compile(r"""=?\s*+(?:"[^"]*+"|'[^']*+')""")
MOST_ATTRIBUTES = 1000  # of one element; the time to parse them grows with their square


def read_html(path: Path, encoding: str | None) -> str:
    """The main text of a page."""
    try:
        import trafilatura  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtra(f"{path}: reading HTML needs trafilatura ({error}): pip install 'factpin[html]'.") from None
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # errors are raised below
    raw = files.read_bytes(path)
    page = decode(raw, encoding or declared_encoding(raw), path).replace("\x00", "")
    refuse_attributes(page, path)
    if not re.search("<html", page, re.IGNORECASE):  # trafilatura takes only whole pages for HTML
        page = f"<html><body>{page}</body></html>"
    text = trafilatura.extract(page, include_comments=False, favor_recall=True) or trafilatura.html2txt(page)
    if len(text) < SHORT_PAGE:  # trafilatura breaks lines at inline tags of short pages
        whole = trafilatura.extract(INLINE.sub("", page), include_comments=False, favor_recall=True) or ""
        text = whole if "".join(whole.split()) == "".join(text.split()) else text
    if not text.strip():
        raise BadFile(f"{path}: no text was found in the page. Save it as text, or check that it is HTML.")
    return replace_surrogates(text)


def refuse_attributes(page: str, path: Path) -> None:
    """BadFile for an element with more attributes than any page has."""
    for tag in TAG.finditer(page):
        if tag.end() - tag.start() > 2 * MOST_ATTRIBUTES:
            number = len(QUOTED.sub("= ", tag[0]).replace("=", " = ").split()) - 1
            if number > 2 * MOST_ATTRIBUTES:
                raise BadFile(f"{path}: one element of the page has more than {MOST_ATTRIBUTES:,} attributes. Save it "
                              "as text.")  # fmt: skip


def declared_encoding(raw: bytes) -> str:
    """The encoding that a page declares."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    named = None if raw.startswith(codecs.BOM_UTF8) else DECLARED.search(raw[:4096])
    name = named[1].decode("ascii", "replace").lower() if named else "utf-8"
    try:
        name = codecs.lookup(name).name
    except (LookupError, UnicodeError, ValueError):
        name = "utf-8"
    name = WIDER.get(name, name)  # a page whose declaration reads as ASCII is not in UTF-16
    return name if name in WEB else "utf-8"
