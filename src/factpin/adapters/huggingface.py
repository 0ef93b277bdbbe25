"""The shape of a token-classification pipeline of Hugging Face, with aggregated entities.

ner = pipeline("en-entities")
ner("Marie Curie was born in Warsaw.")
[{"entity_group": "person", "score": 0.99, "word": "Marie Curie", "start": 0, "end": 11}, …]
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from factpin.documents import Document

Entities = list[dict[str, Any]]


def entity_groups(doc: Document) -> Entities:
    """The mentions of a document in that shape."""
    return [
        {"entity_group": m.type, "score": 1.0 if m.score is None else m.score, "word": m.text, "start": m.start,
         "end": m.end}
        for m in doc.mentions
    ]  # fmt: skip


def pipeline(model: str | Path | Sequence[str | Path] | None = None) -> Callable[[str | list[str]], Any]:
    """A callable: entities for a text, or a list of them for each of several texts."""
    from factpin.extraction.pipeline import loaded  # noqa: PLC0415  (heavy)

    names = () if model is None else (model,) if isinstance(model, str | Path) else tuple(model)
    models = loaded(names)

    def call(inputs: str | list[str]) -> Any:
        found = [entity_groups(doc) for doc in models.extract(inputs)]
        return found[0] if isinstance(inputs, str) else found

    return call
