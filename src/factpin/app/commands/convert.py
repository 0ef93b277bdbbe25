"""`factpin convert`: corpus to corpus, streaming."""

from pathlib import Path
from typing import Any

import click

from factpin.app.commands._options import (
    encoding_option,
    format_option,
    fragments_option,
    json_option,
    lossy_option,
    occurrences_option,
    quiet_option,
    rename_option,
    skip_records_option,
    source_argument,
    target_argument,
    target_option,
    utf16_option,
)
from factpin.app.console import counting, notes, print_json
from factpin.formats import Options


@click.command()
@source_argument
@target_argument
@format_option
@target_option
@lossy_option
@skip_records_option
@utf16_option
@occurrences_option("first")
@fragments_option
@click.option(
    "--scheme",
    type=click.Choice(["bio", "bioes", "bmes"]),
    default="bio",
    show_default=True,
    help="Tags to write (conll, parallel).",
)
@rename_option
@encoding_option
@json_option
@quiet_option
def convert(
    source: Path,
    target: Path,
    source_format: str | None,
    target_format: str | None,
    rename: Path | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> int:
    """Convert a corpus from one format to another.

    \b
    factpin convert train.json train.jsonl                  CLUENER to the native format
    factpin convert corpus.jsonl corpus --to brat --lossy   and count what brat cannot hold
    factpin convert found.jsonl result.json --to docred_result --rename rel_info.json
    """
    from factpin.app.show.corpus_notes import convert_notes
    from factpin.corpora.convert import convert as run
    from factpin.corpora.rename import read_names

    names, options = read_names(rename) if rename else None, Options(**choices)
    with counting("converting", quiet or as_json) as count:
        done = run(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            options=options,
            rename=names,
            on_document=count,
        )
    if as_json:
        print_json(
            {
                "documents": done.documents,
                "from": done.source_format,
                "to": done.target_format,
                "lost": done.lost,
                "noted": done.report.counts,
                "rejected": done.report.rejected,
                "rejects": done.rejects and str(done.rejects),
                "renamed": done.renamed,
            }
        )
        return 0
    for line in convert_notes(done, str(target)):
        notes(quiet).print(line)
    return 0
