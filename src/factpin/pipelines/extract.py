"""The main job: documents in, documents with everything that the chosen models find.

Each document is read by the models of its language. What several models find is put together: the same span with the
same type is one mention, with the better score.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from factpin.documents import Coverage, Document, Mention
from factpin.documents.language import find_language
from factpin.pipelines.extractor import AHEAD, Extractor
from factpin.pipelines.shipped import find_model, shipped


@dataclass
class Summary:
    """What was read and found, for the end of a run."""

    documents: int = 0
    characters: int = 0
    read: int = 0
    windows: int = 0
    mentions: dict[str, int] = field(default_factory=dict)
    without_model: list[str] = field(default_factory=list)  # ids of documents in a language that no model reads

    def add(self, doc: Document) -> None:
        """Count one document."""
        self.documents += 1
        self.characters += len(doc.text)
        spans = doc.coverage.read if doc.coverage else ()
        self.windows += len(spans)
        covered = bytearray(len(doc.text))
        for start, end in spans:
            covered[start:end] = b"\x01" * (end - start)
        blank = sum(character.isspace() for character, seen in zip(doc.text, covered, strict=True) if not seen)
        self.read += sum(covered) + blank  # blanks between sentences hold nothing to read
        for m in doc.mentions:
            self.mentions[m.type] = self.mentions.get(m.type, 0) + 1


def load_models(names: Sequence[str], on_overflow: Literal["window", "error"] = "window") -> list[Extractor]:
    """The named models, or all that ship."""
    extractors = [Extractor.load(find_model(name)) for name in (names or list(shipped()))]
    for extractor in extractors:
        extractor.on_overflow = on_overflow
    return extractors


def extract(
    documents: Iterable[Document],
    models: Sequence[Extractor],
    summary: Summary | None = None,
    on_document: Callable[[], None] = lambda: None,
) -> Iterator[Document]:
    """Documents in their order, with the mentions of every model that reads their language."""
    summary = summary if summary is not None else Summary()
    documents = iter(documents)
    while group := list(islice(documents, AHEAD)):
        results: list[list[Document]] = [[] for _ in group]
        languages = [doc.language or find_language(doc.text) for doc in group]
        for model in models:
            wanted = [i for i, language in enumerate(languages) if model.settings.language in ("", language)]
            for i, found in zip(wanted, model.annotate(group[i] for i in wanted), strict=True):
                results[i].append(found)
        for doc, language, found_by in zip(group, languages, results, strict=True):
            whole = combine(doc, language, found_by)
            if not found_by and doc.text.strip():
                summary.without_model.append(doc.id)
            summary.add(whole)
            yield whole
            on_document()


def combine(doc: Document, language: str | None, found: Sequence[Document]) -> Document:
    """One document of what several models found in it."""
    best: dict[tuple[int, int, str], Mention] = {}
    for part in found:
        for m in part.mentions:
            old = best.get((m.start, m.end, m.type))
            if old is None or (old.score or 0.0) < (m.score or 0.0):
                best[m.start, m.end, m.type] = m
    mentions = tuple(replace(best[key], id=f"m{i}") for i, key in enumerate(sorted(best)))
    spans = tuple(sorted({span for part in found for span in (part.coverage or Coverage()).read}))
    return replace(
        doc,
        language=language,
        sentences=found[0].sentences if found else doc.sentences,
        mentions=mentions,
        entities=(),
        facts=(),
        events=(),
        coverage=Coverage(spans),
    )


def outputs(folder: Path, id: str) -> Path:
    """Where the result of one input goes when a folder is written."""
    return folder / f"{id}.jsonl"
