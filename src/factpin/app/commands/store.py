"""`factpin store`: look into a store and edit it. Needs no torch."""

import click

from factpin.app.commands._store_edit import add, compact, import_facts, join, reject, remove, split
from factpin.app.commands._store_look import check, conflicts, decisions, facts, list_documents, show, stats, why


@click.group()
def store() -> None:
    """Look into a store and edit it. Edits can be undone, and survive indexing again."""


for command in (
    list_documents,
    show,
    facts,
    why,
    conflicts,
    add,
    reject,
    join,
    split,
    remove,
    compact,
    check,
    stats,
    decisions,
    import_facts,
):
    store.add_command(command)
