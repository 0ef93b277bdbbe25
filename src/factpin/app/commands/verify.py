"""`factpin verify`: the proofs of the pretraining methods as a table."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from factpin.app.console import counting, notes, out, print_json
from factpin.errors import BadInput

if TYPE_CHECKING:
    from factpin.proofs.verify import Brief, Row


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--fast", is_flag=True, help="The exact half alone: nothing is learned.")
@click.option("--seeds", default="1,2,3", show_default=True, help="Of the learning experiments: 1,2,3 or 1 2 3.")
@click.option("--output", type=click.Path(path_type=Path),
              help="JSON file of what was learned, seed by seed; what stands there is not learned again.")  # fmt: skip
@click.option("--all", "in_full", is_flag=True, help="A line for every proof; else only for those that fail.")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes, no bar.")
def verify(
    names: tuple[str, ...], fast: bool, seeds: str, output: Path | None, in_full: bool, threads: int | None,
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Check what is claimed of the pretraining methods: leaks, controls, examples, samplers, sums, parity, learning.

    \b
    factpin verify --fast
    factpin verify xlnet mpnet --seeds 1 2
    factpin verify --output learned.json --json
    """
    import torch

    from factpin.proofs.verify import brief, planned, report
    from factpin.proofs.verify import verify as run

    if threads:
        torch.set_num_threads(threads)
    methods = [name for name in names if not name.isdigit()]
    plan = planned(methods, fast=fast, seeds=_numbers([seeds, *(name for name in names if name.isdigit())]))
    with counting("proofs", quiet, plan.steps) as step:
        rows = run(plan, output=output, step=step)
    failed = [row for row in rows if not row.holds]
    if as_json:
        print_json(report(rows))
    else:
        _show([] if in_full else brief(rows), rows if in_full else failed)
        out().print(f"{len(rows) - len(failed)} of {len(rows)} hold, {sum(row.seconds for row in rows):.0f} s")
    for row in failed:
        notes(quiet).print(f"[red]{row.system}[/]: {row.checked}: {row.found}")
    return 1 if failed else 0


def _numbers(given: Sequence[str]) -> list[int]:
    """`--seeds 1 2 3`: all but the first come as names."""
    words = [word for one in given for word in re.split(r"[,\s]+", one) if word]
    if not words or not all(word.isdigit() for word in words):
        raise BadInput(f"--seeds is {' '.join(given)!r}; expected numbers, such as 1,2,3.")
    return [int(word) for word in words]


def _show(short: Sequence["Brief"], full: Sequence["Row"]) -> None:
    """A line for each method and kind of proof, then one for each proof that is to be seen in full."""
    if short:
        told = [(one.system, one.kind, f"{one.held} of {one.count}", one.figure) for one in short]
        out().print(_table(("method", "checked", "hold", "nearest to its bound"), told), crop=False)
        out().print("a of b: the difference that was found, and the largest that counts as equal")
    if full:
        told = [(row.system, f"{row.checked}, against {row.against}", f"{row.seconds:.1f}",
                 row.found if row.holds else f"FAILS: {row.found}") for row in full]  # fmt: skip
        out().print(_table(("method", "checked", "s", "found"), told), crop=False)
        out().print("a off, at most b: the difference that was found, and the largest that counts as equal")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Columns that are wide enough for their longest word, so that none is broken."""
    table = Table(*head, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column, cells in zip(table.columns, zip(*rows, strict=True), strict=True):
        column.min_width = max(len(word) for cell in cells for word in cell.split())
    for number in (0, 2):
        table.columns[number].no_wrap = True
    for row in rows:
        table.add_row(*map(escape, row), style="red" if row[-1].startswith("FAILS") else None)
    return table
