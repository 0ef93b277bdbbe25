"""The commands of `factpin store` that only look."""

from dataclasses import asdict

import click
from rich.markup import escape

from factpin.app.commands._options import json_option, score_option
from factpin.app.commands._store import as_of_option, db_option, open_db
from factpin.app.console import notes, out, print_json
from factpin.documents.likely import LIKELY
from factpin.words import count


@click.command("list")
@db_option
@as_of_option
@json_option
def list_documents(db: str | None, as_of: str | None, as_json: bool) -> int:
    """List the documents."""
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


@click.command()
@click.argument("uri")
@db_option
@json_option
def show(uri: str, db: str | None, as_json: bool) -> int:
    """Show one document: its text, and the facts in it."""
    from factpin.app.show.highlight import highlight
    from factpin.app.show.store_tables import fact_record, facts_table
    from factpin.documents import to_json

    with open_db(db) as kept:
        doc, source = kept.document(uri)
        facts = [f for f in kept.judged() if any(pin.uri == uri for pin in f.fact.pins)]
    if as_json:
        print_json({"source": asdict(source), "document": to_json(doc), "facts": [fact_record(f) for f in facts]})
    else:
        out().print(highlight(doc, colours=out().color_system is not None), soft_wrap=True)
        if facts:
            out().print(facts_table(facts))
    return 0


@click.command()
@db_option
@click.option("--head", metavar="NAME", help="Name or key of an entity.")
@click.option("--relation", metavar="R", help="A relation.")
@click.option("--tail", metavar="NAME", help="Name or key of an entity.")
@click.option("--path", "ends", nargs=2, metavar="A B", help="Shortest chains of facts between two entities.")
@score_option("Hide facts that are less likely.", default=LIKELY)
@as_of_option
@json_option
def facts(
    db: str | None,
    head: str | None,
    relation: str | None,
    tail: str | None,
    ends: tuple[str, str] | None,
    min_score: float,
    as_of: str | None,
    as_json: bool,
) -> int:
    """List facts, with their confidence and whether they still hold.

    Facts that no text asserts (denied, unconfirmed) have the confidence 0: --min-score 0 shows them.
    """
    from factpin.app.show.store_tables import fact_record, facts_table
    from factpin.memory import Filter
    from factpin.memory.find_facts import find_chains, find_facts, in_order

    filter = Filter(as_of or "")
    with open_db(db) as kept:
        chains = find_chains(kept, *ends, filter) if ends else []
        found = [f for chain in chains for f in chain] if ends else find_facts(kept, head, relation, tail, filter)
    found = in_order(found)
    shown = [f for f in found if f.confidence >= min_score]
    if as_json:
        record = {"facts": [fact_record(f) for f in shown]}
        print_json({**record, "paths": [[f.fact.id for f in chain] for chain in chains]} if ends else record)
        return 0
    out().print(facts_table(shown))
    if len(found) > len(shown):
        hidden = count(len(found) - len(shown), "fact")
        notes().print(f"hidden: {hidden} less likely than {min_score:g} (--min-score 0 shows all)")
    return 0


@click.command()
@click.argument("fact")
@db_option
@json_option
def why(fact: str, db: str | None, as_json: bool) -> int:
    """Show every text that says or denies a fact. FACT is its key, or the beginning of it."""
    from factpin.app.show.store_tables import fact_record, why_lines
    from factpin.memory.find_facts import fact_by_key

    with open_db(db) as kept:
        judged = fact_by_key(kept, fact)
    if as_json:
        print_json(fact_record(judged))
    else:
        for line in why_lines(judged):
            out().print(line, soft_wrap=True)
    return 0


@click.command()
@db_option
@as_of_option
@json_option
def conflicts(db: str | None, as_of: str | None, as_json: bool) -> int:
    """List facts that contradict each other, with the texts on both sides."""
    from factpin.app.show.store_tables import conflict_record, why_lines
    from factpin.memory import Filter

    with open_db(db) as kept:
        found = kept.conflicts(Filter(as_of or ""))
    if as_json:
        print_json({"conflicts": [conflict_record(conflict) for conflict in found]})
        return 0
    for conflict in found:
        out().print(f"[bold]{escape(conflict.head.name)} – {escape(conflict.relation)}[/]", soft_wrap=True)
        for judged in conflict.facts:
            for line in why_lines(judged):
                out().print("  ", line, sep="", soft_wrap=True)
    if not found:
        notes().print("no conflicts")
    return 0


@click.command()
@db_option
@json_option
def check(db: str | None, as_json: bool) -> int:
    """Derive every row again from the documents and compare. Exit code 1 where something differs."""
    with open_db(db) as kept:
        problems = kept.check()
    if as_json:
        print_json({"ok": not problems, "problems": problems})
        return int(bool(problems))
    for problem in problems:
        out().print(escape(problem), soft_wrap=True)
    found = f"{count(len(problems), 'problem')}: index the documents again"
    notes().print(found if problems else "no problems")
    return int(bool(problems))


@click.command()
@db_option
@json_option
def stats(db: str | None, as_json: bool) -> int:
    """Count everything in the store."""
    with open_db(db) as kept:
        found = kept.stats()
    if as_json:
        print_json(found)
    else:
        for what, number in found.items():
            out().print(f"{what.replace('_', ' '):<14} {number if what != 'vectors' else number or 'none'}")
    return 0


@click.command()
@db_option
@json_option
def decisions(db: str | None, as_json: bool) -> int:
    """List what was decided by hand: joins, splits, verdicts."""
    from factpin.app.show.store_tables import decision_line

    with open_db(db) as kept:
        found = kept.decisions()
        lines = [] if as_json else [decision_line(kept, decision) for decision in found]
    if as_json:
        print_json({"decisions": [asdict(decision) for decision in found]})
    for line in lines:
        out().print(line, soft_wrap=True)
    if not found and not as_json:
        notes().print("nothing was decided by hand")
    return 0
