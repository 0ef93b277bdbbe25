"""The options of an extraction in shards."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from factpin.app.console import Names

F = TypeVar("F", bound=Callable[..., Any])
NAMES = ("here", "processes", "ray")  # of extraction.engines.ENGINES


def sharding_options(command: F) -> F:
    """--engine, --workers, --shard-size and --ray-address."""
    for option in (
        click.option(
            "--ray-address",
            default="",
            metavar="ADDRESS",
            help="A Ray cluster, such as `auto`.  [default: start one here]",
        ),
        click.option(
            "--shard-size", type=click.IntRange(min=1), default=2000, show_default=True, help="Documents per shard."
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=1),
            help="Processes, or actors of Ray.  [default: one per processor]",
        ),
        click.option(
            "--engine",
            type=Names("engine", list(NAMES)),
            metavar="|".join(NAMES),
            help="Extract a large corpus in shards: one after the other, in several processes, or with Ray. "
            "--output is a folder; run the same command again to resume it.",
        ),
    ):
        command = option(command)
    return command
