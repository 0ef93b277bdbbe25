"""`factpin doctor`: what is in a corpus and what is wrong with it."""

from pathlib import Path
from typing import Any

import click

from factpin.app.console import FORMAT, counting, notes, out, print_json
from factpin.app.show.doctor_table import render
from factpin.corpora.doctor import doctor as run
from factpin.corpora.vocabulary import Vocabulary
from factpin.documents import read_schema, write_schema
from factpin.documents.schema import SchemaLearner
from factpin.formats import Options
from factpin.tokens import Tokenizer


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", type=FORMAT, help="Format of the files; guessed where it can be.")
@click.option(
    "--tokenizer", type=click.Path(path_type=Path), help="Folder or name of an encoder: check its tokenizer too."
)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), help="TOML schema to check against.")
@click.option(
    "--learn-schema", "learn_schema_to", type=click.Path(path_type=Path), help="Write the schema that the corpus shows."
)
@click.option("--occurrences", type=click.Choice(["first", "nearest", "all"]), default="first", show_default=True,
              help="Which mention a string without offsets means (duie, triples, uie).")  # fmt: skip
@click.option("--fragments", type=click.Choice(["refuse", "merge"]), default="refuse", show_default=True,
              help="Discontinuous mentions (brat).")  # fmt: skip
@click.option("--utf16", is_flag=True, help="Offsets as JavaScript counts them (doccano, labelstudio).")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the files.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def doctor(
    paths: tuple[Path, ...], source_format: str | None, tokenizer: Path | None, schema_file: Path | None,
    learn_schema_to: Path | None, as_json: bool, quiet: bool, **choices: Any,
) -> int:  # fmt: skip
    """Examine corpora before training. Exit code 1 where something must be fixed.

    \b
    factpin doctor train.json dev.json                      the same text in both is a leak
    factpin doctor train.json --tokenizer encoders/m3e-zh   spans that its pieces cannot represent
    """
    options = Options(**choices)
    schema = read_schema(schema_file) if schema_file else None
    vocabulary = Vocabulary(Tokenizer.load(_folder(tokenizer))) if tokenizer else None
    learner = SchemaLearner() if learn_schema_to else None
    with counting("examining", quiet or as_json) as count:
        report = run(paths, source_format=source_format, options=options, schema=schema, vocabulary=vocabulary,
                     learner=learner, on_document=count)  # fmt: skip
    if learner and learn_schema_to:
        write_schema(learner.schema(), learn_schema_to)
        notes(quiet or as_json).print(f"schema written to {learn_schema_to}")
    if as_json:
        print_json(report)
    else:
        out().print(render(report))
    return 0 if report["ok"] else 1


def _folder(tokenizer: Path) -> Path:
    """A folder, or the name of an encoder of the catalogue."""
    if tokenizer.is_dir():
        return tokenizer
    from factpin.encoders.resolve import resolve

    return resolve(tokenizer)
