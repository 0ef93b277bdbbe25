"""Dates as text: YYYY, YYYY-MM or YYYY-MM-DD, compared to the precision of the coarser one."""

import re

from factpin.errors import BadInput
from factpin.memory.nouns import check_date

_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})[a-z]*", re.I)
_CHINESE = re.compile(r"(\d{4})年(?:(\d{1,2})月(?:(\d{1,2})[日号])?)?")


def as_date(text: str) -> str:
    """The date that a text denotes (2003-9-3, 2003年9月), or "" if it is not a date."""
    match = _ISO.fullmatch(text.strip()) or _CHINESE.fullmatch(text.strip())
    if not match:
        return ""
    date = "-".join(part.zfill(2) for part in match.groups() if part)
    try:
        check_date(date)
    except BadInput:
        return ""
    return date


def date_in(text: str) -> str:
    """The date at the beginning of a text: 1886-10-02 for "October 2, 1886", "" if there is no year."""
    if date := as_date(text):
        return date
    year = _YEAR.search(text)
    month = _MONTH.search(text)
    if year is None or (_YEAR.search(text, year.end()) and month is None):
        return year[0] if year else ""
    if month is None:
        return year[0]
    day = _DAY.search(text)
    number = f"{MONTHS.index(month[0].lower()[:3]) + 1:02}"
    return f"{year[0]}-{number}" + (f"-{int(day[0]):02}" if day else "")


def is_before(a: str, b: str) -> bool:
    """Whether a is certainly before b: 2020 is neither before nor after 2020-05, and a missing date is never before."""
    known = min(len(a), len(b))
    return bool(known) and a[:known] < b[:known]
