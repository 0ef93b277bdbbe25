"""A whole extraction, from files to files: what `factpin extract` does, and what other programs can call.

    request = Request(inputs=(Path("reports"),), output=Path("found"), skip_bad=True)
    summary = run_extraction(request)

Everything the user may have got wrong is checked before torch is imported.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from factpin import formats
from factpin.documents import Document
from factpin.errors import BadInput, need_torch
from factpin.extraction.folder import describe_run, extract_folder, is_done, open_folder
from factpin.extraction.inputs import Input, expected_documents, find_inputs
from factpin.extraction.progress import SILENT, Progress
from factpin.extraction.read import read_inputs
from factpin.extraction.rejects import Rejects
from factpin.extraction.request import RULES, Request
from factpin.extraction.summary import EXAMPLES, Cases, Summary
from factpin.extraction.write import WRITERS
from factpin.files import one_writer, refuse_same
from factpin.formats import Options

if TYPE_CHECKING:
    from factpin.memory.linking import Linker
    from factpin.models.extractor import Extractor

Show = Callable[[Iterable[Document]], None]


def run_extraction(request: Request, progress: Progress = SILENT, show: Show | None = None) -> Summary:
    """Extract from all inputs and write the results; show: a function that takes the documents instead."""
    folders = request.model_folders()
    inputs, skipped = _find_inputs(request)
    with one_writer(request.output, "factpin extract") if request.into_folder else nullcontext():
        return _run(request, folders, inputs, skipped, progress, show)


def _run(
    request: Request,
    folders: Sequence[Path],
    inputs: Sequence[Input],
    skipped: Counter[str],
    progress: Progress,
    show: Show | None,
) -> Summary:
    waiting = _unfinished(request, folders, inputs) if request.into_folder else inputs
    models = _load(request, folders, progress) if waiting else []
    progress.start(expected_documents(waiting))
    linker: Linker | None = None
    total = Summary(inputs=len(inputs), done_before=len(inputs) - len(waiting), skipped=skipped)

    def annotate(documents: Iterable[Document]) -> Iterator[Document]:
        from factpin.extraction.extract import extract  # noqa: PLC0415  (torch)

        rules = request.coreference == RULES
        found = extract(documents, models, request.min_score, coreference=rules, only=request.only, on_document=add)
        return found if linker is None else map(linker.link, found)

    def add(one: Summary) -> None:
        nonlocal total
        total += one
        progress.advance()

    with ExitStack() as stack:
        if request.db:
            from factpin.extraction.linking import store_linker  # noqa: PLC0415  (the store)

            linker = stack.enter_context(store_linker(request.db, request.linker))
        kept = Rejects(request.rejects_file if request.skip_bad else None)
        several = request.skip_bad or len(inputs) > 1  # a single bad file is an error
        rejects = stack.enter_context(kept) if several else None
        lost: Counter[str] = Counter()
        if request.into_folder:
            extract_folder(waiting, request.output, annotate, encoding=request.encoding, rejects=rejects)
        else:
            found = annotate(read_inputs(inputs, request.encoding, rejects))
            lost = _write(found, request, show)
        if linker is not None:
            from factpin.extraction.linking import names_unseen  # noqa: PLC0415  (the store)

            total += Summary(unseen=names_unseen(linker.judge))
    failed = Cases(len(kept.named), tuple(kept.named[:EXAMPLES]))
    return total + Summary(rejected=kept.count - failed.count, failed=failed, lost=lost)


def _find_inputs(request: Request) -> tuple[list[Input], Counter[str]]:
    exclude = (request.output, request.rejects_file)
    inputs, skipped = find_inputs(request.inputs, request.kind, column=request.column, exclude=exclude)
    for source in inputs:
        refuse_same(source.path, request.output)
    if not inputs:
        raise BadInput(
            f"{request.inputs[0]}: no file in it has a known ending. Name files, or say what they are with --from."
        )
    return inputs, skipped


def _unfinished(request: Request, models: Sequence[Path], inputs: Sequence[Input]) -> list[Input]:
    """The inputs whose results are not yet in the output folder."""
    open_folder(request.output, describe_run(models, request.inputs, request.options))
    return [source for source in inputs if not is_done(request.output, source)]


def _load(request: Request, folders: Sequence[Path], progress: Progress) -> list["Extractor"]:
    from factpin.extraction.extract import load_models  # noqa: PLC0415  (torch)

    warn_of_precision(request.precision, progress)
    return load_models(
        folders,
        request.on_overflow,
        precision=request.precision,
        device=request.device,
        runtime=request.runtime,
    )


def warn_of_precision(precision: str, progress: Progress) -> None:
    """Say what a user who asks for half precision should know about this machine."""
    if precision != "bf16":
        return
    need_torch("--precision bf16 needs torch")
    from factpin.layers.half import bf16_warning  # noqa: PLC0415  (torch)

    if warning := bf16_warning():
        progress.warn(warning)


def _write(found: Iterator[Document], request: Request, show: Show | None) -> Counter[str]:
    """Write or show the documents; returns what the format cannot hold."""
    if show is not None:
        show(found)
        return Counter()
    if request.format in WRITERS:
        return WRITERS[request.format](found, request.output, request.only)
    return formats.write(found, request.output, format=request.format, options=Options(lossy=True))
