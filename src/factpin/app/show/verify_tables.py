"""The proofs as tables."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from proofs.verify import Row


def verify_tables(rows: Sequence["Row"], *, in_full: bool) -> Iterator[RenderableType]:
    """A line for each method and kind of proof, then one for each proof that failed; or one for every proof."""
    from proofs.verify import brief

    if not in_full:
        cells = [(one.system, one.kind, f"{one.held} of {one.count}", one.figure) for one in brief(rows)]
        yield _table(("method", "checked", "hold", "nearest to its bound"), cells)
        yield "a of b: the difference that was found, and the largest that counts as equal"
    shown = [row for row in rows if in_full or not row.holds]
    if shown:
        yield _table(("method", "checked", "s", "found"), [_cells(row) for row in shown])
        yield "a off, at most b: the difference that was found, and the largest that counts as equal"


def _cells(row: "Row") -> tuple[str, ...]:
    found = row.found if row.holds else f"FAILS: {row.found}"
    return row.system, f"{row.checked}, against {row.against}", f"{row.seconds:.1f}", found


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Columns wide enough for their longest word, so that none is broken."""
    table = Table(*head, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column, cells in zip(table.columns, zip(*rows, strict=True), strict=True):
        column.min_width = max(len(word) for cell in cells for word in cell.split())
    for number in (0, 2):
        table.columns[number].no_wrap = True
    for row in rows:
        table.add_row(*map(escape, row), style="red" if row[-1].startswith("FAILS") else None)
    return table
