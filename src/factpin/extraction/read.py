"""Documents from files: text, Markdown, JSONL, HTML, PDF, docx, EPUB, CSV and TSV.

Offsets count characters of the text that was read: of the whole file for text and Markdown, markup included, of the
extracted text for HTML, PDF, docx and EPUB, and of a field for CSV and TSV. `meta.pages` has the [start, end] of each
page of a PDF, `meta.chapters` that of each chapter of an EPUB, and `meta.columns` the other fields of a row.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from factpin import files, formats
from factpin.documents import Document
from factpin.errors import BadDocument, BadFile, BadRecord
from factpin.extraction.characters import replace_surrogates
from factpin.extraction.csv_rows import ID, Row, read_rows
from factpin.extraction.docx import read_docx
from factpin.extraction.epub import read_epub
from factpin.extraction.html import read_html
from factpin.extraction.inputs import Input
from factpin.extraction.pdf import PAGE_BREAK, page_spans, read_pdf
from factpin.extraction.rejects import Rejects
from factpin.files import readable
from factpin.formats import Options, Report

OnReject = Callable[[BadRecord, str], None]  # the error, and the raw record where it is known


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
            yield from read_input(source, encoding, rejects.keep if rejects else None, only)
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
    on_reject: OnReject | None = None,
    only: files.LineRange | None = None,
) -> Iterator[Document]:
    """The documents of one file. encoding: by default UTF-8, or what an HTML page declares.

    on_reject: is called with bad records, which are then left out; without it, they are errors.
    """
    match source.kind:
        case "jsonl":
            options = Options(encoding=encoding or "utf-8", skip_bad=on_reject is not None, only=only)
            report = Report(on_reject=on_reject)
            yield from formats.read(source.path, format="jsonl", options=options, report=report)
        case "html":
            yield _document(source, read_html(source.path, encoding), {})
        case "pdf":
            pages = read_pdf(source.path)
            yield _document(source, PAGE_BREAK.join(pages), {"pages": page_spans(pages)})
        case "docx":
            text, title = read_docx(source.path)
            yield _document(source, replace_surrogates(text), _title(title))
        case "epub":
            text, chapters, title = read_epub(source.path)
            yield _document(source, text, {**_title(title), "chapters": chapters})
        case "csv" | "tsv":
            yield from _table(source, encoding, on_reject)
        case _:
            yield _document(source, files.read_text(source.path, encoding or "utf-8"), {})


def _table(source: Input, encoding: str | None, on_reject: OnReject | None) -> Iterator[Document]:
    for row in read_rows(source.path, source.kind, source.column, encoding):
        if isinstance(row, Row):
            yield _row_document(source, row)
        elif on_reject is None:
            raise row
        else:
            on_reject(row, "")


def _row_document(source: Input, row: Row) -> Document:
    """The document of a row. Its title and date are where the store looks for them."""
    more: dict[str, object] = {name: row.others[name] for name in ("title", "published") if name in row.others}
    if row.others:
        more["columns"] = row.others
    found = _document(source, row.text, more)
    return replace(found, id=row.others.get(ID) or f"{source.id}-{row.line}")


def _title(title: str) -> dict[str, object]:
    return {"title": replace_surrogates(title)} if title else {}


def _document(source: Input, text: str, more: dict[str, object]) -> Document:
    origin = {} if str(source.path) == "-" else {"source": readable(str(source.path))}
    return Document(source.id, text, meta={**origin, "kind": source.kind, **more})
