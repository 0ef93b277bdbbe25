"""`factpin index`: texts and facts into a store."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from factpin.app.commands._store import db_option, json_option, open_db
from factpin.app.console import Names, counting, notes, print_json
from factpin.errors import BadInput
from factpin.extraction.inputs import KINDS, Input, find_inputs
from factpin.formats import describe

if TYPE_CHECKING:
    from factpin.extraction.index import IndexReport
    from factpin.memory import Store

SHOWN = 5  # bad files that are named on the terminal


@click.command()
@click.argument("paths", metavar="[FILES|FOLDER|-]...", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@db_option
@click.option("--from", "kind", type=Names("kind of input", list(KINDS)), metavar="|".join(KINDS),
              help="What the files are; guessed from their endings. Standard input is one text.")  # fmt: skip
@click.option("--model", "names", multiple=True, metavar="NAME|FOLDER", help="Several may be chained. "
              "Without it: every shipped model that fits the text's language.")  # fmt: skip
@click.option("--no-facts", is_flag=True,
              help="Run no model: texts for search only. Facts that JSONL documents bring along are kept.")  # fmt: skip
@click.option("--coreference", is_flag=True, help="Gather mentions into entities by rules.")
@click.option("--published", metavar="DATE", default="",
              help="The date of documents that have none: YYYY, YYYY-MM or YYYY-MM-DD.")  # fmt: skip
@click.option("--remove-missing", is_flag=True,
              help="Remove documents of the named files and folders that are no longer there.")  # fmt: skip
@click.option("--schema", type=click.Path(path_type=Path),
              help="Which relations have one tail, or one at a time (TOML); kept in the store.")  # fmt: skip
@click.option("--skip-bad", is_flag=True, help="Bad files, which are set aside and named, do not set the exit code.")
@click.option("--device", default="cpu", show_default=True, help="Where models run: cpu, cuda, cuda:1, mps.")
@click.option("--encoding", help="Encoding of text files.  [default: utf-8; HTML: what the page declares]")
@json_option
@click.option("--quiet", is_flag=True, help="No notes, no progress.")
def index(
    paths: tuple[Path, ...], db: str | None, kind: str | None, names: tuple[str, ...], no_facts: bool,
    coreference: bool, published: str, remove_missing: bool, schema: Path | None, skip_bad: bool, device: str,
    encoding: str | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Keep texts and the facts in them in a store. Unchanged files cost nothing, changed ones are replaced.

    Exit code 1 where a file was set aside because it cannot be read.

    \b
    factpin index news/ --db kb.db
    factpin index news/ --db kb.db --remove-missing
    cat report.txt | factpin index - --db kb.db --no-facts
    """
    if not paths and sys.stdin.isatty():
        raise BadInput("Nothing to read. Name files or a folder, or `-` to type a text. See factpin index --help.")
    if no_facts and names:
        raise BadInput("--no-facts runs no model, --model names one. Leave one of them out.")
    if published:
        from factpin.memory.nouns import check_date

        check_date(published)
    paths = paths or (Path("-"),)
    inputs, passed = find_inputs(list(paths), kind)
    from factpin.extraction.annotator import annotator
    from factpin.extraction.index import index as run
    from factpin.models.shipped import choose_models

    models = None if no_facts else annotator(choose_models(names), coreference=coreference, device=device)
    with open_db(db, create=True) as store:
        if schema is not None:
            from factpin.documents import read_schema

            store.set_schema(read_schema(schema))
        with counting("indexing", quiet or as_json, _total(inputs)) as count:
            report = run(inputs, store, models, encoding=encoding, published=published,
                         missing_from=paths if remove_missing else None, on_document=count)  # fmt: skip
        record = _record(db or "", store, report, passed)
    if as_json:
        print_json(record)
    else:
        _show(notes(quiet), record, report)
    return 1 if report.rejected and not skip_bad else 0


def _total(inputs: list[Input]) -> int | None:
    return None if any(source.kind == "jsonl" for source in inputs) else len(inputs)


def _record(db: str, store: "Store", report: "IndexReport", passed: Counter[str]) -> dict[str, Any]:
    stats = store.stats()
    said = [f"set aside: {rejected.place}: {rejected.reason}" for rejected in report.rejected]
    if passed:
        said.append(f"passed over: {describe(passed)} (no known ending; take them with --from)")
    return {
        "db": db,
        "documents": {"added": report.added, "unchanged": report.unchanged, "replaced": report.replaced,
                      "removed": report.removed, "rejected": len(report.rejected)},
        "passages": stats["passage"], "facts": stats["fact"], "evidence": stats["evidence"],
        "entities": stats["entity"], "vectors": stats["vectors"], "seconds": round(report.seconds, 3), "notes": said,
    }  # fmt: skip


def _show(console: Console, record: dict[str, Any], report: "IndexReport") -> None:
    counts = ", ".join(f"{count:,} {what}" for what, count in record["documents"].items() if count) or "nothing to do"
    console.print(f"documents: {counts}")
    held = ", ".join(f"{record[what]:,} {what}" for what in ("passages", "entities", "facts"))
    console.print(f"[dim]{escape(record['db'])} holds {held} with {record['evidence']:,} pieces of evidence[/]")
    for rejected in report.rejected[:SHOWN]:
        console.print(f"[red]set aside:[/] {escape(rejected.place)}: {escape(rejected.reason)}")
    if len(report.rejected) > SHOWN:
        console.print(f"[red]set aside:[/] {len(report.rejected) - SHOWN:,} more")
    for note in record["notes"][len(report.rejected) :]:
        console.print(f"[yellow]{escape(note)}[/]")
