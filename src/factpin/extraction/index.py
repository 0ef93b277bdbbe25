"""Inputs into a store: read, extract, keep.

A document whose text, source and models have not changed is left alone, so indexing again is quick. Documents are
stored in small transactions, so a run that was stopped can simply be started again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import orjson

from factpin.documents import Document, to_json
from factpin.documents.keys import digest, document_key
from factpin.errors import BadDocument, BadFile, BadRecord
from factpin.extraction.annotator import Annotator
from factpin.extraction.inputs import Input
from factpin.extraction.read import read_input
from factpin.memory import Source, Store
from factpin.memory.by_hand import MANUAL
from factpin.memory.dates import as_date

TOGETHER = 16  # documents in a transaction, and the most that a crash loses
INPUT = "input"  # key of meta: a digest of the document before models read it


@dataclass(frozen=True, slots=True)
class Reject:
    """A file or record that was set aside."""

    place: str
    reason: str


@dataclass
class IndexReport:
    """What was done."""

    added: int = 0
    unchanged: int = 0
    replaced: int = 0
    removed: int = 0
    missing: int = 0  # documents whose files are no longer there, but that were kept
    rejects: list[Reject] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)  # documents without text
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Entry:
    """A document to store, where it comes from, and a digest of it before models read it."""

    doc: Document
    source: Source
    digest: str


def uri_of(source: Input, doc: Document) -> str:
    """The name of a document in the store: the path as given, and the id of the record where a file has many."""
    name = source.name if str(source.path) == "-" else _readable(source.path)
    return f"{name}#{doc.id}" if source.has_many else name


def index(
    inputs: Sequence[Input],
    store: Store,
    models: Annotator | None = None,
    *,
    encoding: str | None = None,
    published: str = "",
    missing_from: Iterable[Path] = (),
    remove_missing: bool = True,
    on_document: Callable[[], None] = lambda: None,
) -> IndexReport:
    """Bring a store up to date with some inputs.

    models: without any, the annotation of JSONL documents is kept as it is.
    published: the date of documents without `meta.published`.
    missing_from: documents below these paths that are no longer among the inputs are removed or, without
        remove_missing, counted.
    """
    began = time.perf_counter()
    run = _Run(store, models, encoding, published, on_document)
    documents = run.read(inputs)
    while group := list(islice(documents, TOGETHER)):
        run.store_group(group)
    if places := list(missing_from):
        missing = run.missing(places)
        if remove_missing:
            run.remove(missing)
        else:
            run.report.missing = len(missing)
    run.report.seconds = time.perf_counter() - began
    return run.report


class _Run:
    """One run over some inputs."""

    def __init__(
        self,
        store: Store,
        models: Annotator | None,
        encoding: str | None,
        published: str,
        on_document: Callable[[], None],
    ) -> None:
        self.store = store
        self.models = models
        self.encoding = encoding
        self.published = published
        self.on_document = on_document
        self.report = IndexReport()
        self.seen: set[str] = set()
        self.doubtful: set[str] = set()  # inputs with something that was set aside

    def read(self, inputs: Iterable[Input]) -> Iterator[_Entry]:
        """The documents that the store does not have in this form."""
        for source in inputs:
            try:
                for doc in self._documents(source):
                    if (entry := self._describe(source, doc)) is None:
                        continue
                    if self._is_stored(entry):
                        self.report.unchanged += 1
                        self.on_document()
                    else:
                        yield entry
            except (BadFile, BadRecord, BadDocument) as error:
                self._reject(source, error)

    def _documents(self, source: Input) -> Iterator[Document]:
        if not source.has_many:
            self.seen.add(uri_of(source, Document(source.id, "")))
        yield from read_input(source, self.encoding, on_reject=lambda error, _: self._reject(source, error))

    def _describe(self, source: Input, doc: Document) -> _Entry | None:
        uri = uri_of(source, doc)
        if source.has_many and uri in self.seen:
            self._reject(source, BadDocument(f"the id {doc.id!r} occurs twice; the first record is kept"))
            return None
        self.seen.add(uri)
        if not doc.text.strip():
            self.report.empty.append(uri)
        try:
            mark = digest(orjson.dumps(to_json(doc), option=orjson.OPT_SORT_KEYS).decode())
            origin = Source(uri, _title(doc), _date(doc) or self.published, self.models.name if self.models else "")
        except (BadDocument, orjson.JSONEncodeError) as error:
            self._reject(source, BadDocument(str(error)))
            return None
        return _Entry(doc, origin, mark)

    def _is_stored(self, entry: _Entry) -> bool:
        row = self.store.tables.document(document_key(entry.source.uri))
        if row is None or Source(row.uri, row.title, row.published, row.model) != entry.source:
            return False
        return row.text == entry.doc.text and orjson.loads(row.record).get("meta", {}).get(INPUT) == entry.digest

    def store_group(self, group: Sequence[_Entry]) -> None:
        """Extract from some documents and store them, as one transaction."""
        documents = [entry.doc for entry in group]
        found = list(self.models.annotate(documents)) if self.models else documents
        done: Counter[str] = Counter()
        with self.store.together():
            for entry, doc in zip(group, found, strict=True):
                marked = replace(doc, meta={**doc.meta, INPUT: entry.digest})
                try:
                    done[self.store.put(marked, entry.source)] += 1
                except BadDocument as error:
                    self.report.rejects.append(Reject(entry.source.uri, str(error)))
        self.report.added += done["added"]
        self.report.replaced += done["replaced"]
        self.report.unchanged += done["unchanged"]
        for _ in group:
            self.on_document()

    def _reject(self, source: Input, error: BadFile | BadRecord | BadDocument) -> None:
        place = _readable(source.path)
        if isinstance(error, BadRecord):
            self.report.rejects.append(Reject(f"{place}:{error.line}", error.reason))
        else:
            self.report.rejects.append(Reject(place, str(error).removeprefix(f"{source.path}: ")))
        self.doubtful.add(place)

    def missing(self, places: Sequence[Path]) -> list[str]:
        """The documents below these places that the inputs no longer have. Rejects are not missing."""
        return [
            source.uri
            for source in self.store.sources()
            if source.uri not in self.seen
            and source.uri.split("#")[0] not in self.doubtful
            and _is_below(source.uri, places)
        ]

    def remove(self, uris: Sequence[str]) -> None:
        """Remove these documents, all or none."""
        with self.store.together():
            for uri in uris:
                self.store.remove(uri)
        self.report.removed += len(uris)


def _readable(path: Path) -> str:
    """A path with slashes; bytes that are not UTF-8 become \\xNN."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_below(uri: str, places: Sequence[Path]) -> bool:
    """Whether a document comes from one of these files, or from a file below one of these folders."""
    if uri.startswith(MANUAL):
        return False
    path = Path(uri.split("#")[0])
    return any(path == place or place in path.parents for place in places)


def _title(doc: Document) -> str:
    """The title in meta, or the first heading of a Markdown file."""
    title = doc.meta.get("title")
    if isinstance(title, str):
        return title
    if doc.meta.get("kind") == "markdown":
        for line in doc.text.split("\n", 20)[:20]:
            if line.startswith("# "):
                return line[2:].strip(" #\r")
    return ""


def _date(doc: Document) -> str:
    date = doc.meta.get("published")
    return as_date(date[:10]) if isinstance(date, str) else ""
