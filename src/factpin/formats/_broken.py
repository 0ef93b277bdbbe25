"""Why no format fits a file that begins like JSON: where it stops being JSON.

Only the beginning of a file is looked at, so what is cut off there may go on in the file. A fault is therefore named
only in a line that is complete, or where the file ends before the beginning does.
"""

import json

from factpin.formats._guess import SIZE, Head

MOST = 200  # lines of a beginning
STARTS = ("{", "[")


def json_fault(beginning: Head) -> str:
    """`line 1 is not JSON (unterminated string, column 9)`; "" if the file is JSON, or may be, or is something else."""
    lines = [(number, line) for number, line in enumerate(beginning.lines, start=1) if line.strip()]
    if beginning.is_folder or beginning.record is not None or not lines:
        return ""
    number, first = lines[0]
    if first.lstrip("\ufeff \t")[:1] not in STARTS:
        return ""
    if len(lines) > 1 and first.startswith("{") and lines[1][1].startswith("{"):  # one record per line
        return _fault(first, number)
    text = "\n".join(beginning.lines)
    if len(beginning.lines) >= MOST or len(text) * 4 >= SIZE:  # the file may go on
        return ""
    return _fault(text, 1)


def _fault(text: str, first: int) -> str:
    """Where a text that begins at this line of a file is not JSON."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting")
        return f"line {first + error.lineno - 1} is not JSON ({what}, column {error.colno})"
    except RecursionError:
        return f"line {first} is not JSON (too many brackets inside each other)"
    return ""
