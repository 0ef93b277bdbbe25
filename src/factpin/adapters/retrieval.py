"""Passages of a store for retrieval-augmented programs, as plain records."""

from typing import TYPE_CHECKING, Any

from factpin.answers.passages import retrieve

if TYPE_CHECKING:
    from factpin.extraction.knowledge_base import KnowledgeBase


def passages(base: "KnowledgeBase", query: str, k: int) -> list[dict[str, Any]]:
    """The k best passages with the place that each comes from: text[start:end] of the document of that uri."""
    found = retrieve(query, base.search, k)
    return [
        {"id": p.id, "text": p.text, "uri": found.uris[p.document], "title": p.title, "start": p.start, "end": p.end}
        for p in found.passages
    ]
