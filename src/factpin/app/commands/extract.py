"""`factpin extract`: raw text to facts, the main job."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from factpin import formats
from factpin.app.console import counting, notes, out
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats import Options, describe
from factpin.pipelines.inputs import KINDS, find_files, read_input

if TYPE_CHECKING:
    from factpin.pipelines.extract import Summary


@click.command()
@click.argument("paths", metavar="[FILES|FOLDER|-]...", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "kind", type=click.Choice(KINDS), help="What the files are; guessed from their endings.")
@click.option("--model", "models", multiple=True, metavar="NAME|FOLDER", help="Several may be chained. "
              "Without it: every shipped model that fits the text's language.")  # fmt: skip
@click.option("--to", "target", type=click.Choice(["jsonl", "table", "brat", "color"]),
              help="Default: color in a terminal, jsonl elsewhere.")  # fmt: skip
@click.option("--output", type=click.Path(path_type=Path),
              help="File to write; for a FOLDER a folder, in which inputs that are done are passed over.")  # fmt: skip
@click.option("--on-overflow", type=click.Choice(["window", "error"]), default="window", show_default=True,
              help="Text longer than a model reads at once: overlapping windows, or an error.")  # fmt: skip
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text files.")
@click.option("--quiet", is_flag=True, help="No notes, no summary.")
def extract(
    paths: tuple[Path, ...], kind: str | None, models: tuple[str, ...], target: str | None, output: Path | None,
    on_overflow: Literal["window", "error"], encoding: str, quiet: bool,
) -> int:  # fmt: skip
    """Find entities in raw text: files, folders, or standard input.

    \b
    factpin extract report.txt news.html paper.pdf
    echo '谷爱凌出生于旧金山。' | factpin extract - --to table
    factpin extract corpus/ --output found/ --to jsonl
    """
    from factpin.pipelines.extract import Summary, load_models, outputs
    from factpin.pipelines.extract import extract as run

    inputs = list(find_files(list(paths) or [Path("-")]))
    if not inputs:
        raise BadInput(f"{paths[0]}: there is no file in it whose ending is known. Name files, or use --from.")
    target = target or ("color" if output is None and out().is_terminal else "jsonl")
    extractors = load_models(models, on_overflow)
    if not extractors:
        raise BadInput("No model ships with this copy. Train one (`factpin train`), and name it with --model.")
    summary = Summary()

    def documents(count_for: list[tuple[Path, str]]) -> Iterator[Document]:
        for path, id in count_for:
            yield from read_input(path, id, kind, encoding)

    with counting("extracting", quiet) as count:
        if output is not None and any(p.is_dir() for p in paths) and target == "jsonl":
            todo = [(path, id) for path, id in inputs if not outputs(output, id).exists()]
            for path, id in todo:
                formats.write(run(documents([(path, id)]), extractors, summary, count), outputs(output, id))
            if len(todo) < len(inputs):
                notes(quiet).print(f"{len(inputs) - len(todo):,} inputs were done before")
        else:
            _write(run(documents(inputs), extractors, summary, count), target, output, quiet)
    if not quiet:
        _summarise(summary)
    return 0


def _write(found: Iterator[Document], target: str, output: Path | None, quiet: bool) -> None:
    from factpin.pipelines.highlight import highlight, table

    if target == "jsonl":
        formats.write(found, output or Path("-"), format="jsonl")
    elif target == "brat":
        if output is None:
            raise BadInput("brat is a folder of files: name it with --output.")
        lost = formats.write(found, output, format="brat", options=Options(lossy=True))
        notes(quiet).print(f"[yellow]not held by brat:[/] {describe(lost)}" if lost else "")
    else:
        console = out()
        for doc in found:
            console.print(table(doc) if target == "table" else highlight(doc))


def _summarise(summary: "Summary") -> None:
    console = notes()
    share = summary.read / summary.characters if summary.characters else 1.0
    found = ", ".join(f"{count} {label}" for label, count in sorted(summary.mentions.items())) or "nothing"
    console.print(
        f"[dim]{summary.documents:,} documents, {summary.characters:,} characters, {share:.1%} read in "
        f"{summary.windows:,} windows; found {found}[/]"
    )
    if summary.without_model:
        ids = ", ".join(summary.without_model[:5])
        console.print(f"[yellow]{len(summary.without_model)} documents in a language that no model reads:[/] {ids}")
