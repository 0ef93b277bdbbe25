"""Bad records in a file of their own, so that none is lost: one JSON object per record, with the reason."""

from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import orjson

from factpin.errors import BadFile, BadRecord
from factpin.files import write_bytes

BAD_FILE = "bad_file"  # kind of the error of a whole file


def beside(output: Path) -> Path:
    """The rejects file next to an output file; for standard output, in the current folder."""
    return Path("stdout.rejects.jsonl") if str(output) == "-" else output.with_name(f"{output.name}.rejects.jsonl")


class Rejects:
    """A file that is created with the first reject. Use it as a context manager; `keep` fits `Report.on_reject`.

    Without a path there is no file: bad files are named, and a bad record is an error.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.count = 0
        self.named: list[str] = []  # without a path: each bad file, and why
        self._stack = ExitStack()
        self._stream: BinaryIO | None = None

    def __enter__(self) -> "Rejects":
        try:
            if self.path is not None:
                self.path.unlink(missing_ok=True)  # left by an earlier run
        except OSError as error:
            raise BadFile(f"{self.path}: cannot be written ({error.strerror}). Choose another place.") from None
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()  # after an error too: rejects found before it are kept

    def keep(self, error: BadRecord, raw: str) -> None:
        """Write one record."""
        if self.path is None:
            if error.kind != BAD_FILE:
                raise error
            self.name(error.file, error.reason)
            return
        if self._stream is None:
            self._stream = self._stack.enter_context(write_bytes(self.path))
        record = {"file": error.file, "line": error.line, "field": error.field, "reason": error.reason, "record": raw}
        try:
            line = orjson.dumps(record)
        except orjson.JSONEncodeError:  # lone surrogates in the raw record
            line = orjson.dumps({**record, "record": ascii(raw)})
        self._stream.write(line + b"\n")
        self.count += 1

    def name(self, file: str, reason: str) -> None:
        """Count a bad file that is not set aside."""
        self.named.append(f"{file}: {reason}")
        self.count += 1
