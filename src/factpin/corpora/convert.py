"""Convert a corpus to another format, one document at a time: memory does not grow with the file."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from factpin import formats
from factpin.corpora.rename import Renaming
from factpin.documents import Document
from factpin.extraction.rejects import Rejects, beside
from factpin.files import refuse_same
from factpin.formats import Options, Report
from factpin.formats.docred_result import write_result

RESULT = "docred_result"  # DocRED's result.json: written from documents, read only together with gold (evaluate)


@dataclass(frozen=True)
class Conversion:
    """What was written, and what the target could not hold."""

    documents: int
    source_format: str
    target_format: str
    lost: Counter[str]
    report: Report
    rejects: Path | None
    renamed: tuple[str, ...] = ()  # notes about what the table of names changed, and names missing in it


def convert(
    source: Path,
    target: Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    options: Options | None = None,
    rename: Mapping[str, str] | None = None,
    on_document: Callable[[], None] = lambda: None,
) -> Conversion:
    """Read the source and write the target, completely or not at all. `rename` is a table of names."""
    options = options or Options()
    refuse_same(source, target)
    source_format = source_format or formats.guess(source, options.encoding)
    target_format = target_format or formats.guess_by_name(target)
    renaming = Renaming(rename or {})
    written = 0

    def counted(documents: Iterator[Document]) -> Iterator[Document]:
        nonlocal written
        for doc in documents:
            yield renaming.rename(doc) if rename else doc
            written += 1
            on_document()

    with Rejects(beside(target)) as rejects:
        report = Report(on_reject=rejects.keep)
        documents = formats.read(source, format=source_format, options=options, report=report)
        writing = replace(options, encoding="utf-8")
        if target_format == RESULT:
            write_result(counted(documents), target)  # only facts, as leaderboards take them
            lost = Counter[str]()
        else:
            lost = formats.write(counted(documents), target, format=target_format, options=writing)
    return Conversion(written, source_format, target_format, lost, report, rejects.path if rejects.count else None,
                     tuple(renaming.notes()))  # fmt: skip
