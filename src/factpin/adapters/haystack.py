"""A retriever for Haystack over a store: `HaystackRetriever(factpin.open_store("kb.db")).run(query="…")`."""

from typing import TYPE_CHECKING, Any

from factpin.adapters.retrieval import passages
from factpin.errors import MissingExtra

try:
    from haystack import Document, component
except ImportError as error:  # not an extra of factpin
    raise MissingExtra(f"The retriever needs Haystack ({error}): pip install haystack-ai.") from None

if TYPE_CHECKING:
    from factpin.extraction.knowledge_base import KnowledgeBase


@component
class HaystackRetriever:
    """Finds passages by words, and by vectors where the store has them. Meta: uri, title, start, end."""

    def __init__(self, base: "KnowledgeBase", top_k: int = 8) -> None:
        self.base, self.top_k = base, top_k

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, Any]:
        """The best passages."""
        found = passages(self.base, query, top_k or self.top_k)
        return {"documents": [Document(id=r.pop("id"), content=r.pop("text"), meta=r) for r in found]}
