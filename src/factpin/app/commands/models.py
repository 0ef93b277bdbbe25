"""`factpin models`: what ships, and which encoders can be had without a hub."""

from pathlib import Path
from typing import Any

import click

from factpin.app.console import notes, out, print_json
from factpin.errors import BadInput

SOME = 12  # labels that are shown


@click.command()
@click.option("--encoders", is_flag=True, help="Encoders that can be had without a model hub.")
@click.option("--fetch", "wanted", metavar="NAME", help="Fetch an encoder now; training fetches at need.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="Folder to fetch into.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option("--quiet", is_flag=True, help="No notes.")
def models(encoders: bool, wanted: str | None, target: Path | None, as_json: bool, quiet: bool) -> int:
    """List the models that ship and what each finds; or the encoders to train on.

    \b
    factpin models
    factpin models --encoders
    factpin models --fetch m3e-zh
    """
    if target is not None and not wanted:
        raise BadInput("--to says where to fetch an encoder. Name it: --fetch NAME (`factpin models --encoders`).")
    if wanted:
        from factpin.encoders import CATALOGUE, fetch, home

        name = wanted.replace("_", "-") if wanted not in CATALOGUE else wanted
        console = notes(quiet)
        folder = fetch(name, target or home() / name, progress=lambda words: console.print(words, style="dim"))
        if as_json:
            print_json({"name": name, "folder": str(folder), "licence": CATALOGUE[name].licence})
        else:
            click.echo(str(folder))
        return 0
    rows = _encoders() if encoders else _shipped()
    if as_json:
        print_json({"encoders" if encoders else "models": rows})
    elif not rows:
        out().print("No model ships with this copy. Train one: factpin train --help")
    else:
        _show(rows)
    return 0


def _shipped() -> list[dict[str, Any]]:
    from factpin.models.shipped import find_model, shipped

    return [{"name": name, "task": s.task, "language": s.language or "any", "finds": s.finds, "labels": s.labels,
             "encoder": s.encoder, "folder": str(find_model(name))} for name, s in shipped().items()]  # fmt: skip


def _encoders() -> list[dict[str, Any]]:
    from factpin.encoders import CATALOGUE, home
    from factpin.encoders.fetch import READY

    fetched = {name: (home() / name / READY).is_file() for name in CATALOGUE}
    return [{"name": name, "language": e.language, "shape": e.shape, "licence": e.licence, "may_ship": e.ships,
             "fetched": fetched[name], "note": e.note} for name, e in CATALOGUE.items()]  # fmt: skip


def _show(rows: list[dict[str, Any]]) -> None:
    """A name and what there is to know of it, in few enough columns for a terminal of 80."""
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, show_lines=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for row in rows:
        table.add_row(row["name"], Text("\n".join(_lines(row))))
    out().print(table)


def _lines(row: dict[str, Any]) -> list[str]:
    if "task" in row:
        labels = row["labels"]
        more = f" … {len(labels)} in all (--json)" if len(labels) > SOME else ""
        return [row["finds"], ", ".join(labels[:SOME]) + more,
                f"{row['task']}; language: {row['language']}; encoder: {row['encoder']}"]  # fmt: skip
    ships = "may ship" if row["may_ship"] else "may not ship"
    return [f"{row['shape']}; language: {row['language']}", row["note"], f"licence: {row['licence']}; {ships}",
            "fetched" if row["fetched"] else "not fetched yet"]  # fmt: skip
