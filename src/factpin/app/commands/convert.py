"""`factpin convert`: corpus to corpus, streaming."""

from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from factpin.app.console import FORMAT, Names, counting, notes, print_json
from factpin.corpora.convert import RESULT
from factpin.corpora.convert import convert as run
from factpin.corpora.rename import read_names
from factpin.formats import FORMATS, Options, describe

TARGET = Names("format", sorted([*FORMATS, RESULT]))


@click.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", type=FORMAT, help="Format of IN; guessed where it can be.")
@click.option("--to", "target_format", type=TARGET, help="Format of OUT; guessed from its ending.")
@click.option("--lossy", is_flag=True, help="Write what the format can hold, and count what it cannot.")
@click.option("--skip-bad", is_flag=True, help="Set bad records aside in OUT.rejects.jsonl and go on.")
@click.option("--utf16", is_flag=True, help="Offsets as JavaScript counts them (doccano, labelstudio).")
@click.option("--occurrences", type=click.Choice(["first", "nearest", "all"]), default="first", show_default=True,
              help="Which mention a string without offsets means (duie, triples, uie).")  # fmt: skip
@click.option("--fragments", type=click.Choice(["refuse", "merge"]), default="refuse", show_default=True,
              help="Discontinuous mentions (brat).")  # fmt: skip
@click.option("--scheme", type=click.Choice(["bio", "bioes", "bmes"]), default="bio", show_default=True,
              help="Tags to write (conll, parallel).")  # fmt: skip
@click.option("--rename", type=click.Path(path_type=Path), metavar="FILE",
              help='JSON object of names for relations and types, {"P17": "country"}, read in the direction that '
              "fits.")  # fmt: skip
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of IN.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def convert(
    source: Path, target: Path, source_format: str | None, target_format: str | None, rename: Path | None,
    as_json: bool, quiet: bool, **choices: Any,
) -> int:  # fmt: skip
    """Convert a corpus from one format to another.

    \b
    factpin convert train.json train.jsonl                  CLUENER to the native format
    factpin convert corpus.jsonl corpus --to brat --lossy   and count what brat cannot hold
    factpin convert found.jsonl result.json --to docred_result --rename rel_info.json
    """
    table = read_names(rename) if rename else None
    with counting("converting", quiet or as_json) as count:
        done = run(source, target, source_format=source_format, target_format=target_format,
                   options=Options(**choices), rename=table, on_document=count)  # fmt: skip
    if as_json:
        print_json({"documents": done.documents, "from": done.source_format, "to": done.target_format,
                    "lost": done.lost, "noted": done.report.counts, "rejected": done.report.rejected,
                    "rejects": done.rejects and str(done.rejects), "renamed": done.renamed})  # fmt: skip
        return 0
    console = notes(quiet)
    console.print(f"{done.documents:,} documents, {done.source_format} to {done.target_format}: {target}")
    for note in done.renamed:
        console.print(f"[yellow]names:[/] {escape(note)}")
    if done.lost:
        console.print(f"[yellow]not held by {done.target_format}:[/] {describe(done.lost)}")
    for kind, number in done.report.counts.items():
        console.print(f"[yellow]noted:[/] {number:,} {kind.replace('_', ' ')}")
    if done.rejects:
        console.print(f"[red]set aside:[/] {done.report.rejected:,} bad records in {done.rejects}")
    return 0
