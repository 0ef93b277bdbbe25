"""Annotate a corpus with one model, one document at a time."""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from factpin import formats
from factpin.corpora.convert import RESULT
from factpin.documents import Document
from factpin.extraction.progress import SILENT, Progress
from factpin.extraction.rejects import Rejects, beside
from factpin.extraction.run import warn_of_precision
from factpin.files import refuse_same
from factpin.formats import Options, Report
from factpin.formats.docred_result import write_result
from factpin.models.shipped import find_model

if TYPE_CHECKING:
    from factpin.models.extractor import Extractor

COUNTED = ("mentions", "entities", "facts", "events")


@dataclass(frozen=True)
class PredictRequest:
    """What to annotate, and with which model."""

    model: str  # a name or a folder
    source: Path
    target: Path
    source_format: str | None = None  # None: guessed
    target_format: str | None = None  # None: by its extension
    options: Options = Options()
    min_score: float = 0.0  # facts and events that score less are left out
    on_overflow: Literal["window", "error"] = "window"
    precision: str = "auto"
    device: str = "cpu"
    runtime: str = "auto"


@dataclass
class Prediction:
    """What was read and written."""

    source_format: str
    target_format: str
    documents: int = 0
    counts: Counter[str] = field(default_factory=Counter)  # mentions, entities, facts and events that were written
    asks: str = "text"  # what the model works on: text, mentions or entities
    without: int = 0  # documents without it
    lost: Counter[str] = field(default_factory=Counter)  # what the format cannot hold
    report: Report = field(default_factory=Report)
    rejects: Path | None = None

    def add(self, given: Document, found: Document) -> None:
        """Count one document."""
        self.documents += 1
        self.counts.update({what: len(getattr(found, what)) for what in COUNTED})
        self.without += self.asks != "text" and not getattr(given, self.asks)


def predict(request: PredictRequest, progress: Progress = SILENT) -> Prediction:
    """Read the source and write the target, completely or not at all."""
    source, target, options = request.source, request.target, request.options
    refuse_same(source, target)
    folder = find_model(request.model)
    prediction = Prediction(
        request.source_format or formats.guess(source, options.encoding),
        request.target_format or formats.guess_by_name(target),
    )
    extractor = _load(folder, request, progress)
    prediction.asks = extractor.task.asks
    progress.start(None)
    with Rejects(beside(target)) as rejects:
        prediction.report.on_reject = rejects.keep
        found = _annotate(extractor, request, prediction, progress)
        if prediction.target_format == RESULT:
            write_result(found, target)
        else:
            writing = replace(options, encoding="utf-8")
            prediction.lost = formats.write(found, target, format=prediction.target_format, options=writing)
    prediction.rejects = rejects.path if rejects.count else None
    return prediction


def _load(folder: Path, request: PredictRequest, progress: Progress) -> "Extractor":
    from factpin.extraction.extract import load_models  # noqa: PLC0415  (torch)

    warn_of_precision(request.precision, progress)
    (extractor,) = load_models(
        [folder], request.on_overflow, precision=request.precision, device=request.device, runtime=request.runtime
    )
    return extractor


def _annotate(
    extractor: "Extractor", request: PredictRequest, prediction: Prediction, progress: Progress
) -> Iterator[Document]:
    from factpin.extraction.extract import hide_unlikely  # noqa: PLC0415  (torch)

    waiting: deque[Document] = deque()  # read, but not yet annotated

    def read() -> Iterator[Document]:
        format, report = prediction.source_format, prediction.report
        for doc in formats.read(request.source, format=format, options=request.options, report=report):
            waiting.append(doc)
            yield doc

    for found in extractor.annotate(read(), progress.advance):
        doc, _ = hide_unlikely(found, request.min_score)
        prediction.add(waiting.popleft(), doc)
        yield doc
