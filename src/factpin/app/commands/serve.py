"""`factpin serve`: extraction, the store and the page over HTTP."""

import ipaddress
import sys
from pathlib import Path

import click

from factpin.app.commands._options import device_option, model_option, precision_option, quiet_option
from factpin.app.commands._store import db_option
from factpin.app.console import notes
from factpin.errors import BadFile, BadInput, MissingExtra

SHORTEST_TOKEN = 16


@click.command()
@model_option
@db_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8400, show_default=True, help="Port; 0 for any.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with a token that clients must send. Needed to listen on other addresses than this machine's own.",
)
@click.option("--open", "insecure", is_flag=True, help="Listen on any address without a token.")
@click.option("--allow-origin", "origins", multiple=True, metavar="URL", help="A site whose pages may use the server.")
@click.option("--allow-edits", is_flag=True, help="Let clients edit the store.")
@click.option("--no-page", is_flag=True, help="Serve no page at /.")
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a limit, such as timeout=60 or texts=1000; GET /v1/models lists them.",
)
@device_option
@precision_option
@quiet_option
def serve(
    models: tuple[str, ...],
    db: str | None,
    host: str,
    port: int,
    token_file: Path | None,
    insecure: bool,
    origins: tuple[str, ...],
    allow_edits: bool,
    no_page: bool,
    limits: tuple[str, ...],
    device: str,
    precision: str,
    quiet: bool,
) -> int:
    """Serve extraction, the store and a page over HTTP, by default for this machine alone.

    \b
    factpin serve                                    # http://127.0.0.1:8400
    factpin serve --db kb.db --model zh-facts
    factpin serve --host 0.0.0.0 --token-file token.txt
    """
    token = read_token(token_file) if token_file else None
    local = is_loopback(host)
    if not local and not token and not insecure:
        raise BadInput(
            f"{host} can be reached from other machines. Name a file with a token (--token-file), which clients must "
            f"then send, or insist with --open."
        )
    try:
        from factpin.app.serve.application import create_app
        from factpin.app.serve.run import serve as run
    except ImportError as error:
        raise MissingExtra(f"A server needs {error.name}: pip install 'factpin[serve]'.") from None
    from factpin.app.serve.guard import LOOPBACK, AccessRules
    from factpin.app.serve.limits import read_limits
    from factpin.app.serve.logs import RequestLog
    from factpin.app.serve.service import Service
    from factpin.app.serve.stored import StoreThread
    from factpin.models.shipped import choose_models

    service = Service(choose_models(models), read_limits(limits), device, precision)
    store = StoreThread(db, writable=allow_edits) if db else None
    rules = AccessRules(token, (*LOOPBACK, host) if local else (), origins)
    app, guard = create_app(service, rules, RequestLog(None if quiet else sys.stderr.buffer), store, page=not no_page)
    notes(quiet).print(f"http://{'[' + host + ']' if ':' in host else host}:{port}")
    run(app, guard, host, port)
    return 0


def read_token(path: Path) -> str:
    """The token in a file."""
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: cannot be read as a token ({error}). Write one line of letters and digits.") from None
    if len(token) < SHORTEST_TOKEN or len(token.split()) != 1:
        raise BadFile(
            f"{path}: expected one word of at least {SHORTEST_TOKEN} characters. Make one with: "
            f"python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
