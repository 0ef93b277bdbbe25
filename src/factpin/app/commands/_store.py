"""What the commands on a store share."""

from typing import TYPE_CHECKING

import click

from factpin.errors import BadInput

if TYPE_CHECKING:
    from factpin.memory import Store

db_option = click.option(
    "--db",
    envvar="FACTPIN_DB",
    metavar="FILE|URL",
    show_envvar=True,
    help="The store: a file such as kb.db, or postgresql://…",
)
as_of_option = click.option(
    "--as-of", metavar="DATE", help="Ignore documents published later: YYYY, YYYY-MM or YYYY-MM-DD."
)

linker_option = click.option(
    "--linker",
    default="",
    metavar="FOLDER",
    help="Link with a trained linker (`factpin pretrain --objective linker`) instead of shared words, types and facts.",
)


def open_db(db: str | None, *, create: bool = False) -> "Store":
    """Open a store. A new one starts with a schema of well-known relations."""
    from factpin.answers.marks import open_marked

    if not db:
        raise BadInput("Which store? Name it with --db kb.db, or set FACTPIN_DB.")
    return open_marked(db, create=create)
