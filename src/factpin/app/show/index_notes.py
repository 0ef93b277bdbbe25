"""The report of `factpin index`, as a record and as lines."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rich.markup import escape

from factpin.app.show.words import skipped_files
from factpin.extraction.index import IndexReport
from factpin.words import count

SHOWN = 5  # bad files that are listed


def index_record(db: str, stats: Mapping[str, Any], report: IndexReport, skipped: Counter[str]) -> dict[str, Any]:
    """What was done, and what the store holds now."""
    notes = [f"set aside: {reject.place}: {reject.reason}" for reject in report.rejects]
    if report.empty:
        names = ", ".join(report.empty[:SHOWN]) + (", ..." if len(report.empty) > SHOWN else "")
        notes.append(f"empty: {count(len(report.empty), 'document')} without text: {names}")
    if report.missing:
        kept = f"{count(report.missing, 'document')} whose text is no longer in these files"
        notes.append(f"kept: {kept} (--remove-missing removes {'it' if report.missing == 1 else 'them'})")
    if skipped:
        notes.append(f"skipped: {skipped_files(skipped)}")
    return {
        "db": db,
        "documents": {
            "added": report.added,
            "unchanged": report.unchanged,
            "replaced": report.replaced,
            "removed": report.removed,
            "rejected": len(report.rejects),
        },
        "passages": stats["passage"],
        "facts": stats["fact"],
        "evidence": stats["evidence"],
        "entities": stats["entity"],
        "vectors": stats["vectors"],
        "seconds": round(report.seconds, 3),
        "notes": notes,
    }


def index_notes(record: dict[str, Any], report: IndexReport) -> Iterator[str]:
    """Lines with rich markup."""
    counts = ", ".join(f"{number:,} {what}" for what, number in record["documents"].items() if number)
    yield f"documents: {counts or 'nothing to do'}"
    held = [count(record[what], noun) for what, noun in (("passages", "passage"), ("entities", "entity"))]
    facts = f"{count(record['facts'], 'fact')} with {count(record['evidence'], 'piece')} of evidence"
    yield f"[dim]{escape(record['db'])} holds {', '.join(held)} and {facts}[/]"
    for reject in report.rejects[:SHOWN]:
        yield f"[red]set aside:[/] {escape(reject.place)}: {escape(reject.reason)}"
    if len(report.rejects) > SHOWN:
        yield f"[red]set aside:[/] {len(report.rejects) - SHOWN:,} more"
    for note in record["notes"][len(report.rejects) :]:
        yield f"[yellow]{escape(note)}[/]"
