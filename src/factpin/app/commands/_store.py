"""Options that all commands on a store share, and how one is opened."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from factpin.errors import BadInput

if TYPE_CHECKING:
    from factpin.memory import Store

F = TypeVar("F", bound=Callable[..., Any])


def db_option(command: F) -> F:
    """--db, or the variable FACTPIN_DB."""
    return click.option("--db", envvar="FACTPIN_DB", metavar="FILE|URL", show_envvar=True,
                        help="The store: a file such as kb.db, or postgresql://…")(command)  # fmt: skip


def json_option(command: F) -> F:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")(command)


def as_of_option(command: F) -> F:
    """--as-of."""
    return click.option("--as-of", metavar="DATE", help="As if documents published later had never come: "
                        "YYYY, YYYY-MM or YYYY-MM-DD.")(command)  # fmt: skip


def open_db(db: str | None, *, create: bool = False) -> "Store":
    """The store that was named. A new one begins with the marks of well-known relations."""
    from factpin.answers.marks import usual_schema
    from factpin.memory import open_store

    if not db:
        raise BadInput("Which store? Name it with --db kb.db, or set FACTPIN_DB.")
    store = open_store(db, create=create)
    if create and not store.schema().relations and not store.sources():
        store.set_schema(usual_schema())
    return store
