"""A corpus in, the same corpus with the annotation of one model out, one document at a time."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from factpin import formats
from factpin.corpora.convert import RESULT
from factpin.documents import Document
from factpin.extraction.extract import hide_unlikely
from factpin.extraction.rejects import Rejects
from factpin.files import refuse_same
from factpin.formats import Options, Report
from factpin.formats.docred_result import write_result
from factpin.models.extractor import Extractor

COUNTED = ("mentions", "entities", "facts", "events")


@dataclass
class Predicted:
    """What was read and written."""

    source_format: str
    target_format: str
    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # mentions, entities, facts and events that were written
    asks: str = "text"  # what the model asks about: text, mentions or entities
    without: int = 0  # documents that brought none of it
    lost: Counter[str] = field(default_factory=Counter)
    report: Report = field(default_factory=Report)
    rejects: Path | None = None

    def add(self, came: Document, found: Document) -> None:
        """Count one document."""
        self.documents += 1
        self.counts.update({what: len(getattr(found, what)) for what in COUNTED})
        self.without += self.asks != "text" and not getattr(came, self.asks)


def predict(
    extractor: Extractor,
    source: Path,
    target: Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    options: Options | None = None,
    min_score: float = 0.0,
    on_document: Callable[[], None] = lambda: None,
) -> Predicted:
    """Read `source`, write `target`, which appears whole or not at all. What scores less is left out."""
    options = options or Options()
    refuse_same(source, target)
    done = Predicted(source_format or formats.guess(source, options.encoding),
                     target_format or formats.guess_by_name(target), asks=extractor.task.asks)  # fmt: skip
    beside = Path("stdout.rejects.jsonl") if str(target) == "-" else target.with_name(f"{target.name}.rejects.jsonl")
    came: deque[Document] = deque()  # read, but not yet written

    def read() -> Iterator[Document]:
        for doc in formats.read(source, format=done.source_format, options=options, report=done.report):
            came.append(doc)
            yield doc

    def found() -> Iterator[Document]:
        for doc in extractor.annotate(read(), on_document):
            doc, _ = hide_unlikely(doc, min_score)
            done.add(came.popleft(), doc)
            yield doc

    with Rejects(beside) as rejects:
        done.report.on_reject = rejects.keep
        if done.target_format == RESULT:
            write_result(found(), target)
        else:
            writing = replace(options, encoding="utf-8")
            done.lost = formats.write(found(), target, format=done.target_format, options=writing)
    done.rejects = rejects.path if rejects.count else None
    return done
