"""`factpin verify`: the proofs of the pretraining methods as a table."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from factpin.app.console import counting, notes, out, print_json
from factpin.errors import BadInput

if TYPE_CHECKING:
    from factpin.proofs.verify import Row


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--fast", is_flag=True, help="The exact half alone: nothing is learned.")
@click.option("--seeds", default="1,2,3", show_default=True, help="Of the learning experiments: 1,2,3 or 1 2 3.")
@click.option("--output", type=click.Path(path_type=Path),
              help="JSON file of what was learned, seed by seed; what stands there is not learned again.")  # fmt: skip
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes, no bar.")
def verify(
    names: tuple[str, ...], fast: bool, seeds: str, output: Path | None, threads: int | None, as_json: bool, quiet: bool
) -> int:
    """Check what is claimed of the pretraining methods: leaks, controls, examples, samplers, sums, parity, learning.

    \b
    factpin verify --fast
    factpin verify xlnet mpnet --seeds 1 2
    factpin verify --output learned.json --json
    """
    import torch

    from factpin.proofs.verify import planned, report
    from factpin.proofs.verify import verify as run

    if threads:
        torch.set_num_threads(threads)
    methods = [name for name in names if not name.isdigit()]
    plan = planned(methods, fast=fast, seeds=_numbers([seeds, *(name for name in names if name.isdigit())]))
    with counting("proofs", quiet, plan.steps) as step:
        rows = run(plan, output=output, step=step)
    if as_json:
        print_json(report(rows))
    else:
        _show(rows)
    failed = [row for row in rows if not row.holds]
    for row in failed:
        notes(quiet).print(f"[red]{row.system}[/]: {row.checked}: {row.found}")
    return 1 if failed else 0


def _numbers(given: Sequence[str]) -> list[int]:
    """`--seeds 1 2 3`: all but the first come as names."""
    words = [word for one in given for word in re.split(r"[,\s]+", one) if word]
    if not words or not all(word.isdigit() for word in words):
        raise BadInput(f"--seeds is {' '.join(given)!r}; expected numbers, such as 1,2,3.")
    return [int(word) for word in words]


def _show(rows: Sequence["Row"]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for name in ("system", "checked", "against", "found"):
        table.add_column(name, overflow="fold")
    table.add_column("seconds", justify="right")
    table.add_column("")
    for row in rows:
        cells = [escape(text) for text in (row.system, row.checked, row.against, row.found)]
        table.add_row(*cells, f"{row.seconds:.1f}", "holds" if row.holds else "[red]FAILS[/]")
    out().print(table)
    held = sum(row.holds for row in rows)
    out().print(f"{held} of {len(rows)} hold, {sum(row.seconds for row in rows):.0f} s")
