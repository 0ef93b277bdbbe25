"""A corpus in shards: which records belong to which, so that any number of processes can work on them in any order.

The plan is made once and written to the output folder before any work. It depends on the inputs and the size of a shard
only, and a shard is extracted by itself, so its file does not depend on who else was working:

    found/
        factpin-run.json                    models, inputs and options
        factpin-plan.json                   the records of every shard
        part-00000-of-00012.jsonl.zst       the documents of a shard
        part-00000-of-00012.json            its receipt, written after it: the shard is done
        factpin-done.json                   written last: the counts of the whole run
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from factpin import files
from factpin.errors import BadFile, BadInput
from factpin.extraction.inputs import Input
from factpin.extraction.summary import Summary

PLAN = "factpin-plan.json"
DONE = "factpin-done.json"
SIZE = 2000  # records of a shard


@dataclass(frozen=True)
class Records:
    """Records of one input."""

    input: Input
    lines: files.LineRange | None = None  # of a JSONL file; None: the whole input, which is one document


@dataclass(frozen=True)
class Shard:
    """Records that are extracted together and written to one file."""

    number: int
    of: int
    parts: tuple[Records, ...]

    @property
    def name(self) -> str:
        """The name of its files, without their endings."""
        return f"part-{self.number:05d}-of-{self.of:05d}"

    def result(self, folder: Path) -> Path:
        """The file of its documents."""
        return folder / f"{self.name}.jsonl.zst"

    def receipt(self, folder: Path) -> Path:
        """The file that says that the shard is done."""
        return folder / f"{self.name}.json"

    def rejects(self, folder: Path) -> Path:
        """The file of its bad records."""
        return folder / f"{self.name}.rejects.jsonl"


@dataclass(frozen=True)
class Receipt:
    """What was written for a shard."""

    shard: int
    bytes: int
    sha256: str
    summary: Summary


def open_plan(folder: Path, inputs: Sequence[Input], size: int, encoding: str | None = None) -> list[Shard]:
    """The shards of the plan in the folder, after a check that its inputs have not changed; or a new plan."""
    place = folder / PLAN
    states = [_state(source) for source in inputs]
    if not place.is_file():
        shards = plan(inputs, size, encoding)
        with files.write_bytes(place) as stream:
            stream.write(orjson.dumps({"inputs": states, "shards": _rows(shards, inputs)}))
        return shards
    try:
        record = orjson.loads(place.read_bytes())
        before, rows = record["inputs"], record["shards"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise BadFile(f"{place}: not a plan of this program. Name a new folder.") from None
    _refuse_change(folder, before, states)
    return [
        Shard(
            number,
            len(rows),
            tuple(Records(inputs[i], files.LineRange(*lines) if lines else None) for i, *lines in row),
        )
        for number, row in enumerate(rows)
    ]


def check_inputs(folder: Path, inputs: Sequence[Input]) -> None:
    """Refuse inputs that are not as they were when the plan was made."""
    _refuse_change(folder, orjson.loads((folder / PLAN).read_bytes())["inputs"], [_state(source) for source in inputs])


def plan(inputs: Sequence[Input], size: int, encoding: str | None = None) -> list[Shard]:
    """Shards of `size` records, in order; only the last may be smaller."""
    rows: list[list[Records]] = []
    room = 0
    for part in _pieces(inputs, size, encoding):
        count = part.lines.count if part.lines else 1
        if count > room:
            rows.append([])
            room = size
        rows[-1].append(part)
        room -= count
    return [Shard(number, len(rows), tuple(parts)) for number, parts in enumerate(rows)]


def _pieces(inputs: Sequence[Input], size: int, encoding: str | None) -> Iterator[Records]:
    """Inputs as they are; JSONL files in ranges of at most `size` lines."""
    for source in inputs:
        if source.kind != "jsonl":
            yield Records(source)
            continue
        start: tuple[int, int] | None = None
        number = 0
        for number, position, _ in files.byte_lines(source.path, encoding or "utf-8"):
            if (number - 1) % size == 0:
                if start:
                    yield Records(source, files.LineRange(*start, size))
                start = number, position
        if start:
            yield Records(source, files.LineRange(*start, number - start[0] + 1))


def _state(source: Input) -> dict[str, Any]:
    """What an input is recognised by."""
    if str(source.path) == "-":
        raise BadInput("Standard input cannot be read in shards. Write it to a file first.")
    try:
        stat = source.path.stat()
    except FileNotFoundError:
        raise BadInput(f"{source.path}: was removed during the run.") from None
    return {"name": source.name, "kind": source.kind, "bytes": stat.st_size, "changed": stat.st_mtime_ns}


def _rows(shards: Sequence[Shard], inputs: Sequence[Input]) -> list[list[list[int]]]:
    """Parts as [input] or [input, first line, its position, lines]."""
    index = {source: i for i, source in enumerate(inputs)}
    return [
        [[index[part.input], *(asdict(part.lines).values() if part.lines else ())] for part in shard.parts]
        for shard in shards
    ]


def _refuse_change(folder: Path, before: Sequence[dict[str, Any]], now: Sequence[dict[str, Any]]) -> None:
    if now != before:
        raise BadInput(
            f"{folder}: {_first_change(before, now)} since this run began. Name a new folder, so that old and new "
            f"results do not mix."
        )


def _first_change(before: Sequence[dict[str, Any]], now: Sequence[dict[str, Any]]) -> str:
    old, new = ({state["name"]: state for state in states} for states in (before, now))
    for name in [*new, *old]:
        if name not in old:
            return f"{name} was added"
        if name not in new:
            return f"{name} was removed"
        if old[name] != new[name]:
            return f"{name} has changed"
    return "the order of the inputs has changed"


def write_receipt(folder: Path, shard: Shard, receipt: Receipt) -> None:
    """Mark a shard as done."""
    record = {"shard": receipt.shard, "bytes": receipt.bytes, "sha256": receipt.sha256}
    record["summary"] = receipt.summary.to_json()
    with files.write_bytes(shard.receipt(folder)) as stream:
        stream.write(orjson.dumps(record))


def read_receipt(folder: Path, shard: Shard) -> Receipt | None:
    """The receipt of a shard that is done; None if it is not, or if its file was damaged since."""
    result = shard.result(folder)
    try:
        record = orjson.loads(shard.receipt(folder).read_bytes())
        receipt = Receipt(**{**record, "summary": Summary.from_json(record["summary"])})
        whole = result.stat().st_size == receipt.bytes and digest(result) == receipt.sha256
        return receipt if whole else None
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
