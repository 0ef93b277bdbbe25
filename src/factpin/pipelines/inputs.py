"""Raw files to documents: text, Markdown, JSONL, HTML, PDF, and folders of them.

Offsets count in the text that was read: the file itself for text and Markdown, the text taken out of the page for HTML
and PDF. A PDF's pages stand in `meta.pages` as [start, end] of each.
"""

from collections.abc import Iterator
from pathlib import Path

from factpin import files, formats
from factpin.documents import Document
from factpin.errors import BadFile, BadInput, MissingExtra
from factpin.formats import Options

ENDINGS = {".txt": "text", ".text": "text", ".md": "markdown", ".markdown": "markdown", ".jsonl": "jsonl",
           ".ndjson": "jsonl", ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf"}  # fmt: skip
KINDS = ("text", "markdown", "jsonl", "html", "pdf")


def kind_of(path: Path) -> str:
    """What a file is, by its ending; standard input is text."""
    if str(path) == "-":
        return "text"
    ending = Path(files.plain_name(path)).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"{path}: the ending {ending!r} says nothing. Say what it is: --from {', '.join(KINDS)}.")
    return ENDINGS[ending]


def find_files(paths: list[Path]) -> Iterator[tuple[Path, str]]:
    """(file, its id): files as named, the known files of folders in order."""
    for path in paths:
        if str(path) != "-" and path.is_dir():
            for file in sorted(p for p in path.rglob("*") if p.is_file()):
                if Path(files.plain_name(file)).suffix.lower() in ENDINGS:
                    yield file, str(file.relative_to(path).with_suffix(""))
        else:
            yield path, "stdin" if str(path) == "-" else files.plain_stem(path)


def read_input(path: Path, id: str, kind: str | None = None, encoding: str = "utf-8") -> Iterator[Document]:
    """The documents of one file."""
    match kind or kind_of(path):
        case "jsonl":
            yield from formats.read(path, format="jsonl", options=Options(encoding=encoding))
        case "html":
            yield _html(path, id, encoding)
        case "pdf":
            yield _pdf(path, id)
        case _:
            yield Document(id, files.read_text(path, encoding))


def _html(path: Path, id: str, encoding: str) -> Document:
    try:
        import trafilatura  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtra("Reading HTML needs trafilatura: pip install 'factpin[html]'.") from None
    text = trafilatura.extract(files.read_text(path, encoding), include_comments=False, favor_recall=True)
    if not text:
        raise BadFile(f"{path}: no text was found in the page. Save it as text, or check that it is HTML.")
    return Document(id, text, meta={"source": str(path), "kind": "html"})


def _pdf(path: Path, id: str) -> Document:
    try:
        import pypdf  # noqa: PLC0415  (an extra)
        from pypdf.errors import PyPdfError  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("Reading PDF needs pypdf: pip install 'factpin[pdf]'.") from None
    try:
        with files.open_bytes(path) as stream:
            texts = [page.extract_text() for page in pypdf.PdfReader(stream).pages]
    except (PyPdfError, ValueError, KeyError, OSError) as error:
        raise BadFile(f"{path}: cannot be read as PDF ({error}). Save it as text.") from None
    pages, at, parts = [], 0, []
    for text in (t.encode("utf-8", "replace").decode() for t in texts):  # some fonts give half surrogates
        parts.append(text)
        pages.append([at, at + len(text)])
        at += len(text) + 2
    whole = "\n\n".join(parts)
    if not whole.strip():
        raise BadFile(f"{path}: its {len(pages)} pages carry no text (scanned pictures?). Run text recognition first.")
    return Document(id, whole, meta={"source": str(path), "kind": "pdf", "pages": pages})


def page_of(doc: Document, start: int) -> int | None:
    """The page (from 1) that holds a character, where the document has pages."""
    for number, (first, last) in enumerate(doc.meta.get("pages", ()), start=1):
        if first <= start < last:
            return number
    return None
