"""Documents from files: text, Markdown, JSONL, HTML and PDF.

Offsets count characters of the text that was read: of the whole file for text and Markdown, markup included, and of the
extracted text for HTML and PDF. `meta.pages` has the [start, end] of each page of a PDF.
"""

from collections.abc import Iterable, Iterator

from factpin import files, formats
from factpin.documents import Document
from factpin.errors import BadDocument, BadFile, BadRecord
from factpin.extraction.html import read_html
from factpin.extraction.inputs import Input
from factpin.extraction.pdf import PAGE_BREAK, page_spans, read_pdf
from factpin.extraction.rejects import Rejects
from factpin.files import readable
from factpin.formats import Options, Report


def read_inputs(
    inputs: Iterable[Input],
    encoding: str | None = None,
    rejects: Rejects | None = None,
    only: files.LineRange | None = None,
) -> Iterator[Document]:
    """The documents of all files. A bad one is an error; with `rejects` it is set aside there.

    only: read these lines of a JSONL file.
    """
    for source in inputs:
        try:
            yield from read_input(source, encoding, rejects, only)
        except (BadFile, BadRecord, BadDocument) as error:
            if rejects is None:
                raise
            rejects.keep(as_record(error, source), "")


def as_record(error: BadFile | BadRecord | BadDocument, source: Input) -> BadRecord:
    """The error of a whole file, as a record for the rejects."""
    if isinstance(error, BadRecord):
        return error
    reason = str(error).removeprefix(f"{source.path}: ")
    return BadRecord(reason, file=readable(str(source.path)), line=1, kind="bad_file")


def read_input(
    source: Input,
    encoding: str | None = None,
    rejects: Rejects | None = None,
    only: files.LineRange | None = None,
) -> Iterator[Document]:
    """The documents of one file. encoding: by default UTF-8, or what an HTML page declares."""
    match source.kind:
        case "jsonl":
            options = Options(encoding=encoding or "utf-8", skip_bad=rejects is not None, only=only)
            report = Report(on_reject=rejects.keep if rejects is not None else None)
            yield from formats.read(source.path, format="jsonl", options=options, report=report)
        case "html":
            yield _document(source, read_html(source.path, encoding), {})
        case "pdf":
            pages = read_pdf(source.path)
            yield _document(source, PAGE_BREAK.join(pages), {"pages": page_spans(pages)})
        case _:
            yield _document(source, files.read_text(source.path, encoding or "utf-8"), {})


def _document(source: Input, text: str, more: dict[str, object]) -> Document:
    origin = {} if str(source.path) == "-" else {"source": readable(str(source.path))}
    return Document(source.id, text, meta={**origin, "kind": source.kind, **more})
