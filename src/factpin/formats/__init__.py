"""Read and write corpora: one module per format, each with read, write, lost and fits.

    for doc in read(path): ...                   the format is guessed if possible
    write(documents, path, format="cluener")     FormatLoss if the format cannot hold all annotation

Inclusive ends, token indices and strings without offsets are handled by the format: every reader returns documents with
half-open character offsets.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from factpin.documents import Document
from factpin.errors import BadInput, FormatLoss, did_you_mean, pick
from factpin.formats._broken import json_fault
from factpin.formats._guess import Head, head
from factpin.formats._reading import Note, Options, ReadContext, Report
from factpin.tables import Table
from factpin.words import count

__all__ = ["FORMATS", "Format", "Note", "Options", "ReadContext", "Report", "guess", "losses", "read", "write"]


class Format(Protocol):
    """The functions of the module of a format."""

    ENDING: str
    HOLDS: frozenset[str]

    def read(self, reading: ReadContext) -> Iterator[Document]: ...
    def write(self, documents: Iterable[Document], path: Path, options: Options) -> None: ...
    def lost(self, doc: Document, options: Options) -> Counter[str]: ...
    def fits(self, head: Head) -> bool: ...


FORMATS: Table[Format] = Table(
    {
        "atlop": "factpin.formats.atlop",
        "brat": "factpin.formats.brat",
        "cluener": "factpin.formats.cluener",
        "cmeee": "factpin.formats.cmeee",
        "conll": "factpin.formats.conll",
        "doccano": "factpin.formats.doccano",
        "docred": "factpin.formats.docred",
        "duee": "factpin.formats.duee",
        "duie": "factpin.formats.duie",
        "elevant": "factpin.formats.elevant",
        "jsonl": "factpin.formats.jsonl",
        "labelstudio": "factpin.formats.labelstudio",
        "oneie": "factpin.formats.oneie",
        "parallel": "factpin.formats.parallel",
        "pubtator": "factpin.formats.pubtator",
        "scierc": "factpin.formats.scierc",
        "spacy": "factpin.formats.spacy",
        "spert": "factpin.formats.spert",
        "text": "factpin.formats.text",
        "triples": "factpin.formats.triples",
        "uie": "factpin.formats.uie",
    }
)


NO_ANNOTATION = {"coverage", "language", "scores"}  # what is lost and named, but does not stop the writing
PLURAL = re.compile(r"\b([a-z]{2,}?[a-z])(ies|(?<!s)s)\b(?!\w)")


def guess(path: Path, encoding: str = "utf-8") -> str:
    """Guess the format of a file or folder from its beginning; BadInput if none or several fit."""
    if str(path) == "-":
        return "jsonl"
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BadInput(
            f"{path}: the format of a pipe cannot be guessed, because it cannot be read twice. Give the "
            f"format with --from, or use `-`."
        )
    beginning = head(path, encoding)
    found = [name for name, format in FORMATS.items() if format.fits(beginning)]
    if len(found) == 1:
        return found[0]
    if not found and not beginning.is_folder and not "".join(beginning.lines).strip():
        raise BadInput(f"{path}: the file is empty; expected documents.")
    if not found and (fault := json_fault(beginning)):
        raise BadInput(f"{path}: {fault}. Repair the file: it seems to be cut off or damaged.")
    if not found and (asked := _question_formats(beginning)):
        raise BadInput(f"{path}: expected documents, but the file holds questions ({' or '.join(asked)}). `factpin "
                       f"train` learns a reader, a judge, hops or a generator from these.")  # fmt: skip
    if not found:
        raise BadInput(f"{path}: no format fits its beginning. Name one with --from: {', '.join(FORMATS)}.")
    raise BadInput(f"{path}: could be {' or '.join(found)}. Name one of them with --from.")


def _question_formats(beginning: Head) -> list[str]:
    """The formats of questions that fit."""
    from factpin.formats.questions import QUESTION_FORMATS  # noqa: PLC0415  (imports this package)

    return [name for name, format in QUESTION_FORMATS.items() if format.fits(beginning)]


def guess_by_name(path: Path) -> str:
    """Guess the format to write from the name of a file."""
    name = path.name.removesuffix(".xz").removesuffix(".gz").removesuffix(".zst")
    if str(path) == "-" or name.endswith(".jsonl"):
        return "jsonl"
    stem = name.split(".")[-1]
    if stem in FORMATS:
        return stem
    raise BadInput(
        f"{path}: the format to write is not clear from the name.{did_you_mean(stem, FORMATS)} "
        f"Name it with --to: {', '.join(FORMATS)}."
    )


def read(
    path: Path | str, *, format: str | None = None, options: Options | None = None, report: Report | None = None
) -> Iterator[Document]:
    """Read the documents of a file, one at a time."""
    options = options or Options()
    path = Path(path)
    name = format or guess(path, options.encoding)
    return pick(FORMATS, name, kind="format").read(ReadContext(path, options, report or Report()))


def write(
    documents: Iterable[Document], path: Path | str, *, format: str | None = None, options: Options | None = None
) -> Counter[str]:
    """Write documents. Returns what was lost; without `options.lossy`, losing annotation raises FormatLoss."""
    options = options or Options()
    path = Path(path)
    chosen = pick(FORMATS, format or guess_by_name(path), kind="format")
    lost: Counter[str] = Counter()

    def held() -> Iterator[Document]:
        first: str | None = None
        for doc in documents:
            here = chosen.lost(doc, options)
            lost.update(here)
            if first is None and here.keys() - NO_ANNOTATION:
                first = doc.id
            if options.lossy or first is None:
                yield doc
        if first is not None and not options.lossy:
            raise FormatLoss(
                f"{format or guess_by_name(path)} cannot hold {describe(lost)} (first in document {first!r}). "
                f"Nothing was written. Choose another format, or accept the loss with --lossy."
            )

    chosen.write(held(), path, options)
    return lost


def losses(doc: Document, format: str, options: Options | None = None) -> Counter[str]:
    """What a format would lose of one document."""
    return pick(FORMATS, format, kind="format").lost(doc, options or Options())


def describe(lost: Counter[str]) -> str:
    """`1 fact, 12 scores, coverage of 2 documents`."""
    return ", ".join(_counted(name, number) for name, number in sorted(lost.items()))


def _counted(name: str, number: int) -> str:
    if name in ("coverage", "language"):
        return f"{name} of {count(number, 'document')}"
    if number == 1:
        name = PLURAL.sub(lambda word: word[1] + ("y" if word[2] == "ies" else ""), name, count=1)
    return f"{number:,} {name}"
