"""One file per command. A command parses its options, calls one function below app, and shows the result.

A command is imported when it is asked for: `factpin extract` need not load what `factpin train` needs.
"""

import click

from factpin.tables import Table

NAMES = (
    "ask",
    "convert",
    "doctor",
    "evaluate",
    "export",
    "extract",
    "generate",
    "index",
    "link",
    "models",
    "onnx",
    "predict",
    "pretrain",
    "serve",
    "store",
    "train",
    "verify",
)  # the file and the function of a command have its name


COMMANDS: Table[click.Command] = Table({name: f"factpin.app.commands.{name}:{name}" for name in NAMES})
