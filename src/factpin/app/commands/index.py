"""`factpin index`: texts and facts into a store."""

import sys
from pathlib import Path
from typing import Any

import click

from factpin.app.commands._options import (
    column_option,
    device_option,
    inputs_argument,
    json_option,
    kind_option,
    model_option,
    precision_option,
    quiet_option,
    raw_encoding_option,
    runtime_option,
)
from factpin.app.commands._store import db_option, open_db
from factpin.app.console import notes, print_json, working
from factpin.errors import BadInput
from factpin.extraction.request import STANDARD


@click.command()
@inputs_argument
@db_option
@kind_option
@column_option
@model_option
@click.option(
    "--no-facts", is_flag=True, help="Run no model: texts for search only. Facts in JSONL documents are kept."
)
@click.option("--coreference", is_flag=True, help="Group mentions into entities by rules.")
@click.option(
    "--published",
    metavar="DATE",
    default="",
    help="Date of documents that have none: YYYY, YYYY-MM or YYYY-MM-DD.",
)
@click.option(
    "--remove-missing", is_flag=True, help="Remove documents of the named files and folders that are no longer there."
)
@click.option(
    "--vectors",
    metavar="NAME|FOLDER",
    help="Embed passages too, to find them by meaning: multilingual (extra `vectors`), an encoder or a folder. Later "
    "runs keep to it. Without inputs, only vectors are made.",
)
@click.option(
    "--schema",
    type=click.Path(path_type=Path),
    help="TOML file of relations that have one tail, or one at a time; it is kept in the store.",
)
@click.option("--skip-bad", is_flag=True, help="Exit with code 0 even where bad files were set aside.")
@device_option
@runtime_option
@precision_option
@raw_encoding_option
@json_option
@quiet_option
def index(
    inputs: tuple[Path, ...],
    db: str | None,
    no_facts: bool,
    skip_bad: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Keep texts and the facts in them in a store. Unchanged files cost nothing, changed ones are replaced.

    The exit code is 1 where a file was set aside because it cannot be read.

    \b
    factpin index news/ --db kb.db
    factpin index news/ --db kb.db --remove-missing
    factpin index news/ --db kb.db --vectors multilingual
    cat report.txt | factpin index - --db kb.db --no-facts
    """
    vectors_alone = bool(settings["vectors"]) and not inputs
    if not inputs and not vectors_alone and sys.stdin.isatty():
        raise BadInput("Nothing to read. Name files or a folder, or `-` to type a text. See factpin index --help.")

    from factpin.app.show.index_notes import index_notes, index_record
    from factpin.extraction.index_run import IndexRequest, run_index

    request = IndexRequest(inputs if inputs or vectors_alone else (STANDARD,), facts=not no_facts, **settings)
    with open_db(db, create=True) as store:
        with working("indexing", quiet or as_json) as progress:
            report, skipped = run_index(request, store, progress)
        record = index_record(db or "", store.stats(), report, skipped)
    if as_json:
        print_json(record)
    else:
        for line in index_notes(record, report):
            notes(quiet).print(line)
    return 1 if report.rejects and not skip_bad else 0
