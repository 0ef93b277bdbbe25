"""Every error that a user can cause, and `pick`, which looks a name up in a table.

FactpinError                 anything below; the command line prints it as one line and exits with 2
├── BadDocument              a document, or something that claims to be one, breaks the rules of the nouns
│   └── OffsetMismatch       a mention's text is not what stands at its offsets
├── BadRecord                one record of a file cannot be read: names file, line and field
├── BadFile                  a whole file cannot be read or written: missing, not UTF-8, cut short, unknown kind
├── FormatLoss               the target format cannot hold what the documents hold
├── BadInput                 an argument, option or setting that makes no sense
│   └── UnknownName          a name that stands in no table; says what was probably meant
├── BadModel                 a folder that is no model, or a model this version cannot load
└── MissingExtra             an optional dependency is not installed; says the command that installs it
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class FactpinError(Exception):
    """An error whose message is meant for the user: what was expected, what came, what to do."""


class BadDocument(FactpinError):
    """A document breaks a rule of the nouns. `field` names the place inside it, such as `mentions[3].end`."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class OffsetMismatch(BadDocument):
    """text[start:end] is not the mention's text. `inclusive` tells whether text[start:end + 1] would be."""

    def __init__(self, message: str, *, field: str = "", inclusive: bool = False) -> None:
        super().__init__(message, field=field)
        self.inclusive = inclusive


class BadRecord(FactpinError):
    """One record of a file is wrong; the others may be right. `kind` is a short word that doctor counts by."""

    def __init__(self, message: str, *, file: str, line: int, field: str = "", kind: str = "bad_record") -> None:
        place = f"{file}:{line}" + (f", field {field}" if field else "")
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line
        self.field = field
        self.kind = kind
        self.reason = message


class BadFile(FactpinError):
    """A file as a whole cannot be read or written."""


class FormatLoss(FactpinError):
    """A format cannot hold part of what it is asked to write."""


class BadInput(FactpinError):
    """An option, argument or setting that makes no sense."""


class UnknownName(BadInput):
    """A name that stands in no table."""


class BadModel(FactpinError):
    """A folder that is no model of factpin, or one that this version cannot load."""


class MissingExtra(FactpinError):
    """An optional dependency is absent."""


def pick(table: Mapping[str, T], name: str, *, kind: str) -> T:
    """The entry `name` of a table; hyphens count as underscores; an unknown name says what was probably meant."""
    for spelling in (name, name.replace("-", "_"), name.replace("_", "-")):
        if spelling in table:
            return table[spelling]
    raise UnknownName(f"There is no {kind} {name!r}.{did_you_mean(name, table)} Known: {', '.join(sorted(table))}.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or nothing where no known name is near."""
    near = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
