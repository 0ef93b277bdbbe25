"""`factpin export`: a store in other systems' formats."""

from pathlib import Path

import click

from factpin.app.commands._options import quiet_option
from factpin.app.commands._store import as_of_option, db_option, open_db
from factpin.app.console import Names, notes

FORMATS = ["csv", "graphml", "jsonl", "jsonld", "neo4j", "nq", "ttl"]


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@db_option
@click.option(
    "--to",
    "target",
    type=Names("export", FORMATS),
    metavar="|".join(FORMATS),
    help="Format; by default according to the ending of OUT. neo4j is a folder of CSV files.",
)
@as_of_option
@click.option("--lossy", is_flag=True, help="Write what the format can hold, and leave out the rest.")
@quiet_option
def export(out: Path, db: str | None, target: str | None, as_of: str | None, lossy: bool, quiet: bool) -> int:
    """Write the facts of a store for other programs.

    \b
    factpin export facts.nq --db kb.db
    factpin export graph/ --db kb.db --to neo4j
    """
    from factpin.memory import Filter
    from factpin.memory.export import export as run

    if target is None:
        target = Names("export", FORMATS).convert(out.suffix.lstrip(".") or "neo4j", None, None)
    with open_db(db) as store:
        run(store, out, target, Filter(as_of or ""), lossy=lossy)
    notes(quiet).print(f"written to {out}", markup=False)
    return 0
