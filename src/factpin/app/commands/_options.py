"""Options that several commands share."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from factpin.app.console import FORMAT, Names
from factpin.errors import BadInput
from factpin.extraction.inputs import KINDS
from factpin.formats import FORMATS

F = TypeVar("F", bound=Callable[..., Any])


class Score(click.FloatRange):
    """A number from 0 to 1; click's range lets nan pass."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        score = float(super().convert(value, param, ctx))
        if math.isnan(score):
            self.fail(f"{value} is not in the range 0<=x<=1.", param, ctx)
        return score


class GivenPath(click.Path):
    """A path or `-`. An empty one, as of a variable that is not set, would be the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            raise BadInput("A path is empty. Name a file or folder; `.` is the current folder.")
        return super().convert(value, param, ctx)


TARGET = Names("format", sorted([*FORMATS, "docred_result"]))  # DocRED's result.json, which needs gold to be read

source_argument = click.argument("source", metavar="IN", type=GivenPath())
target_argument = click.argument("target", metavar="OUT", type=GivenPath())
inputs_argument = click.argument("inputs", metavar="[FILES|FOLDER|-]...", nargs=-1, type=GivenPath())
kind_option = click.option(
    "--from",
    "kind",
    type=Names("kind of input", list(KINDS)),
    metavar="|".join(KINDS),
    help="What the files are; by default according to their endings. Standard input is one text.",
)
column_option = click.option(
    "--column",
    default="",
    metavar="NAME|NUMBER",
    help="Column of CSV and TSV files with the texts; a number from 1 if the first row has no names.  [default: text]",
)
model_option = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME|FOLDER",
    help="A model; may be given several times. By default every shipped model for the language of the text.",
)
overflow_option = click.option(
    "--on-overflow",
    type=click.Choice(["window", "error"]),
    default="window",
    show_default=True,
    help="What to do with texts longer than a model reads at once: read overlapping windows, or stop.",
)
_precision = click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "bf16", "int8"]),
    default="auto",
    show_default=True,
    help="How models compute: auto is float32. bf16 (torch) and int8 (onnxruntime) are faster and change some results; "
    "the card of a shipped model says how many.",
)
_bf16 = click.option("--bf16", "precision", flag_value="bf16", help="The same as --precision bf16.")


def precision_option(command: F) -> F:
    """--precision, and --bf16 as in version 0.1."""
    return _precision(_bf16(command))


device_option = click.option(
    "--device", default="cpu", show_default=True, help="Where models run: cpu, cuda, cuda:1, mps."
)
runtime_option = click.option(
    "--runtime",
    type=click.Choice(["auto", "onnx", "torch"]),
    default="auto",
    show_default=True,
    help="What computes models: onnxruntime, torch, or onnxruntime where a model has a graph (`factpin onnx`).",
)
raw_encoding_option = click.option(
    "--encoding", help="Encoding of text files.  [default: utf-8, or what an HTML page declares]"
)
encoding_option = click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the input.")
format_option = click.option("--from", "source_format", type=FORMAT, help="Format of the input; guessed by default.")
target_option = click.option(
    "--to", "target_format", type=TARGET, help="Format of OUT; by default according to its ending."
)
rename_option = click.option(
    "--rename",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='JSON object of names for relations and types, {"P17": "country"}, used in the direction that fits.',
)
fragments_option = click.option(
    "--fragments",
    type=click.Choice(["refuse", "merge"]),
    default="refuse",
    show_default=True,
    help="What to do with discontinuous mentions (brat).",
)
utf16_option = click.option(
    "--utf16", is_flag=True, help="Offsets count UTF-16 units, as in JavaScript (doccano, labelstudio)."
)
lossy_option = click.option("--lossy", is_flag=True, help="Write what the format can hold, and count what it cannot.")
skip_records_option = click.option(
    "--skip-bad", is_flag=True, help="Set bad records aside in OUT.rejects.jsonl and continue."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object to standard output.")
quiet_option = click.option("--quiet", is_flag=True, help="Print no notes and no progress.")
threads_option = click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")


def score_option(help: str, default: float | None) -> Callable[[F], F]:
    """--min-score."""
    return click.option("--min-score", type=Score(0, 1), default=default, show_default=default is not None, help=help)


def occurrences_option(default: str) -> Callable[[F], F]:
    """--occurrences."""
    return click.option(
        "--occurrences",
        type=click.Choice(["first", "nearest", "all"]),
        default=default,
        show_default=True,
        help="Which mention a string without offsets refers to (duie, triples, uie).",
    )
