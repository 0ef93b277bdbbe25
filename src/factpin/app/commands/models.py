"""`factpin models`: the shipped models, and encoders to train on."""

from pathlib import Path

import click

from factpin.app.commands._options import json_option, quiet_option
from factpin.app.console import notes, out, print_json
from factpin.errors import BadInput


@click.command()
@click.option("--encoders", is_flag=True, help="List encoders that need no model hub.")
@click.option("--fetch", "wanted", metavar="NAME", help="Fetch an encoder now; otherwise training fetches it.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="With --fetch: the folder to fetch into.")
@json_option
@quiet_option
def models(encoders: bool, wanted: str | None, target: Path | None, as_json: bool, quiet: bool) -> int:
    """List the shipped models and what each finds, or encoders to train on.

    \b
    factpin models
    factpin models --encoders
    factpin models --fetch m3e-zh
    """
    if target is not None and not wanted:
        raise BadInput("--to says where to fetch an encoder. Name it: --fetch NAME (`factpin models --encoders`).")
    if wanted:
        return _fetch(wanted, target, as_json, quiet)

    from factpin.app.show.models_table import encoder_rows, model_rows, models_table

    rows = encoder_rows() if encoders else model_rows()
    if as_json:
        print_json({"encoders" if encoders else "models": rows})
    elif not rows:
        out().print("No model ships with this copy. Train one: factpin train --help")
    else:
        out().print(models_table(rows))
    return 0


def _fetch(wanted: str, target: Path | None, as_json: bool, quiet: bool) -> int:
    from factpin.encoders import CATALOGUE, fetch, home

    name = wanted if wanted in CATALOGUE else wanted.replace("_", "-")
    console = notes(quiet)
    folder = fetch(name, target or home() / name, progress=lambda text: console.print(text, style="dim"))
    if as_json:
        print_json({"name": name, "folder": str(folder), "licence": CATALOGUE[name].licence})
    else:
        click.echo(str(folder))
    return 0
