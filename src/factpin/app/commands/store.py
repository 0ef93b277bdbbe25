"""`factpin store`: look into a store and edit it. Needs no torch."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

from factpin.app.commands._options import score_option
from factpin.app.commands._store import as_of_option, db_option, json_option, open_db
from factpin.app.console import notes, out, print_json
from factpin.documents.likely import LIKELY
from factpin.errors import BadInput

if TYPE_CHECKING:
    from factpin.memory import JudgedFact, Store


@click.group()
def store() -> None:
    """Look into a store and edit it. What is done by hand can be undone, and outlives re-indexing."""


@store.command("list")
@db_option
@as_of_option
@json_option
def list_documents(db: str | None, as_of: str | None, as_json: bool) -> int:
    """The documents of a store."""
    from factpin.app.show.store_tables import sources_table
    from factpin.memory import Filter

    with open_db(db) as kept:
        filter = Filter(as_of or "")
        sources, partly = kept.sources(filter), kept.partly_read(filter)
    if as_json:
        print_json({"documents": [{**asdict(s), "whole": s.uri not in set(partly)} for s in sources]})
    else:
        out().print(sources_table(sources, partly))
    return 0


@store.command()
@click.argument("uri")
@db_option
@json_option
def show(uri: str, db: str | None, as_json: bool) -> int:
    """One document: its text, and the facts that it says."""
    from factpin.app.show.highlight import highlight
    from factpin.app.show.store_tables import fact_record, facts_table
    from factpin.documents import to_json

    with open_db(db) as kept:
        doc, source = kept.document(uri)
        facts = [f for f in kept.judged() if any(pin.uri == uri for pin in f.fact.pins)]
    if as_json:
        print_json({"source": asdict(source), "document": to_json(doc), "facts": [fact_record(f) for f in facts]})
    else:
        out().print(highlight(doc), soft_wrap=True)
        if facts:
            out().print(facts_table(facts))
    return 0


@store.command()
@db_option
@click.option("--head", metavar="NAME", help="A name or key of an entity.")
@click.option("--relation", metavar="R", help="A relation.")
@click.option("--tail", metavar="NAME", help="A name or key of an entity.")
@click.option("--path", "ends", nargs=2, metavar="A B", help="Shortest chains of facts between two entities.")
@score_option("Hide facts that are less likely.", default=LIKELY)
@as_of_option
@json_option
def facts(
    db: str | None, head: str | None, relation: str | None, tail: str | None, ends: tuple[str, str] | None,
    min_score: float, as_of: str | None, as_json: bool,
) -> int:  # fmt: skip
    """The facts that fit, with how sure they are and whether they still hold.

    Facts that no text asserts (denied, unconfirmed) have the confidence 0: --min-score 0 shows them.
    """
    from factpin.app.show.store_tables import fact_record, facts_table
    from factpin.memory import Filter, Pattern
    from factpin.memory.hops import paths

    filter = Filter(as_of or "")
    with open_db(db) as kept:
        if ends:
            chains = paths(kept, *ends, filter=filter)
            found = list({f.fact.id: f for chain in chains for f in chain}.values())
        else:
            names = [tuple(e for e in _entities(kept, name)) if name else None for name in (head, tail)]
            pattern = Pattern(heads=names[0], relations=(relation,) if relation else None, tails=names[1])
            found = kept.judged(pattern, filter)
    shown = [f for f in found if f.confidence >= min_score]
    shown.sort(key=lambda f: (f.fact.head.name, f.fact.relation, f.fact.valid_from, f.fact.tail.name, f.fact.id))
    if as_json:
        record = {"facts": [fact_record(f) for f in shown]}
        print_json({**record, "paths": [[f.fact.id for f in chain] for chain in chains]} if ends else record)
    else:
        out().print(facts_table(shown))
        if len(found) > len(shown):
            notes().print(
                f"hidden: {len(found) - len(shown):,} facts less sure than {min_score:g} (--min-score 0 shows all)"
            )
    return 0


def _entities(kept: "Store", name: str) -> list[str]:
    """The keys of all entities that bear a name, or the one of a key."""
    found = [candidate.entity.id for candidate in kept.candidates(name)]
    return found or [kept.entity(name).id]


@store.command()
@click.argument("fact")
@db_option
@json_option
def why(fact: str, db: str | None, as_json: bool) -> int:
    """Every text that says or denies a fact. FACT is its key, or the beginning of it."""
    from factpin.app.show.store_tables import fact_record, why_lines

    with open_db(db) as kept:
        judged = _fact(kept, fact)
    if as_json:
        print_json(fact_record(judged))
    else:
        for line in why_lines(judged):
            out().print(line, soft_wrap=True)
    return 0


def _fact(kept: "Store", key: str) -> "JudgedFact":
    """The fact of a key, or of the beginning of one."""
    from factpin.memory import Pattern

    found = kept.judged(Pattern(keys=(key,))) or [f for f in kept.judged() if key and f.fact.id.startswith(key)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{len(found)} facts begin with {key!r}. Give more of the key.")
    raise BadInput(f"There is no fact {key!r}. `factpin store facts` lists them.")


@store.command()
@db_option
@as_of_option
@json_option
def conflicts(db: str | None, as_of: str | None, as_json: bool) -> int:
    """Facts that contradict each other, with the texts on both sides."""
    from factpin.app.show.store_tables import entity_record, fact_record, why_lines
    from factpin.memory import Filter

    with open_db(db) as kept:
        found = kept.conflicts(Filter(as_of or ""))
    if as_json:
        print_json({"conflicts": [{"head": entity_record(c.head), "relation": c.relation,
                                   "facts": [fact_record(f) for f in c.facts]} for c in found]})  # fmt: skip
        return 0
    for conflict in found:
        out().print(f"[bold]{escape(conflict.head.name)} – {escape(conflict.relation)}[/]", soft_wrap=True)
        for judged in conflict.facts:
            for line in why_lines(judged):
                out().print("  ", line, sep="", soft_wrap=True)
    if not found:
        notes().print("no conflicts")
    return 0


@store.command()
@db_option
@click.option("--head", required=True, metavar="NAME")
@click.option("--relation", required=True, metavar="R")
@click.option("--tail", required=True, metavar="NAME")
@click.option("--head-type", default="", metavar="TYPE", help="Left out: that of the entity known by this name.")
@click.option("--tail-type", default="", metavar="TYPE")
@click.option("--valid-from", default="", metavar="DATE", help="Since when it holds.")
@click.option("--valid-to", default="", metavar="DATE", help="Until when it held.")
@click.option("--published", default="", metavar="DATE", help="When it was said.")
@json_option
def add(
    db: str | None, head: str, relation: str, tail: str, head_type: str, tail_type: str, valid_from: str,
    valid_to: str, published: str, as_json: bool,
) -> int:  # fmt: skip
    """Add a fact by hand. It becomes a document of one sentence, so it has evidence like every other fact.

    A store that is not there yet is made.
    """
    from factpin.memory import TypedFact

    with open_db(db, create=True) as kept:
        uri = kept.add(TypedFact(head, relation, tail, head_type, tail_type, valid_from, valid_to, published))
    if as_json:
        print_json({"uri": uri})
    else:
        out().print(uri, soft_wrap=True)
    return 0


@store.command()
@click.argument("fact")
@db_option
@click.option("--note", default="", help="Why.")
@click.option("--undo", is_flag=True, help="Take the rejection back.")
def reject(fact: str, db: str | None, note: str, undo: bool) -> int:
    """Reject a fact: it is no answer any more, whatever the texts say."""
    with open_db(db) as kept:
        kept.judge(_fact(kept, fact).fact.id, "" if undo else "rejected", note)
    return 0


@store.command()
@click.argument("a")
@click.argument("b")
@db_option
@click.option("--undo", is_flag=True, help="They are two after all.")
def join(a: str, b: str, db: str | None, undo: bool) -> int:
    """Two entities, by name or key, are one."""
    with open_db(db) as kept:
        if undo:
            kept.unjoin(a, b)
        else:
            kept.join(a, b, "user")
    return 0


@store.command()
@click.argument("uri")
@click.argument("name")
@db_option
@click.option("--undo", is_flag=True, help="It is the same one after all.")
def split(uri: str, name: str, db: str | None, undo: bool) -> int:
    """In the document URI, NAME means somebody else than in other documents."""
    with open_db(db) as kept:
        if undo:
            kept.unsplit(uri, name)
        else:
            out().print(kept.split(uri, name))
    return 0


@store.command()
@click.argument("uris", metavar="URI...", nargs=-1, required=True)
@db_option
@json_option
def remove(uris: tuple[str, ...], db: str | None, as_json: bool) -> int:
    """Forget documents: from then on the store answers as if they had never come. All of them, or none."""
    with open_db(db) as kept, kept.together():
        removed = [kept.remove(uri) for uri in dict.fromkeys(uris)]
    gone = {what: sum(getattr(one, what) for one in removed) for what in ("passages", "entities", "facts", "evidence")}
    if as_json:
        print_json({"documents": len(removed), **gone})
    else:
        notes().print(f"removed: {len(removed):,} documents, " + ", ".join(f"{n:,} {what}" for what, n in gone.items()))
    return 0


@store.command()
@db_option
@json_option
def check(db: str | None, as_json: bool) -> int:
    """Derive every row again from the documents and compare. Exit code 1 where something differs."""
    with open_db(db) as kept:
        problems = kept.check()
    if as_json:
        print_json({"ok": not problems, "problems": problems})
    else:
        for problem in problems:
            out().print(escape(problem), soft_wrap=True)
        notes().print("the store is whole" if not problems else f"{len(problems):,} problems: index the documents anew")
    return int(bool(problems))


@store.command()
@db_option
@json_option
def stats(db: str | None, as_json: bool) -> int:
    """How much there is of everything."""
    with open_db(db) as kept:
        found = kept.stats()
    if as_json:
        print_json(found)
    else:
        for what, count in found.items():
            out().print(f"{what.replace('_', ' '):<14} {count if what != 'vectors' else count or 'none'}")
    return 0


@store.command()
@db_option
@json_option
def decisions(db: str | None, as_json: bool) -> int:
    """What was decided by hand: joins, splits, verdicts."""
    with open_db(db) as kept:
        found = kept.decisions()
    if as_json:
        print_json({"decisions": [asdict(decision) for decision in found]})
    else:
        for decision in found:
            out().print(" ".join(filter(None, asdict(decision).values())), soft_wrap=True, markup=False)
    return 0


@store.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@db_option
@json_option
def import_facts(path: Path, db: str | None, as_json: bool) -> int:
    """Read back an export to N-Quads (.nq), or a CSV file with the columns head, relation, tail. All or nothing."""
    from factpin.files import plain_name
    from factpin.memory.export import import_csv, import_quads

    reads = {".nq": import_quads, ".csv": import_csv}
    ending = Path(plain_name(path)).suffix.lower()
    if ending not in reads:
        raise BadInput(f"{path}: its ending is {ending or 'none'}; expected .nq or .csv.")
    with open_db(db, create=True) as kept:
        counts = reads[ending](kept, path)
    if as_json:
        print_json(dict(counts))
    else:
        notes().print(", ".join(f"{n:,} {what}" for what, n in sorted(counts.items())) or "nothing")
    return 0
