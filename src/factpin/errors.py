"""All errors that a user can cause, and `pick`, which looks up a name in a table.

FactpinError                 anything below; the command line prints it as one line and exits with 2
├── BadDocument              a document, or something that claims to be one, breaks the rules of the nouns
│   └── OffsetMismatch       the text at the offsets of a mention is not the text of the mention
├── BadRecord                one record of a file cannot be read; names file, line and field
├── BadFile                  a whole file cannot be read or written: missing, not UTF-8, truncated, unknown kind
│   └── UnknownColumn        a table without the column that was asked for, or whose column of texts has to be named
├── FormatLoss               the target format cannot hold what the documents hold
├── BadInput                 an invalid argument, option or setting
│   └── UnknownName          a name that is not in a table; suggests the nearest one
├── BadModel                 a folder that is not a model, or a model that this version cannot load
└── MissingExtra             an optional dependency is not installed; gives the command that installs it
"""

import difflib
import importlib.util
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


class FactpinError(Exception):
    """An error with a message for the user: what was expected, what was given, what to do."""


class BadDocument(FactpinError):
    """A document that breaks a rule of the nouns. `field` is the place in it, such as `mentions[3].end`."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class OffsetMismatch(BadDocument):
    """text[start:end] is not the mention's text. `inclusive`: text[start:end + 1] would be."""

    def __init__(self, message: str, *, field: str = "", inclusive: bool = False) -> None:
        super().__init__(message, field=field)
        self.inclusive = inclusive


class BadRecord(FactpinError):
    """One record of a file is wrong; the others may be right. `kind` is the name that doctor counts it under."""

    def __init__(self, message: str, *, file: str, line: int, field: str = "", kind: str = "bad_record") -> None:
        place = f"{file}:{line}" + (f", field {field}" if field else "")
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line
        self.field = field
        self.kind = kind
        self.reason = message


class BadFile(FactpinError):
    """A file that cannot be read or written at all."""


class UnknownColumn(BadFile):
    """A table without the column that was asked for, or whose column of texts has to be named."""


class FormatLoss(FactpinError):
    """A format cannot hold part of the documents to write."""


class BadInput(FactpinError):
    """An invalid option, argument or setting."""


class UnknownName(BadInput):
    """A name that is not in a table."""


class BadModel(FactpinError):
    """A folder that is not a factpin model, or one that this version cannot load."""


class MissingExtra(FactpinError):
    """An optional dependency is not installed."""


def need_torch(why: str) -> None:
    """Raise MissingExtra where torch or transformers is not installed."""
    missing = [name for name in ("torch", "transformers") if not installed(name)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise MissingExtra(f"{why}, and {' and '.join(missing)} {verb} not installed: pip install 'factpin[train]'")


def installed(package: str) -> bool:
    """Whether a package can be imported; it is not imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def pick(table: Mapping[str, T], name: str, *, kind: str) -> T:
    """The entry `name` of a table. Hyphens and underscores are the same; an unknown name raises UnknownName."""
    for spelling in (name, name.replace("-", "_"), name.replace("_", "-")):
        if spelling in table:
            return table[spelling]
    raise UnknownName(f"There is no {kind} {name!r}.{did_you_mean(name, table)} Known: {', '.join(sorted(table))}.")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or "" if no known name is similar."""
    near = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
