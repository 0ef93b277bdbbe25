"""`factpin doctor`: what is in a corpus and what is wrong with it."""

from pathlib import Path
from typing import Any

import click

from factpin.app.commands._options import (
    GivenPath,
    encoding_option,
    format_option,
    fragments_option,
    json_option,
    occurrences_option,
    quiet_option,
    utf16_option,
)
from factpin.app.console import counting, notes, out, print_json
from factpin.formats import Options


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=GivenPath())
@format_option
@click.option(
    "--tokenizer", type=click.Path(path_type=Path), help="Check the tokenizer of an encoder too: its folder or name."
)
@click.option("--schema", type=click.Path(path_type=Path), help="TOML schema to check against.")
@click.option("--learn-schema", type=click.Path(path_type=Path), help="Write the schema that the corpus shows.")
@occurrences_option("first")
@fragments_option
@utf16_option
@encoding_option
@json_option
@quiet_option
def doctor(
    paths: tuple[Path, ...],
    source_format: str | None,
    tokenizer: Path | None,
    schema: Path | None,
    learn_schema: Path | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> int:
    """Examine corpora before training. Exit code 1 where something needs fixing.

    \b
    factpin doctor train.json dev.json                      the same text in both is a leak
    factpin doctor train.json --tokenizer encoders/m3e-zh   spans that its pieces cannot represent
    """
    from factpin.app.show.doctor_table import render
    from factpin.corpora.examine import Examination, examine

    examination = Examination(schema, tokenizer, learn_schema)
    with counting("examining", quiet or as_json) as count:
        report = examine(paths, examination, source_format=source_format, options=Options(**choices), on_document=count)
    if learn_schema:
        notes(quiet or as_json).print(f"schema written to {learn_schema}", markup=False)
    if as_json:
        print_json(report)
    else:
        out().print(render(report))
    return 0 if report["ok"] else 1
