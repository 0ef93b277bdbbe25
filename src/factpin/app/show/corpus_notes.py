"""The lines at the end of `factpin convert` and `factpin predict`."""

from collections.abc import Iterator

from rich.markup import escape

from factpin.corpora.convert import Conversion
from factpin.corpora.predict import Prediction
from factpin.formats import describe
from factpin.words import count

NEEDS = {  # what to do for documents without what a model works on
    "mentions": "a coreference model groups mentions. Annotate them, or find them with a spans model",
    "entities": "a document relation model looks for facts between entities. Annotate them, or let `factpin extract` "
    "find them with a spans model and this one",
}


def convert_notes(done: Conversion, target: str) -> Iterator[str]:
    """Lines with rich markup."""
    yield f"{count(done.documents, 'document')}, {done.source_format} to {done.target_format}: {escape(target)}"
    for note in done.renamed:
        yield f"[yellow]names:[/] {escape(note)}"
    yield from _shared_notes(done)


def predict_notes(done: Prediction, target: str) -> Iterator[str]:
    """Lines with rich markup."""
    if target != "-":
        yield f"written: {escape(target)}"
    found = ", ".join(count(number, what) for what, number in _singular(done.counts).items() if number)
    yield f"[dim]{count(done.documents, 'document')}{f'; {found}' if found else '. Nothing was found.'}[/]"
    if done.without:
        yield (
            f"[yellow]not searched:[/] {done.without:,} of {count(done.documents, 'document')} without {done.asks}: "
            f"{NEEDS[done.asks]}"
        )
    yield from _shared_notes(done)


def _singular(counts: dict[str, int]) -> dict[str, int]:
    """Counts by the singular of what is counted."""
    return {{"entities": "entity"}.get(what, what.removesuffix("s")): number for what, number in counts.items()}


def _shared_notes(done: Conversion | Prediction) -> Iterator[str]:
    if done.lost:
        yield f"[yellow]not held by {done.target_format}:[/] {describe(done.lost)}"
    for kind, number in done.report.counts.items():
        yield f"[yellow]noted:[/] {kind.replace('_', ' ')}, {count(number, 'time')}"
    if done.rejects:
        yield f"[red]set aside:[/] {count(done.report.rejected, 'bad record')} in {escape(str(done.rejects))}"
