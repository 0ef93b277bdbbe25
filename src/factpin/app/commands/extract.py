"""`factpin extract`: raw text to facts."""

import os
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.markup import escape

from factpin.app.commands._options import (
    GivenPath,
    column_option,
    device_option,
    inputs_argument,
    kind_option,
    model_option,
    overflow_option,
    precision_option,
    quiet_option,
    raw_encoding_option,
    runtime_option,
    score_option,
)
from factpin.app.commands._shards import sharding_options
from factpin.app.commands._store import db_option, linker_option
from factpin.app.console import Names, notes, out, out_is_terminal, working
from factpin.documents.likely import LIKELY
from factpin.errors import BadInput
from factpin.extraction.inputs import is_folder
from factpin.extraction.request import STANDARD, Request
from factpin.extraction.run import Show, run_extraction
from factpin.extraction.select import PARTS
from factpin.extraction.summary import Summary
from factpin.files import plain_name

TARGETS = ["jsonl", "table", "color", "csv", "html", "triples", "brat"]
FOR_PEOPLE = ("table", "color")
BY_ENDING = {"": "jsonl", ".csv": "csv", ".htm": "html", ".html": "html", ".jsonl": "jsonl"}


@click.command()
@inputs_argument
@kind_option
@column_option
@model_option
@click.option(
    "--coreference",
    default="",
    metavar="rules|NAME|FOLDER",
    help="Group mentions into entities, by rules or with a coreference model. By default, rules group them where a "
    "model looks for facts.",
)
@db_option
@click.option("--link", is_flag=True, help="Link mentions to the entities of the store --db, with probabilities.")
@linker_option
@click.option(
    "--to",
    "target",
    type=Names("kind of output", TARGETS),
    metavar="|".join(TARGETS),
    help="Kind of output.  [default: by the ending of --output; without it, color in a terminal, jsonl elsewhere]",
)
@click.option(
    "--only",
    type=Names("part of a document", list(PARTS)),
    multiple=True,
    metavar="|".join(PARTS),
    help="Show and write this part alone; may be given several times.",
)
@click.option(
    "--output",
    type=GivenPath(),
    default=STANDARD,
    help="File to write. A folder (a name without an ending) gets one file per input; run the same command again to "
    "resume it.",
)
@score_option("Hide facts and events that are less likely, and report how many; 0 shows all.", default=LIKELY)
@overflow_option
@precision_option
@device_option
@runtime_option
@click.option("--skip-bad", is_flag=True, help="Set bad files and records aside in a list of rejects and continue.")
@raw_encoding_option
@sharding_options
@quiet_option
def extract(
    inputs: tuple[Path, ...],
    target: str | None,
    output: Path,
    quiet: bool,
    engine: str | None,
    workers: int | None,
    shard_size: int,
    ray_address: str,
    db: str | None,
    link: bool,
    **settings: Any,
) -> int:
    """Find entities, facts and events in raw text: files, folders, or standard input.

    \b
    factpin extract report.txt news.html paper.pdf
    echo '谷爱凌出生于旧金山。' | factpin extract - --to table
    factpin extract report.docx --only facts --output facts.csv
    factpin extract reviews.csv --column comment --to triples
    factpin extract corpus/ --output found/ --to jsonl
    factpin extract corpus/ --output found/ --engine processes
    factpin extract news.txt --db kb.db --link
    """
    if not inputs and sys.stdin.isatty():
        raise BadInput("Nothing to read. Name files or a folder, or `-` to type a text. See factpin extract --help.")
    for_eyes = output == STANDARD and out_is_terminal()
    target = target or ("color" if for_eyes else _by_ending(output))
    if target in FOR_PEOPLE and output != STANDARD:
        raise BadInput(f"{target} is for people and goes to standard output. Leave --output out, or use --to jsonl.")
    if settings["linker"] and not link:
        raise BadInput("--linker says how --link links. Give --link and --db as well, or leave --linker out.")
    if link and not db:
        raise BadInput("--link needs the store to link to. Name it with --db kb.db, or set FACTPIN_DB.")
    if db and not link and click.get_current_context().get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise BadInput(f"--db is for --link, which links names to a store. To keep facts: factpin index … --db {db}")
    format: Any = "jsonl" if target in FOR_PEOPLE else target
    request = Request(inputs or (STANDARD,), output=output, format=format, db=(db or "") if link else "", **settings)
    if engine:
        return _extract_in_shards(request, engine, workers or os.cpu_count() or 1, shard_size, ray_address, quiet)
    with working("extracting", quiet, beneath=for_eyes) as progress:
        summary = run_extraction(request, progress, _show_as(target, request.only) if target in FOR_PEOPLE else None)
    _say(summary, request, quiet)
    return 1 if summary.failed.count else 0


def _extract_in_shards(
    request: Request, engine: str, workers: int, shard_size: int, ray_address: str, quiet: bool
) -> int:
    from factpin.extraction.engines import Workers
    from factpin.extraction.sharded_run import ShardOptions, run_in_shards

    sharding = ShardOptions(engine, Workers(workers, ray_address), shard_size)
    with working("shards", quiet) as progress:
        summary, failures = run_in_shards(request, sharding, progress)
    _say(summary, request, quiet)
    for failure in failures:
        reason = escape(failure.reason)
        notes().print(f"[red]failed:[/] shard {failure.shard}: {reason} Run the command again to try it again.")
    return 1 if failures else 0


def _say(summary: Summary, request: Request, quiet: bool) -> None:
    if not quiet:
        from factpin.app.show.extract_notes import extract_notes

        for line in extract_notes(summary, request):
            notes().print(line)


def _by_ending(output: Path) -> str:
    ending = "" if is_folder(output) else Path(plain_name(output)).suffix.lower()
    if ending not in BY_ENDING:
        known = ", ".join(filter(None, BY_ENDING))
        raise BadInput(f"{output}: the ending {ending} names no kind of output. Use one of {known}, or add --to.")
    return BY_ENDING[ending]


def _show_as(target: str, only: tuple[str, ...]) -> Show:
    from factpin.app.show.documents import show_documents

    return lambda documents: show_documents(documents, out(), as_table=target == "table", only=only)
