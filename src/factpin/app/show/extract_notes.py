"""The lines at the end of an extraction: what was read and found, and what the user should look at."""

from collections.abc import Iterator

from rich.markup import escape

from factpin.app.show.words import list_counts, skipped_files
from factpin.extraction.request import Request
from factpin.extraction.summary import Summary
from factpin.formats import describe
from factpin.words import count, share


def extract_notes(summary: Summary, request: Request) -> Iterator[str]:
    """Lines with rich markup."""
    if summary.done_before:
        were = "was" if summary.done_before == 1 else "were"
        inputs = count(summary.inputs, "input")
        yield f"{summary.done_before:,} of {inputs} {were} already done and {were} not read again"
    if summary.documents or not summary.done_before:
        yield f"[dim]{escape(_counts(summary, request))}[/]"
    if summary.hidden or summary.unsure:
        facts = count(summary.hidden, "fact or event", "facts and events")
        hidden = [f"{facts} less likely than {request.min_score:g}"] if summary.hidden else []
        if summary.unsure and (not request.only or "entities" in request.only):
            hidden.append(f"{count(summary.unsure, 'mention')} that the model is not sure of")
        if hidden:
            yield f"[yellow]hidden:[/] {' and '.join(hidden)} (--min-score 0 shows all)"
    if summary.replaced:
        yield f"[yellow]replaced:[/] the annotation that {count(summary.replaced, 'document')} already had"
    for label, what, cases in (
        ("empty", " without text", summary.empty),
        ("not read", " in a language that no model reads", summary.without_model),
        ("read in part", ", without these characters", summary.partly_read),
        ("not searched everywhere", "", summary.not_searched),
    ):
        if cases.count:
            yield f"[yellow]{label}:[/] {count(cases.count, 'document')}{what}: {escape(str(cases))}"
    if summary.unseen:
        from factpin.extraction.linking import about_unseen

        yield f"[yellow]new in the store:[/] {escape(about_unseen(summary.unseen, request.db))}"
    if summary.lost:
        yield f"[yellow]not held by {request.format}:[/] {describe(summary.lost)}"
    if summary.skipped:
        yield f"[yellow]skipped:[/] {escape(skipped_files(summary.skipped))}"
    for failure in summary.failed.examples:
        yield f"[red]not read:[/] {escape(failure)}"
    if summary.failed.count > len(summary.failed.examples):
        more = summary.failed.count - len(summary.failed.examples)
        yield f"[red]not read:[/] {count(more, 'more file')}. --skip-bad lists all of them"
    if summary.rejected:
        rejected = count(summary.rejected, "bad file or record", "bad files or records")
        yield f"[red]set aside:[/] {rejected} in {escape(str(request.rejects_file))}"


def _counts(summary: Summary, request: Request) -> str:
    size = f"{count(summary.documents, 'document')}, {count(summary.characters, 'character')}"
    if summary.windows or summary.unread:
        size += f", {share(summary.share_read)} read in {count(summary.windows, 'window')}"
    kinds = (("mention", summary.mentions), ("fact", summary.facts), ("event", summary.events))
    found = [f"{count(counts.total(), noun)} ({list_counts(counts)})" for noun, counts in kinds if counts]
    if not found:
        what = f"No {' or '.join(request.only)}" if request.only else "Nothing"
        sure = " that the models are sure of" if summary.hidden or (summary.unsure and not request.only) else ""
        return f"{size}. {what}{sure} {'were' if request.only else 'was'} found."
    return f"{size}; found {', '.join(found)}"
