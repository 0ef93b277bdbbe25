"""`factpin models`: what ships, and which encoders can be had without a hub."""

from pathlib import Path

import click

from factpin.app.console import notes, out, print_json


@click.command()
@click.option("--encoders", is_flag=True, help="Encoders that can be had without a model hub.")
@click.option("--fetch", "wanted", metavar="NAME", help="Fetch an encoder now; training fetches at need.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="Folder to fetch into.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def models(encoders: bool, wanted: str | None, target: Path | None, as_json: bool) -> int:
    """List the models that ship and what each finds; or the encoders to train on.

    \b
    factpin models
    factpin models --encoders
    factpin models --fetch m3e-zh
    """
    from rich.table import Table

    if wanted:
        from factpin.encoders import fetch, home

        console = notes()
        folder = fetch(wanted, target or home() / wanted, progress=lambda words: console.print(f"[dim]{words}[/]"))
        print_json({"name": wanted, "folder": str(folder)}) if as_json else out().print(str(folder))
        return 0
    if encoders:
        from factpin.encoders import CATALOGUE, home

        rows = [{"name": name, "language": e.language, "shape": e.shape, "licence": e.licence,
                 "fetched": (home() / name).is_dir(), "note": e.note} for name, e in CATALOGUE.items()]  # fmt: skip
    else:
        from factpin.pipelines.shipped import shipped

        rows = [{"name": name, "task": s.task, "language": s.language or "any", "finds": s.finds,
                 "labels": ", ".join(s.labels), "encoder": s.encoder} for name, s in shipped().items()]  # fmt: skip
    if as_json:
        print_json({"encoders" if encoders else "models": rows})
    elif not rows:
        out().print("No model ships with this copy. Train one: factpin train --help")
    else:
        table = Table(*rows[0])
        for row in rows:
            table.add_row(*("yes" if v is True else "" if v is False else str(v) for v in row.values()))
        out().print(table)
    return 0
