"""`factpin onnx`: a model that runs without torch."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from factpin.app.commands._options import json_option
from factpin.app.console import Names, out, print_json
from factpin.errors import BadInput, MissingExtra, installed, need_torch
from factpin.formats import FORMATS
from factpin.formats.questions import QUESTION_FORMATS
from factpin.words import count

if TYPE_CHECKING:
    from factpin.models.graphs.int8 import Int8Report
    from factpin.models.graphs.write import GraphReport

GOLD = Names("format", sorted([*FORMATS, *QUESTION_FORMATS]))


@click.command()
@click.argument("model", metavar="MODEL")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Write a copy of the model there, instead of adding to its folder.",
)
@click.option(
    "--check",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Documents in which both runtimes must find the same; a corpus in any format.",
)
@click.option("--full", is_flag=True, help="Write model.onnx too: graph and weights in one file, for other programs.")
@click.option(
    "--precision",
    type=click.Choice(["float32", "int8"]),
    default="float32",
    show_default=True,
    help="int8 adds a second graph, for --precision int8: faster, with somewhat different results.",
)
@click.option(
    "--tune",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="For int8: an annotated corpus, or questions with passages for a reader, on which thresholds are fitted "
    "again; what int8 loses there is printed.",
)
@click.option("--from", "source_format", type=GOLD, help="Format of the file of --check or --tune; guessed by default.")
@json_option
def onnx(
    model: str,
    output: Path | None,
    check: Path | None,
    full: bool,
    precision: str,
    tune: Path | None,
    source_format: str | None,
    as_json: bool,
) -> int:
    """Write the graph of MODEL, so that it runs without torch. Writing it needs torch: pip install 'factpin[train]'.

    The graph has no weights: these are read from model.safetensors, as torch reads them. MODEL may also be an encoder
    for `factpin index --vectors`.

    \b
    factpin onnx runs/mine
    factpin onnx runs/mine --check dev.json
    factpin onnx runs/mine --precision int8 --tune dev.json
    """
    folder = _find(model)
    if source_format and not (check or tune):
        raise BadInput("--from is the format of a file. Name it with --check or --tune.")
    if precision == "int8":
        if output or check or full:
            raise BadInput("--output, --check and --full are of the float32 graph. Leave them out with int8.")
        return _write_int8(folder, tune, source_format, as_json)
    if tune:
        raise BadInput("--tune fits the thresholds of the int8 graph: give --precision int8 as well.")
    need_torch("A graph is recorded with torch")

    written = _write_float32(folder, output, check, source_format, full=full)
    if as_json:
        print_json(
            {
                "folder": str(written.folder),
                "bytes": written.size,
                "difference": written.difference,
                "documents": written.documents,
                "full": written.full and str(written.full),
            }
        )
        return 0
    compared = f", {count(written.documents, 'document')} with equal results" if written.documents else ""
    out().print(
        f"{written.folder}: graph of {written.size / 1024:.0f} KB; scores of random windows differ from torch by at "
        f"most {written.difference:.1g}{compared}",
        soft_wrap=True,
        markup=False,
    )
    if written.full:
        out().print(f"{written.full}: graph with weights", soft_wrap=True, markup=False)
    return 0


def _find(name: str) -> Path:
    """The folder of a model, or of an encoder of the catalogue."""
    from factpin.encoders import CATALOGUE, resolve
    from factpin.models.shipped import find_model

    return resolve(name) if name.replace("_", "-") in CATALOGUE else find_model(name)


def _write_float32(
    folder: Path, output: Path | None, check: Path | None, source_format: str | None, *, full: bool
) -> "GraphReport":
    from factpin import formats
    from factpin.models.graphs.encoder import is_encoder, write_encoder
    from factpin.models.graphs.write import write_onnx

    if not is_encoder(folder):
        return write_onnx(folder, output, list(formats.read(check, format=source_format)) if check else [], full=full)
    if check or full:
        raise BadInput(f"{folder} is an encoder, which finds nothing by itself. Leave --check and --full out.")
    return write_encoder(folder, output)


def _write_int8(folder: Path, tune: Path | None, source_format: str | None, as_json: bool) -> int:
    if not installed("onnx"):
        raise MissingExtra("An int8 graph is written with the package onnx. Install it: pip install onnx")
    written = _int8(folder, tune, source_format)
    if as_json:
        print_json({**asdict(written), "folder": str(written.folder)})
        return 0
    out().print(f"{written.folder}: int8 graph of {written.size / 1024:.0f} KB", soft_wrap=True, markup=False)
    if written.documents:
        read = count(written.documents, "document")
        if _is_reader(folder):
            read = f"{count(written.documents, 'question')} (each half with settings that were fitted on the other)"
        out().print(
            f"F1 on {read}: float32 {100 * written.before:.2f}, int8 "
            f"{100 * written.same:.2f}, int8 with its own thresholds {100 * written.after:.2f}",
            soft_wrap=True,
        )
    return 0


def _int8(folder: Path, tune: Path | None, source_format: str | None) -> "Int8Report":
    from factpin import formats
    from factpin.models.graphs.int8 import write_int8

    if tune is None or not _is_reader(folder):
        return write_int8(folder, list(formats.read(tune, format=source_format)) if tune else [])
    from factpin.formats import questions
    from factpin.training.reader_int8 import write_reader_int8

    return write_reader_int8(folder, list(questions.read(tune, format=source_format)))


def _is_reader(folder: Path) -> bool:
    """Whether a folder has a reader; an encoder has no settings of a model."""
    from factpin.models.settings import read_settings
    from factpin.models.shipped import READER

    return read_settings(folder).task == READER
