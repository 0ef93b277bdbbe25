"""A retriever for LangChain over a store: `FactpinRetriever(base=factpin.open_store("kb.db"))`."""

from typing import Any

from factpin.adapters.retrieval import passages
from factpin.errors import MissingExtra

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:  # not an extra of factpin
    raise MissingExtra(f"The retriever needs LangChain ({error}): pip install langchain-core.") from None


class FactpinRetriever(BaseRetriever):
    """Finds passages by words, and by vectors where the store has them. Metadata: uri, title, start, end."""

    base: Any  # a factpin KnowledgeBase
    k: int = 8

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        return [
            Document(page_content=record.pop("text"), id=record.pop("id"), metadata=record)
            for record in passages(self.base, query, self.k)
        ]
