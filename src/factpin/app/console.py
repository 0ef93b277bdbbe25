"""What all commands share: consoles, progress, common options, and errors as one line."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from factpin.errors import BadInput, did_you_mean
from factpin.formats import FORMATS


class Names(click.ParamType[str]):
    """A name out of a table, checked with "did you mean"; hyphen and underscore are the same."""

    def __init__(self, kind: str, known: list[str]) -> None:
        self.name = kind
        self.known = known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = str(value).replace("-", "_")
        if name not in self.known:
            near = did_you_mean(name, self.known)
            raise BadInput(f"There is no {self.name} {value!r}.{near} Known: {', '.join(self.known)}.")
        return name

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "NAME"


FORMAT = Names("format", sorted(FORMATS))


def out() -> Console:
    """Standard output."""
    return Console(highlight=False, soft_wrap=False)


def notes(quiet: bool = False) -> Console:
    """Standard error, for notes; a note is one line, however narrow the terminal."""
    return Console(stderr=True, highlight=False, quiet=quiet, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON object to standard output."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS) + b"\n")
    sys.stdout.buffer.flush()


@contextmanager
def counting(what: str, quiet: bool, total: int | None = None) -> Iterator[Callable[[], None]]:
    """A progress line on standard error that counts documents; gives the function to call for each."""
    columns = (SpinnerColumn(), TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True, quiet=quiet or not sys.stderr.isatty())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
