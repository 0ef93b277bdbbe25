"""Several models that work together, as in `factpin extract`.

    pipeline = factpin.load()                        # every shipped model
    documents = pipeline.extract(["谷爱凌出生于旧金山。", "Marie Curie was born in Warsaw."])

Each text is read by the models for its language, and their results are combined.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from factpin.documents import Document
from factpin.documents.given import as_documents
from factpin.documents.likely import LIKELY
from factpin.extraction.extract import extract, load_models
from factpin.models.extractor import Extractor
from factpin.models.runtimes import AUTO
from factpin.models.shipped import choose_models


@dataclass(frozen=True, repr=False)
class Pipeline:
    """Loaded models that work together."""

    models: tuple[str, ...]  # their names
    extractors: tuple[Extractor, ...]

    @classmethod
    def load(
        cls, names: Sequence[str | Path] = (), device: str = "cpu", runtime: str = AUTO, precision: str = AUTO
    ) -> "Pipeline":
        """Load models by name or folder; without any, all shipped models."""
        folders = choose_models(tuple(map(str, names)))
        models = load_models(folders, device=device, runtime=runtime, precision=precision)
        return cls(tuple(folder.name for folder in folders), tuple(models))

    def extract(self, texts: str | Iterable[str], min_score: float = LIKELY) -> list[Document]:
        """A document for each text, in order; for a single text, a list of one.

        Facts and events that score less than `min_score` are left out, and `coverage.notes` says how many.
        """
        return list(self.annotate(as_documents(texts), min_score))

    def annotate(self, documents: Iterable[Document], min_score: float = LIKELY) -> Iterator[Document]:
        """Annotate documents, one at a time and in order. Their own annotation is replaced."""
        return extract(documents, self.extractors, min_score)

    def __repr__(self) -> str:
        return f"Pipeline({', '.join(self.models)})"


def loaded(names: Sequence[str | Path] = ()) -> Pipeline:
    """A pipeline of these models, which stays loaded until their folders change."""
    folders = choose_models(tuple(map(str, names)))
    return _loaded(tuple((str(folder), (folder / "factpin.json").stat().st_mtime_ns) for folder in folders))


@lru_cache(maxsize=1)
def _loaded(folders: tuple[tuple[str, int], ...]) -> Pipeline:
    return Pipeline.load([folder for folder, _ in folders])
