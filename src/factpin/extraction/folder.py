"""A folder of results, one file for each input. A run can be stopped at any moment and resumed.

A result has the modification time of its input, so an input that changed (or was replaced by an older file) is read
again. `factpin-run.json` records the models and options that made the folder. A run with others is refused, because
nobody could say which result is whose.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from factpin import files, formats
from factpin.errors import BadFile, BadInput, BadRecord
from factpin.extraction.fingerprint import fingerprint
from factpin.extraction.inputs import Input, rejects_of
from factpin.extraction.read import read_inputs
from factpin.extraction.rejects import Rejects
from factpin.files.lock import NAME as LOCK
from factpin.models.extractor import AHEAD

if TYPE_CHECKING:
    from factpin.extraction.annotator import Annotate

RECORD = "factpin-run.json"
ENDING = ".jsonl"
LONGEST = 255 - len(ENDING)  # bytes of a name, which file systems allow
TOGETHER = AHEAD  # inputs that are read in one batch, as many as of a stream, and the most that a crash loses


@dataclass(frozen=True)
class Run:
    """What makes results comparable: the same models, read in the same way, from the same places."""

    models: list[str]
    inputs: list[str]
    options: list[str]
    factpin: str


def describe_run(models: Sequence[Path], paths: Sequence[Path], options: dict[str, str | None]) -> Run:
    """The run of these models over these paths."""
    places = ["-" if str(path) == "-" else os.fsencode(path.resolve()).decode("utf-8", "replace") for path in paths]
    chosen = [f"--{name} {value}" for name, value in options.items() if value is not None]
    from importlib.metadata import version  # noqa: PLC0415  (slow to import)

    return Run([fingerprint(model) for model in models], places, chosen, version("factpin"))


def open_folder(folder: Path, run: Run) -> None:
    """Create the folder of a run, or check that it belongs to the same run."""
    record = folder / RECORD
    now = asdict(run)
    if not record.is_file():
        if folder.is_dir() and any(file.name != LOCK for file in folder.iterdir()):
            raise BadFile(
                f"{folder}: holds files already, but no {RECORD}, so it is not from an earlier run. Name a new folder."
            )
        with files.write_bytes(record) as stream:
            stream.write(orjson.dumps(now, option=orjson.OPT_INDENT_2) + b"\n")
        return
    try:
        before = orjson.loads(record.read_bytes())
    except orjson.JSONDecodeError as error:
        raise BadFile(f"{record}: not JSON ({error}). Name a new folder.") from None
    for name, value in now.items():
        old = before.get(name) if isinstance(before, dict) else None
        if old != value:
            raise BadInput(
                f"{folder}: its results were made with other {name}: {_join(old)}; now {_join(value)}. "
                f"Name a new folder, so that the two do not mix."
            )
    rejects_of(folder).unlink(missing_ok=True)  # a resumed run reads bad inputs again


def _join(value: object) -> str:
    return (", ".join(map(str, value)) if isinstance(value, list) else str(value)) or "none"


def result_of(folder: Path, source: Input) -> Path:
    """The file for the result of one input, named after the whole input, since a.txt and a.pdf may be neighbours."""
    *parents, name = (files.shortened(part, LONGEST) for part in Path(source.name).parts)
    return folder.joinpath(*parents, f"{name}{ENDING}")


def is_done(folder: Path, source: Input) -> bool:
    """Whether the folder has a result of the input in its current state."""
    result = result_of(folder, source)
    return str(source.path) != "-" and result.is_file() and result.stat().st_mtime_ns == _stamp(source)


def extract_folder(
    inputs: Sequence[Input],
    folder: Path,
    annotate: "Annotate",
    *,
    encoding: str | None = None,
    rejects: Rejects | None = None,
) -> None:
    """Write the results of all inputs. A bad input stops the run; with `rejects` it is set aside or named there.

    An input with rejected records does not count as done: the next run reads it again.
    """
    for group in _groups(inputs):
        stamps = [_stamp(source) for source in group]  # before reading, so that the next run notices a change meanwhile
        for source in group:
            result_of(folder, source).unlink(missing_ok=True)  # out of date, or never finished
        if group[0].has_many:
            if _write_many(group[0], folder, annotate, encoding, rejects):
                _mark_done(folder, group[0], stamps[0])
        else:
            read = [
                (source, stamp, doc)
                for source, stamp in zip(group, stamps, strict=True)
                for doc in read_inputs([source], encoding, rejects)
            ]
            for (source, stamp, _), doc in zip(read, annotate([doc for _, _, doc in read]), strict=True):
                formats.write([doc], result_of(folder, source))
                _mark_done(folder, source, stamp)


def _write_many(
    source: Input, folder: Path, annotate: "Annotate", encoding: str | None, rejects: Rejects | None
) -> bool:
    """Write the result of a file with many documents; returns whether all of it was read."""
    before, result = rejects.count if rejects is not None else 0, result_of(folder, source)
    try:
        formats.write(annotate(read_inputs([source], encoding, rejects)), result)
    except BadRecord as error:
        if rejects is None or rejects.path is not None:
            raise
        rejects.name(f"{error.file}:{error.line}", error.reason)
    if rejects is None or rejects.count == before:
        return True
    if rejects.path is None:
        result.unlink(missing_ok=True)  # a part of the file
    return False


def _mark_done(folder: Path, source: Input, stamp: int) -> None:
    os.utime(result_of(folder, source), ns=(stamp, stamp))


def _groups(inputs: Sequence[Input]) -> Iterator[list[Input]]:
    """Files with one document in groups; files with many one by one."""
    for many, run in groupby(inputs, key=lambda source: source.has_many):
        while group := list(islice(run, 1 if many else TOGETHER)):
            yield group


def _stamp(source: Input) -> int:
    """When an input was changed; 0 for standard input, and for a file that is gone, which is named when it is read."""
    try:
        return 0 if str(source.path) == "-" else source.path.stat().st_mtime_ns
    except OSError:
        return 0
