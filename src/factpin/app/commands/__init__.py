"""One file per command. A command parses its options, calls one function below app, and shows the result.

A command is imported when it is asked for: `factpin extract` need not load what `factpin train` needs.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

import click

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


class Commands(Mapping[str, click.Command]):
    """The commands by their names."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in NAMES:
            raise KeyError(name)
        command: click.Command = getattr(import_module(f"factpin.app.commands.{name}"), name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


COMMANDS = Commands()
