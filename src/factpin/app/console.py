"""What all commands share: consoles, progress, and names checked against a table.

rich is imported where something is shown: its import takes longer than much of what is done without it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import orjson

from factpin.errors import BadInput, did_you_mean
from factpin.extraction.progress import Progress
from factpin.formats import FORMATS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as ProgressBar

FORCED = {"FORCE_COLOR", "TTY_COMPATIBLE"}  # variables that rich obeys


class Names(click.ParamType[str]):
    """A name from a table. Hyphen and underscore are the same; an unknown name gets a "did you mean"."""

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


def out() -> "Console":
    """Standard output."""
    from rich.console import Console  # noqa: PLC0415

    return Console(highlight=False, soft_wrap=False)


def out_is_terminal() -> bool:
    """Whether people read standard output."""
    return (sys.stdout.isatty() or not FORCED.isdisjoint(os.environ)) and out().is_terminal


def notes(quiet: bool = False) -> "Console":
    """Standard error, for notes. A note stays on one line, however narrow the terminal."""
    from rich.console import Console  # noqa: PLC0415

    return Console(stderr=True, highlight=False, quiet=quiet, soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON object to standard output."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    try:
        text = orjson.dumps(value, option=options)
    except orjson.JSONEncodeError:  # lone surrogates, such as bytes of a file name that are not UTF-8
        text = orjson.dumps(_escaped(value), option=options)
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def _escaped(value: Any) -> Any:
    """The same value with lone surrogates as \\udcff."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list | tuple) else value


@contextmanager
def working(doing: str, quiet: bool, *, beneath: bool = False) -> Iterator[Progress]:
    """A line on standard error, where that is a terminal: `loading models` at once, then a count of documents.

    beneath: documents are shown on the same terminal, so the line disappears before the first.
    """
    if quiet or not sys.stderr.isatty():
        yield Progress(warn=lambda text: notes(quiet).print(text, style="yellow", markup=False))
        return
    bar = _bar(doing)
    loading = bar.console.status("loading models")
    task = bar.add_task(doing, total=None)

    def start(total: int | None) -> None:
        loading.stop()
        bar.update(task, total=total)
        if not beneath:
            bar.start()

    loading.start()
    try:
        yield Progress(
            start, lambda: bar.advance(task), lambda text: notes(quiet).print(text, style="yellow", markup=False)
        )
    finally:
        loading.stop()
        bar.stop()


@contextmanager
def counting(doing: str, quiet: bool, total: int | None = None) -> Iterator[Callable[[], None]]:
    """The same without models: a count of documents; yields the function to call for each."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    with _bar(doing) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda: bar.advance(task)


def _bar(doing: str) -> "ProgressBar":
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.progress import Progress as ProgressBar  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return ProgressBar(*columns, console=Console(stderr=True), transient=True)
