"""A folder of results, one file for each input, that can be stopped at any moment and taken up again.

A result carries the time stamp of the input that it was made from, so that a changed input (also one that was replaced
by an older file) is read again. `factpin-run.json` says which models and options made the folder; others are refused,
because results of two kinds side by side would look like one.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import groupby, islice
from pathlib import Path

import orjson

from factpin import files, formats
from factpin.documents.likely import LIKELY
from factpin.errors import BadFile, BadInput
from factpin.extraction.extract import Summary, extract
from factpin.extraction.fingerprint import fingerprint
from factpin.extraction.inputs import Input, read_inputs, rejects_of
from factpin.extraction.rejects import Rejects
from factpin.models.extractor import Extractor

RECORD = "factpin-run.json"
TOGETHER = 32  # inputs that are read in common batches; what a crash loses


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
    return Run([fingerprint(model) for model in models], places, chosen, version("factpin"))


def begin(folder: Path, run: Run) -> None:
    """Set up the folder of a run, or check that it is of the same run."""
    record = folder / RECORD
    now = asdict(run)
    if not record.is_file():
        if folder.is_dir() and any(folder.iterdir()):
            raise BadFile(f"{folder}: holds files already, but no {RECORD}: it is of no earlier run. Name a new one.")
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
            raise BadInput(f"{folder}: its results were made with other {name.replace('_', ' ')}: {_words(old)}; "
                           f"now {_words(value)}. Name a new folder, so that they do not mix.")  # fmt: skip
    rejects_of(folder).unlink(missing_ok=True)  # what is still bad is set aside anew


def _words(value: object) -> str:
    return (", ".join(map(str, value)) if isinstance(value, list) else str(value)) or "none"


def result_of(folder: Path, source: Input) -> Path:
    """Where the result of one input goes: the input's whole name, since a.txt and a.pdf may lie side by side."""
    return folder / f"{source.name}.jsonl"


def is_done(folder: Path, source: Input) -> bool:
    """Whether the folder holds the result of the input as it is now."""
    result = result_of(folder, source)
    return str(source.path) != "-" and result.is_file() and result.stat().st_mtime_ns == _stamp(source)


def extract_folder(  # noqa: PLR0913
    inputs: Sequence[Input],
    folder: Path,
    models: Sequence[Extractor],
    *,
    encoding: str | None = None,
    rejects: Rejects | None = None,
    summary: Summary | None = None,
    on_document: Callable[[], None] = lambda: None,
    least: float = LIKELY,
    gather: bool = False,
) -> None:
    """Write the results of all inputs. What is bad stops the run, or is set aside where `rejects` is given.

    An input of which something was set aside is not done: the next run reads it again and sets it aside again.
    """
    for group in _groups(inputs):
        stamps = [_stamp(source) for source in group]  # before reading: a change meanwhile is found by the next run
        for source in group:
            result_of(folder, source).unlink(missing_ok=True)  # out of date, or never finished
        if group[0].kind == "jsonl":
            rejected = rejects.count if rejects is not None else 0
            documents = read_inputs(group, encoding, rejects)
            found = extract(documents, models, summary, on_document, least, gather=gather)
            formats.write(found, result_of(folder, group[0]))
            if rejects is None or rejects.count == rejected:
                _mark_done(folder, group[0], stamps[0])
        else:
            read = [(source, stamp, doc) for source, stamp in zip(group, stamps, strict=True)
                    for doc in read_inputs([source], encoding, rejects)]  # fmt: skip
            found = extract((doc for _, _, doc in read), models, summary, on_document, least, gather=gather)
            for (source, stamp, _), doc in zip(read, found, strict=True):
                formats.write([doc], result_of(folder, source))
                _mark_done(folder, source, stamp)


def _mark_done(folder: Path, source: Input, stamp: int) -> None:
    os.utime(result_of(folder, source), ns=(stamp, stamp))


def _groups(inputs: Sequence[Input]) -> Iterator[list[Input]]:
    """Inputs of one document in groups, those of many (JSONL) alone."""
    for many, run in groupby(inputs, key=lambda source: source.kind == "jsonl"):
        while group := list(islice(run, 1 if many else TOGETHER)):
            yield group


def _stamp(source: Input) -> int:
    return 0 if str(source.path) == "-" else source.path.stat().st_mtime_ns
