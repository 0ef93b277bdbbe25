"""A store with what it takes to fill it and to ask it: models, readers and embedders are loaded when first needed."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from factpin.answers.ask import Mode, ask
from factpin.documents import Answer, Document
from factpin.extraction.index import IndexReport
from factpin.extraction.index_run import IndexRequest, run_index
from factpin.memory import Filter, JudgedFact, Pattern, Source, Store
from factpin.memory.search import Search
from factpin.models.embedders import search_of
from factpin.models.readers import Readers, find_readers


class KnowledgeBase:
    """Texts and facts that can be asked. Open one with `factpin.open_store`.

    store: the store itself, with all it can do.
    reader: what reads answers from passages: a name or folder, "none", or None for the shipped readers.
    """

    def __init__(self, store: Store, reader: str | None = None, device: str = "cpu") -> None:
        self.store = store
        self._reader, self._device = reader, device

    def __enter__(self) -> "KnowledgeBase":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; everything is saved."""
        self.store.close()

    @cached_property
    def readers(self) -> Readers | None:
        """What reads answers from passages."""
        return find_readers(self._reader, self._device)

    @property
    def search(self) -> Search:
        """What finds passages."""
        return search_of(self.store)

    def ask(
        self, question: str, mode: Mode = "auto", min_score: float | None = None, k: int = 8, as_of: str | None = None
    ) -> Answer:
        """The answer to a question, with citations, as `factpin ask` gives it.

        mode: auto, facts, extract or hops. min_score: abstain where the best answer is less likely.
        k: how many passages to look at. as_of: ignore documents published later.
        """
        return ask(question, self.store, mode, min_score, k, as_of, reader=self.readers, search=self.search)

    def index(
        self,
        *paths: str | Path,
        models: Iterable[str] = (),
        facts: bool = True,
        vectors: str | None = None,
        remove_missing: bool = False,
    ) -> IndexReport:
        """Bring the store up to date with files and folders, as `factpin index` does; returns what was done."""
        request = IndexRequest(
            tuple(map(Path, paths)), tuple(models), facts, vectors=vectors, remove_missing=remove_missing
        )
        return run_index(request, self.store)[0]

    def add(self, document: Document, uri: str = "", title: str = "", published: str = "") -> str:
        """Keep a document with its facts, or replace the one of that uri (by default its id): added, unchanged or
        replaced."""
        return self.store.put(document, Source(uri or document.id, title, published))

    def remove(self, uri: str) -> None:
        """Remove a document, as if it had never been there."""
        self.store.remove(uri)

    def facts(
        self, head: str | None = None, relation: str | None = None, tail: str | None = None, as_of: str | None = None
    ) -> list[JudgedFact]:
        """The facts about some names, each with its confidence, its status and its evidence."""
        filter = Filter(as_of or "")
        heads, tails = (None if name is None else (self.store.entity(name, filter).id,) for name in (head, tail))
        return self.store.judged(Pattern(heads, None if relation is None else (relation,), tails), filter)

    def documents(self) -> Iterator[Document]:
        """All documents, as they were put."""
        return (document for document, _ in self.store.documents())
