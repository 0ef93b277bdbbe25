"""Files into a store as one call: what `factpin index` does, and what other programs can call."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from factpin.documents import read_schema
from factpin.errors import BadInput
from factpin.extraction.annotator import annotator
from factpin.extraction.index import IndexReport, index
from factpin.extraction.inputs import expected_documents, find_inputs
from factpin.extraction.progress import SILENT, Progress
from factpin.memory import Store
from factpin.memory.nouns import check_date
from factpin.models.embedders import embed_store, find_embedder
from factpin.models.shipped import choose_models


@dataclass(frozen=True)
class IndexRequest:
    """What to put into a store."""

    inputs: tuple[Path, ...]  # files and folders, or - for standard input
    models: tuple[str, ...] = ()  # names or folders; none: all shipped models, each for its language
    facts: bool = True  # False: run no model; facts in JSONL documents are kept
    kind: str | None = None  # of the inputs, one of inputs.KINDS; None: by their endings
    column: str = ""  # of CSV and TSV files: the one with the text; "": `text`
    coreference: bool = False  # group mentions into entities by rules
    published: str = ""  # date of documents that have none
    remove_missing: bool = False  # remove documents of the inputs that are no longer there
    vectors: str | None = None  # embedder of the passages; None: the one of the store, if it has vectors
    schema: Path | None = None  # TOML: which relations have one tail, or one at a time
    device: str = "cpu"
    runtime: str = "auto"  # what computes the models, one of models.runtimes
    precision: str = "auto"  # of the computation, one of models.runtimes.PRECISIONS; auto: float32
    encoding: str | None = None  # of text files; None: UTF-8, or what an HTML page declares

    def __post_init__(self) -> None:
        if not self.facts and self.models:
            raise BadInput("--no-facts runs no model, but --model names one. Leave one of them out.")
        if self.published:
            check_date(self.published)


def run_index(request: IndexRequest, store: Store, progress: Progress = SILENT) -> tuple[IndexReport, Counter[str]]:
    """Bring the store up to date; returns what was done, and how many files were skipped, by their endings."""
    inputs, skipped = find_inputs(request.inputs, request.kind, column=request.column)
    if request.vectors is not None:
        find_embedder(request.vectors, request.runtime)  # refuses a missing one before anything is stored
    models = None
    if request.facts:
        folders = choose_models(request.models)
        models = annotator(
            folders,
            coreference=request.coreference,
            device=request.device,
            runtime=request.runtime,
            precision=request.precision,
        )
    if request.schema is not None:
        store.set_schema(read_schema(request.schema))
    progress.start(expected_documents(inputs))
    report = index(
        inputs,
        store,
        models,
        encoding=request.encoding,
        published=request.published,
        missing_from=request.inputs,
        remove_missing=request.remove_missing,
        on_document=progress.advance,
    )
    embed_store(store, request.vectors, request.runtime)
    return report, skipped
