"""`factpin verify`: the proofs of the pretraining methods as a table. They are in the source checkout only."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from factpin.app.commands._options import json_option, quiet_option, threads_option
from factpin.app.console import counting, notes, out, print_json
from factpin.errors import BadInput, MissingExtra, need_torch

CHECKOUT = Path(__file__).parents[4]  # of a source checkout: src/factpin/app/commands


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--fast", is_flag=True, help="Check only what is exact; train nothing.")
@click.option("--seeds", default="1,2,3", show_default=True, help="Seeds of the learning experiments: 1,2,3 or 1 2 3.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="JSON file of learning results, seed by seed; results that are in it already are not computed again.",
)
@click.option("--all", "in_full", is_flag=True, help="Show a line for every proof, not only for those that fail.")
@threads_option
@json_option
@quiet_option
def verify(
    names: tuple[str, ...],
    fast: bool,
    seeds: str,
    output: Path | None,
    in_full: bool,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check the claims about the pretraining methods: leaks, controls, examples, samplers, sums, parity, learning. And
    those about the systems that read long texts (cogltx) and that look things up (eae, fae, knowbert).

    This needs a source checkout of factpin.

    \b
    factpin verify --fast
    factpin verify xlnet mpnet --seeds 1 2
    factpin verify --output learned.json --json
    """
    _find_proofs()
    need_torch("The proofs need torch")
    import torch

    from factpin.app.show.verify_tables import verify_tables
    from proofs.verify import planned, report
    from proofs.verify import verify as run

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
        for part in verify_tables(rows, in_full=in_full):
            out().print(part, crop=False)
        out().print(f"{len(rows) - len(failed)} of {len(rows)} hold, {sum(row.seconds for row in rows):.0f} s")
    for row in failed:
        notes(quiet).print(f"[red]{row.system}[/]: {row.checked}: {row.found}")
    return 1 if failed else 0


def _find_proofs() -> None:
    """Make the package `proofs` of the source checkout importable."""
    if not (CHECKOUT / "proofs" / "verify.py").is_file():
        raise MissingExtra(
            "The proofs are not part of the installed package. Get the source of factpin, install it with "
            "`pip install -e .` in its folder, and run `factpin verify` again."
        )
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))


def _numbers(given: Sequence[str]) -> list[int]:
    """Seeds; after `--seeds 1 2 3`, all but the first arrive as names."""
    words = [word for one in given for word in re.split(r"[,\s]+", one) if word]
    if not words or not all(word.isdigit() for word in words):
        raise BadInput(f"--seeds is {' '.join(given)!r}; expected numbers, such as 1,2,3.")
    return [int(word) for word in words]
