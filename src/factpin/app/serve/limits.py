"""How much a server takes at once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from factpin.errors import BadInput, pick


@dataclass(frozen=True)
class Limits:
    """Bounds on requests. What is larger gets 413, and what there is no room for now gets 429."""

    body_bytes: int = 8_000_000
    file_bytes: int = 32_000_000  # of an uploaded file
    line_bytes: int = 2_000_000  # of one line of a stream
    texts: int = 256  # in one request
    characters: int = 400_000  # of one text
    pages: int = 400  # of a PDF
    waiting_requests: int = 512
    waiting_characters: int = 4_000_000
    timeout: float = 30.0  # seconds until a waiting request gives up, and for a client to send its body
    grace: float = 20.0  # seconds for requests under way when the server stops
    batch_characters: int = 8_000  # that the models read together
    jobs: int = 16  # in memory at once
    job_texts: int = 10_000
    job_seconds: float = 3600.0  # that a finished job is kept
    streams: int = 32  # at once
    file_readers: int = 2  # processes that read files at once
    file_seconds: float = 20.0  # for reading a file
    file_memory: int = 1_500_000_000  # bytes, for reading a file


def read_limits(changes: Sequence[str]) -> Limits:
    """The limits, with changes such as timeout=60."""
    limits = Limits()
    for change in changes:
        given, _, value = change.partition("=")
        name = given.strip().replace("-", "_")
        default = pick(asdict(limits), name, kind="limit")
        try:
            number = type(default)(value)
        except ValueError:
            raise BadInput(f"--limit {change}: expected {name}=NUMBER, such as {name}={default}.") from None
        if not 0 < number < float("inf"):
            raise BadInput(f"--limit {change}: expected a number above 0.")
        limits = replace(limits, **{name: number})
    return limits
