"""Raw files to documents: text, Markdown, JSONL, HTML, PDF, and folders of them.

Offsets count in the text that was read: the file itself for text and Markdown (markup included), the text taken out of
the page for HTML and PDF. A PDF's pages stand in `meta.pages` as [start, end] of each.
"""

import codecs
import io
import logging
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path

from factpin import files, formats
from factpin.documents import Document
from factpin.errors import BadDocument, BadFile, BadInput, BadRecord, MissingExtra
from factpin.extraction.rejects import Rejects, beside
from factpin.formats import Options, Report

ENDINGS = {".txt": "text", ".text": "text", ".md": "markdown", ".markdown": "markdown", ".jsonl": "jsonl",
           ".ndjson": "jsonl", ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf"}  # fmt: skip
KINDS = ("text", "markdown", "jsonl", "html", "pdf")
DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252"}  # as browsers read them
INLINE = re.compile(r"</?(?:a|abbr|b|bdi|cite|code|em|font|i|mark|q|s|small|span|strong|u)(?:\s[^>]*)?>", re.IGNORECASE)
SHORT_PAGE = 2000  # characters
PAGE_BREAK = "\n\n"


@dataclass(frozen=True)
class Input:
    """A file to read."""

    path: Path
    kind: str
    name: str  # unique in a run; the path inside the folder that was named
    id: str  # of its document: the name without its ending, where that is unique too


def find_inputs(
    paths: Sequence[Path], kind: str | None = None, *, exclude: Iterable[Path] = ()
) -> tuple[list[Input], Counter[str]]:
    """Named files and known files in folders, in order; and how many files with other endings were skipped.

    Hidden files and what is in `exclude` are no inputs. With `kind`, every file in a folder is read as that kind.
    """
    skipped: Counter[str] = Counter()
    excluded = {path.resolve() for path in exclude}
    found: dict[Path, tuple[Path, str]] = {}  # real path -> (file, name), so that a file named twice is read once
    for path in paths:
        if str(path) == "-":
            found.setdefault(path, (path, "stdin"))
        elif path.is_dir():
            folder = f"{path.resolve().name}/" if len(paths) > 1 else ""
            for file in _walk(path, excluded):
                if kind is None and _ending(file) not in ENDINGS:
                    skipped[_ending(file) or "no ending"] += 1
                else:
                    found.setdefault(file.resolve(), (file, folder + file.relative_to(path).as_posix()))
        elif path.exists():
            found.setdefault(path.resolve(), (path, path.name))
        else:
            raise BadFile(f"{path}: there is no such file or folder. Check the path.")
    return _named(found, kind), skipped


def _walk(folder: Path, excluded: Collection[Path]) -> Iterator[Path]:
    """All regular files below a folder, in order; reading a pipe could block forever."""

    def refuse(error: OSError) -> None:
        raise BadFile(f"{error.filename}: cannot be read ({error.strerror}). Check its permissions.")

    for place, folders, names in os.walk(folder, onerror=refuse):
        here = Path(place)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and (here / f).resolve() not in excluded)
        for name in sorted(names):
            if not name.startswith(".") and (here / name).is_file() and (here / name).resolve() not in excluded:
                yield here / name


def _named(found: dict[Path, tuple[Path, str]], kind: str | None) -> list[Input]:
    """Inputs whose names and ids are unique."""
    count = Counter(_readable(name) for _, name in found.values())
    names = [_readable(name) if count[_readable(name)] == 1 else _readable(place.as_posix().lstrip("/"))
             for place, (_, name) in found.items()]  # fmt: skip
    bare = [str(Path(name).with_name(files.plain_stem(Path(name)))) for name in names]
    count = Counter(bare)
    ids = [id if count[id] == 1 else name for id, name in zip(bare, names, strict=True)]
    if len(set(ids)) < len(ids):  # a.txt, a.md and a.md.txt
        ids = names
    paths = [path for path, _ in found.values()]
    return [Input(path, kind or kind_of(path), name, id) for path, name, id in zip(paths, names, ids, strict=True)]


def _readable(name: str) -> str:
    """A file name as text: bytes that are not UTF-8 become %XX, so that two such names stay two."""
    return "".join(
        f"%{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else c
        for c in os.fsencode(name).decode("utf-8", "surrogateescape")
    )


def _ending(path: Path) -> str:
    return Path(files.plain_name(path)).suffix.lower()


def kind_of(path: Path) -> str:
    """What a file is, by its ending; standard input is text."""
    if str(path) == "-":
        return "text"
    if _ending(path) not in ENDINGS:
        raise BadInput(f"{path}: its ending does not say what it is (known: {', '.join(ENDINGS)}). "
                       f"Say it with --from: {', '.join(KINDS)}.")  # fmt: skip
    return ENDINGS[_ending(path)]


def expected_documents(inputs: Sequence[Input]) -> int | None:
    """The number of documents in these inputs, where it is known before they are read."""
    return None if any(source.kind == "jsonl" for source in inputs) else len(inputs)


def rejects_of(output: Path) -> Path:
    """The file for bad files and records: next to the output, or inside it where it is a folder."""
    return output / "factpin-rejects.jsonl" if is_folder(output) else beside(output)


def is_folder(output: Path) -> bool:
    """Whether an output path is a folder: an existing one, or a name without an ending."""
    return str(output) != "-" and (output.is_dir() or not output.suffix)


def read_inputs(
    inputs: Iterable[Input], encoding: str | None = None, rejects: Rejects | None = None
) -> Iterator[Document]:
    """The documents of all files. A bad one stops the reading, or is set aside where `rejects` is given."""
    for source in inputs:
        try:
            yield from read_input(source, encoding, rejects)
        except (BadFile, BadRecord, BadDocument) as error:
            if rejects is None:
                raise
            rejects.keep(as_record(error, source), "")


def as_record(error: BadFile | BadRecord | BadDocument, source: Input) -> BadRecord:
    """What is wrong with a whole file, as a line of the rejects."""
    if isinstance(error, BadRecord):
        return error
    reason = str(error).removeprefix(f"{source.path}: ")
    return BadRecord(reason, file=_readable(str(source.path)), line=1, kind="bad_file")


def read_input(source: Input, encoding: str | None = None, rejects: Rejects | None = None) -> Iterator[Document]:
    """The documents of one file. `encoding` None: UTF-8, or what an HTML page declares."""
    match source.kind:
        case "jsonl":
            options = Options(encoding=encoding or "utf-8", skip_bad=rejects is not None)
            report = Report(on_reject=rejects.keep if rejects is not None else None)
            yield from formats.read(source.path, format="jsonl", options=options, report=report)
        case "html":
            yield _document(source, _html(source.path, encoding), {})
        case "pdf":
            pages = _pdf(source.path)
            ends = accumulate(pages, lambda end, page: end + len(PAGE_BREAK) + len(page), initial=-len(PAGE_BREAK))
            places = [[end - len(page), end] for page, end in zip(pages, islice(ends, 1, None), strict=True)]
            yield _document(source, PAGE_BREAK.join(pages), {"pages": places})
        case _:
            yield _document(source, files.read_text(source.path, encoding or "utf-8"), {})


def _document(source: Input, text: str, more: dict[str, object]) -> Document:
    origin = {} if str(source.path) == "-" else {"source": _readable(str(source.path))}
    return Document(source.id, text, meta={**origin, "kind": source.kind, **more})


def _html(path: Path, encoding: str | None) -> str:
    try:
        import trafilatura  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtra(f"{path}: reading HTML needs trafilatura ({error}): pip install 'factpin[html]'.") from None
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # what matters is raised below, in one line
    with files.open_bytes(path) as stream:
        raw = stream.read()
    page = _decoded(path, raw, encoding or declared(raw)).replace("\x00", "")
    if not re.search("<html", page, re.IGNORECASE):  # a piece of a page, which trafilatura does not take for HTML
        page = f"<html><body>{page}</body></html>"
    text = trafilatura.extract(page, include_comments=False, favor_recall=True) or trafilatura.html2txt(page)
    if len(text) < SHORT_PAGE:  # of short pages trafilatura ends the line at every inline tag
        whole = trafilatura.extract(INLINE.sub("", page), include_comments=False, favor_recall=True) or ""
        text = whole if "".join(whole.split()) == "".join(text.split()) else text
    if not text.strip():
        raise BadFile(f"{path}: no text was found in the page. Save it as text, or check that it is HTML.")
    return _whole_characters(text)


def declared(raw: bytes) -> str:
    """The encoding that a page says it has."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    named = None if raw.startswith(codecs.BOM_UTF8) else DECLARED.search(raw[:4096])
    name = named[1].decode("ascii", "replace").lower() if named else "utf-8"
    try:
        name = codecs.lookup(name).name
    except LookupError:
        name = "utf-8"
    if name.startswith("utf-16"):
        return "utf-8"  # a declaration that can be read as ASCII is not in UTF-16
    return "utf-8-sig" if name == "utf-8" else WIDER.get(name, name)


def _decoded(path: Path, raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: not {encoding.removesuffix('-sig')}: byte {error.start} cannot be decoded. "
                      f"Give its encoding with --encoding, such as --encoding gb18030.") from None  # fmt: skip
    except LookupError:
        raise BadInput(f"There is no encoding {encoding!r}. Usual ones: utf-8, gb18030, utf-16, latin-1.") from None


def _pdf(path: Path) -> list[str]:
    """The text of every page."""
    try:
        import pypdf  # noqa: PLC0415  (an extra)
        from pypdf.errors import DependencyError  # noqa: PLC0415
    except ImportError:
        raise MissingExtra(f"{path}: reading PDF needs pypdf: pip install 'factpin[pdf]'.") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what matters is raised below, in one line
    with files.open_bytes(path) as stream:
        raw = io.BytesIO(stream.read())
    try:
        reader = pypdf.PdfReader(raw)
        locked = reader.is_encrypted and not reader.decrypt("")  # many are locked for changes only
        pages = [] if locked else [_whole_characters(page.extract_text()) for page in reader.pages]
    except DependencyError:
        raise MissingExtra(f"{path}: reading an encrypted PDF needs cryptography: pip install cryptography.") from None
    except Exception as error:  # a damaged file makes the parser stumble in every way there is
        reason = str(error) or type(error).__name__
        raise BadFile(f"{path}: cannot be read as PDF ({reason}). Is it whole? Save it anew, or as text.") from None
    if locked:
        raise BadFile(f"{path}: is locked with a password. Save it without one.")
    if not any(page.strip() for page in pages):
        raise BadFile(f"{path}: its {len(pages)} pages carry no text (scanned pictures?). Run text recognition first.")
    return pages


def _whole_characters(text: str) -> str:
    """Half surrogates, which some fonts and pages give, as question marks."""
    return text.encode("utf-8", "replace").decode()


def pages_of(doc: Document) -> list[tuple[int, int]]:
    """Start and end of each page; none where `meta.pages` is absent, or something else of the document's source."""
    pages = doc.meta.get("pages")
    if not isinstance(pages, list):
        return []
    pairs = [
        tuple(page) for page in pages if isinstance(page, list) and [type(border) for border in page] == [int, int]
    ]
    return pairs if len(pairs) == len(pages) else []


def page_of(pages: list[tuple[int, int]], start: int) -> int | None:
    """The page (from 1) that holds a character."""
    number = bisect_right(pages, start, key=lambda page: page[0])
    return number if number and start < pages[number - 1][1] else None
