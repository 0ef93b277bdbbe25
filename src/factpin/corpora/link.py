"""Link the mentions of an annotated corpus to the entities of a store, one document at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from factpin import formats
from factpin.documents import Document
from factpin.extraction.linking import names_unseen, open_judge, open_linker
from factpin.extraction.progress import SILENT, Progress
from factpin.files import refuse_same
from factpin.formats import Options
from factpin.memory import Store


@dataclass(frozen=True)
class LinkRequest:
    """What to link, and to which store."""

    source: Path
    target: Path
    source_format: str | None = None  # None: guessed
    target_format: str | None = None  # None: by its extension
    options: Options = Options()
    as_of: str = ""
    linker: str = ""  # the folder of a trained linker


@dataclass
class LinkCounts:
    """What was linked."""

    documents: int = 0
    mentions: int = 0
    linked: int = 0  # to an entity of the store
    nil: int = 0  # names that the store does not have, or that mean something else here
    skipped: int = 0  # mentions that are pronouns, which are not looked up
    unseen: int = 0  # names with a candidate that a trained linker has not seen

    def add(self, doc: Document) -> None:
        """Count one document."""
        records = doc.meta["links"]
        linked = sum(record["entity"] is not None for record in records)
        self.documents += 1
        self.mentions += len(doc.mentions)
        self.linked += linked
        self.nil += len(records) - linked
        self.skipped += len(doc.mentions) - len(records)


def link_corpus(request: LinkRequest, store: Store, progress: Progress = SILENT) -> LinkCounts:
    """Read the source and write the target, completely or not at all. Links in the source are removed."""
    refuse_same(request.source, request.target)
    judge = open_judge(request.linker, store)
    linker, counts = open_linker(store, request.as_of, judge), LinkCounts()
    progress.start(None)

    def linked() -> Iterator[Document]:
        for doc in formats.read(request.source, format=request.source_format, options=request.options):
            found = linker.link(replace(doc, entities=tuple(replace(e, link="") for e in doc.entities)))
            counts.add(found)
            progress.advance()
            yield found

    writing = replace(request.options, encoding="utf-8")
    formats.write(linked(), request.target, format=request.target_format, options=writing)
    counts.unseen = names_unseen(judge)
    return counts
