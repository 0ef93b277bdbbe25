"""The commands of `factpin store` that change it."""

from pathlib import Path

import click

from factpin.app.commands._options import json_option
from factpin.app.commands._store import db_option, open_db
from factpin.app.console import notes, out, print_json
from factpin.words import count


@click.command()
@db_option
@click.option("--head", required=True, metavar="NAME", help="Who or what the fact is about.")
@click.option("--relation", required=True, metavar="R", help="The relation.")
@click.option("--tail", required=True, metavar="NAME", help="What the fact says about the head.")
@click.option("--head-type", default="", metavar="TYPE", help="Type of the head, if no entity of this name is known.")
@click.option("--tail-type", default="", metavar="TYPE", help="Type of the tail, if no entity of this name is known.")
@click.option("--valid-from", default="", metavar="DATE", help="Since when it holds.")
@click.option("--valid-to", default="", metavar="DATE", help="Until when it held.")
@click.option("--published", default="", metavar="DATE", help="When it was said.")
@json_option
def add(
    db: str | None,
    head: str,
    relation: str,
    tail: str,
    head_type: str,
    tail_type: str,
    valid_from: str,
    valid_to: str,
    published: str,
    as_json: bool,
) -> int:
    """Add a fact by hand. It becomes a document of one sentence, so it has evidence like every other fact.

    The store is created if it does not exist.
    """
    from factpin.memory import TypedFact

    with open_db(db, create=True) as kept:
        uri = kept.add(TypedFact(head, relation, tail, head_type, tail_type, valid_from, valid_to, published))
    if as_json:
        print_json({"uri": uri})
    else:
        out().print(uri, soft_wrap=True, markup=False)
    return 0


@click.command()
@click.argument("fact")
@db_option
@click.option("--note", default="", help="The reason.")
@click.option("--undo", is_flag=True, help="Withdraw the rejection.")
def reject(fact: str, db: str | None, note: str, undo: bool) -> int:
    """Reject a fact: it is no longer an answer, whatever the texts say."""
    from factpin.app.show.store_tables import fact_line
    from factpin.memory.find_facts import fact_by_key

    with open_db(db) as kept:
        judged = fact_by_key(kept, fact)
        kept.judge(judged.fact.id, "" if undo else "rejected", note)
    notes().print(f"{'no longer rejected' if undo else 'rejected'}: {fact_line(judged)}", markup=False)
    return 0


@click.command()
@click.argument("a")
@click.argument("b")
@db_option
@click.option("--undo", is_flag=True, help="They are two after all.")
def join(a: str, b: str, db: str | None, undo: bool) -> int:
    """Declare that two entities, by name or key, are one."""
    with open_db(db) as kept:
        if undo:
            kept.unjoin(a, b)
        else:
            kept.join(a, b, "user")
    notes().print(f"{a} and {b} are {'two entities again' if undo else 'one entity now'}", markup=False)
    return 0


@click.command()
@click.argument("uri")
@click.argument("name")
@db_option
@click.option("--undo", is_flag=True, help="It is the same entity after all.")
def split(uri: str, name: str, db: str | None, undo: bool) -> int:
    """Declare that in the document URI, NAME is another entity than in other documents."""
    with open_db(db) as kept:
        if undo:
            kept.unsplit(uri, name)
            notes().print(f"{uri}: {name} is the same entity as elsewhere again", markup=False)
        else:
            out().print(kept.split(uri, name), soft_wrap=True, markup=False)
    return 0


@click.command()
@click.argument("uris", metavar="URI...", nargs=-1, required=True)
@db_option
@json_option
def remove(uris: tuple[str, ...], db: str | None, as_json: bool) -> int:
    """Remove documents and everything that came from them alone: all of the named documents, or none."""
    with open_db(db) as kept, kept.together():
        removed = [kept.remove(uri) for uri in dict.fromkeys(uris)]
    gone = {what: sum(getattr(one, what) for one in removed) for what in ("passages", "entities", "facts", "evidence")}
    if as_json:
        print_json({"documents": len(removed), **gone})
    else:
        parts = ", ".join(f"{number:,} {what}" for what, number in gone.items())
        notes().print(f"removed: {count(len(removed), 'document')}, {parts}")
        notes().print("Their bytes may still be in the files of the store; `factpin store compact` erases them.")
    return 0


@click.command()
@db_option
def compact(db: str | None) -> int:
    """Erase the bytes of removed documents, which a database keeps in its files, and make these smaller."""
    with open_db(db) as kept:
        kept.compact()
    notes().print("nothing of removed documents is left in the files of the store")
    return 0


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@db_option
@json_option
def import_facts(path: Path, db: str | None, as_json: bool) -> int:
    """Read an export to N-Quads (.nq), or a CSV file with the columns head, relation, tail. All or nothing."""
    from factpin.memory.export import import_file

    with open_db(db, create=True) as kept:
        counts = import_file(kept, path)
    if as_json:
        print_json(dict(counts))
    else:
        notes().print(", ".join(f"{number:,} {what}" for what, number in sorted(counts.items())) or "nothing")
    return 0
