"""`factpin export`: a store in other systems' formats."""

from pathlib import Path

import click

from factpin.app.commands._options import quiet_option, score_option
from factpin.app.commands._store import as_of_option, db_option, open_db
from factpin.app.console import Names, notes
from factpin.documents.likely import LIKELY
from factpin.words import count

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
@score_option(
    "Write the active facts that are at least so likely, and report how many are left out; 0 writes all facts, also "
    "those that texts deny or that no longer hold.",
    default=LIKELY,
)
@as_of_option
@click.option("--lossy", is_flag=True, help="Write what the format can hold, and leave out the rest.")
@quiet_option
def export(
    out: Path, db: str | None, target: str | None, min_score: float, as_of: str | None, lossy: bool, quiet: bool
) -> int:
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
        done = run(store, out, target, Filter(as_of or ""), min_score=min_score, lossy=lossy)
    notes(quiet).print(f"{count(len(done.facts), 'fact')} written to {out}", markup=False)
    if done.left_out:
        facts = count(done.left_out, "fact that is", "facts that are")
        notes(quiet).print(f"left out: {facts} less likely than {min_score:g} or not active (--min-score 0 writes all)")
    if done.disputed:
        them = count(done.disputed, "of them is disputed", "of them are disputed")
        notes(quiet).print(f"{them}, though likely: `factpin store conflicts` shows what contradicts what")
    return 0
