"""`factpin onnx`: a model that runs without torch."""

from pathlib import Path

import click

from factpin.app.commands._options import json_option
from factpin.app.console import out, print_json
from factpin.errors import need_torch


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
@json_option
def onnx(model: str, output: Path | None, check: Path | None, full: bool, as_json: bool) -> int:
    """Write the graph of MODEL, so that it runs without torch. Writing it needs torch: pip install 'factpin[train]'.

    The graph has no weights: these are read from model.safetensors, as torch reads them.

    \b
    factpin onnx runs/mine
    factpin onnx runs/mine --check dev.json
    """
    from factpin.models.shipped import find_model

    folder = find_model(model)
    need_torch("A graph is recorded with torch")

    from factpin import formats
    from factpin.models.graphs.write import write_onnx

    documents = list(formats.read(check)) if check else []
    written = write_onnx(folder, output, documents, full=full)
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
    compared = f", {written.documents} documents with equal results" if written.documents else ""
    out().print(
        f"{written.folder}: graph of {written.size / 1024:.0f} KB; scores of random windows differ from torch by at "
        f"most {written.difference:.1g}{compared}",
        soft_wrap=True,
    )
    if written.full:
        out().print(f"{written.full}: graph with weights", soft_wrap=True)
    return 0
