"""The program `factpin`. Nothing here, and nothing that `--help` needs, imports torch."""

import atexit
import contextlib
import errno
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Sequence

import click

from factpin.app.commands import COMMANDS
from factpin.errors import FactpinError, did_you_mean
from factpin.files.limits import LIMIT, size_of

GARBAGE = 100_000  # new objects before Python looks for circles among them: loading makes many, and none is garbage
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


atexit.register(gc.freeze)  # what is left ends with the process: Python need not search it once more


class CommandGroup(click.Group):
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
    cls=CommandGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda name: name.replace("_", "-"),
    },
)
@click.option(
    "--max-record",
    metavar="SIZE",
    help="The most that one line, record or text may have once it is unpacked, such as 2G.  [default: 256M]",
)
@click.version_option(package_name="factpin")
def cli(max_record: str | None) -> None:
    """Turn Chinese and English text into facts that can be checked, with places, scores and evidence."""
    if max_record is not None:
        os.environ[LIMIT] = str(size_of(max_record))


class StopSignal(KeyboardInterrupt):
    """A signal that asks the program to end: what Ctrl-C does happens then too."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def _catch_signals() -> None:
    """Turn SIGTERM and SIGHUP into exceptions, so that temporary files are removed and rejects are kept."""

    def stop(number: int, _frame: object) -> None:
        raise StopSignal(number)

    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, stop)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Errors that a user can cause print one line and exit with code 2; a signal exits with 128 + it."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch: idle threads should sleep, not spin
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    gc.set_threshold(GARBAGE)
    _catch_signals()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may hold bytes that are not UTF-8
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
    except StopSignal as stop:
        _say_stopped()
        sys.exit(128 + stop.number)
    except (click.Abort, KeyboardInterrupt):
        _say_stopped()
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:  # a group of commands alone, such as `factpin store`
        print(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(error.format_message())
    except BrokenPipeError:  # the reader of the output has closed it, as `head` does
        _abandon_output()
        sys.exit(0)
    except OSError as error:  # a full disk, a folder without write permission
        _abandon_output()
        todo = "Free some space, or write somewhere else." if error.errno in FULL else "Check the path."
        _fail(f"{error.filename or 'output'}: {error.strerror or error}. {todo}")
    except MemoryError:
        _abandon_output()
        _fail("There is not enough memory for this. Give smaller files, or shorter texts.")


def _abandon_output() -> None:
    """What could not be written is not tried again when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_stopped() -> None:
    from rich.console import Console  # noqa: PLC0415

    Console(stderr=True).print("stopped", style="yellow")


def _fail(message: str) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415

    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[bold red]error:[/] {escape(message)}")
    sys.exit(2)
