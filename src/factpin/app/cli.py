"""The program `factpin`. Nothing here, and nothing that `--help` needs, imports torch."""

import os
import sys
from collections.abc import Sequence

import click
from rich.console import Console
from rich.markup import escape

from factpin.app.commands import COMMANDS
from factpin.errors import FactpinError, did_you_mean


class Commands(click.Group):
    """A group that suggests a command where none has the given name."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return COMMANDS.get(cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(
                f"There is no command {args[0]!r}.{did_you_mean(args[0], COMMANDS)} Known: {', '.join(COMMANDS)}."
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda name: name.replace("_", "-"),
    },
)
@click.version_option(package_name="factpin")
def cli() -> None:
    """Turn Chinese and English text into facts that can be checked, with places, scores and evidence."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Errors that a user can cause print one line and exit with code 2, Ctrl-C exits with 130."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch: idle threads should sleep, not spin
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
        with cli.make_context("factpin", words) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except FactpinError as error:
        _fail(str(error))
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        Console(stderr=True).print("stopped", style="yellow")
        sys.exit(130)
    except click.ClickException as error:
        _fail(error.format_message())
    except BrokenPipeError:  # the reader of the output has closed it, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a full disk, a folder without write permission
        _fail(f"{error.filename or 'output'}: {error.strerror or error}. Free some space, or write somewhere else.")


def _fail(message: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]error:[/] {escape(message)}")
    sys.exit(2)
