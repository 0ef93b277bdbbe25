"""Extractor: texts in, documents with mentions out.

    extractor = factpin.load("model-folder")
    documents = extractor.extract(["谷爱凌出生于旧金山。"])

Windows of many documents are sorted by length and read in batches of a token budget; what comes out is in the order
of what came in, and does not depend on how it was batched.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from factpin.documents import Coverage, Document, Span
from factpin.errors import BadInput
from factpin.heads import Cells
from factpin.pipelines.examples import Read, Reader, collate
from factpin.pipelines.model import Model
from factpin.pipelines.model_folder import Precision, load_model, save_model
from factpin.pipelines.settings import Settings
from factpin.tasks.spans import Found, Scale, decode
from factpin.tokens import Tokenizer, batches, owner

BUDGET = 1024  # tokens in a batch, padding included: small batches pad less and stay in the cache
AHEAD = 256  # documents that are sorted together
PINNED = re.compile(r"(mentions|entities|facts|events)\[\d+\]")  # where a field stood that factpin does not know


@dataclass
class Extractor:
    """A loaded model."""

    settings: Settings
    model: Model
    tokenizer: Tokenizer
    on_overflow: Literal["window", "error"] = "window"

    @classmethod
    def load(cls, folder: Path | str) -> "Extractor":
        """From a model folder; no network, no code from the folder."""
        return cls(*load_model(Path(folder)))

    def save(self, folder: Path | str, precision: Precision = "float32") -> None:
        """As a model folder."""
        save_model(Path(folder), self.settings, self.model, self.tokenizer, precision)

    @property
    def reader(self) -> Reader:
        """How this model reads a text."""
        s = self.settings
        return Reader(self.tokenizer, s.max_length - self.tokenizer.frame_size, s.overlap, s.context, self.on_overflow)

    def extract(self, texts: Sequence[str]) -> list[Document]:
        """Documents of raw texts, with sentences, mentions and coverage."""
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise BadInput('extract takes a list of texts, such as extract(["…"]); came something else.')
        return list(self.annotate(Document(f"d{i}", text) for i, text in enumerate(texts)))

    def annotate(
        self, documents: Iterable[Document], on_document: Callable[[], None] = lambda: None
    ) -> Iterator[Document]:
        """The same documents with the mentions that the model finds, and nothing that was pinned to older ones."""
        documents = iter(documents)
        while group := list(islice(documents, AHEAD)):
            reads = [self.reader.read(doc) for doc in group]
            for read, found in zip(reads, self.find(reads), strict=True):
                yield self._annotated(read, found)
                on_document()

    def find(self, reads: Sequence[Read], threshold: float | Tensor | None = None) -> list[Found]:
        """What the head finds in every document, each span once."""
        places = [(d, w) for d, read in enumerate(reads) for w in range(len(read.windows))]
        lengths = [len(reads[d].windows[w]) + self.tokenizer.frame_size for d, w in places]
        columns: list[list[tuple[int, int, int, float]]] = [[] for _ in reads]
        cut = self.threshold() if threshold is None else threshold
        self.model.eval()
        for batch in batches(lengths, BUDGET):
            chosen = [places[i] for i in batch]
            ids = [reads[d].pieces.ids[_range(reads[d], w)] for d, w in chosen]
            self._collect(self.model.hits(collate(ids, self.tokenizer), cut), chosen, reads, columns)
        return [_found(rows) for rows in columns]

    def threshold(self) -> float | Tensor:
        """The score that a cell must exceed: the head's own, or one for each label where they were tuned."""
        own: float = self.model.head.default_threshold
        if not self.settings.thresholds:
            return own
        return torch.tensor([self.settings.thresholds.get(label, own) for label in self.settings.labels])

    def _collect(
        self,
        cells: Cells,
        chosen: Sequence[tuple[int, int]],
        reads: Sequence[Read],
        columns: list[list[tuple[int, int, int, float]]],
    ) -> None:
        """Cells of a batch -> rows (label, first, last, score), each from the window that answers for it."""
        shift = len(self.tokenizer.prefix)
        scores = cells.score.tolist() if cells.score is not None else [0.0] * len(cells)
        for (row, label, start, end), score in zip(cells.rows(), scores, strict=True):
            d, w = chosen[row]
            windows = reads[d].windows
            first, last = (windows[w].first + at - shift for at in (start, end))
            if len(windows) == 1 or owner(windows, first, last) == w:
                columns[d].append((label, first, last, score))

    def _annotated(self, read: Read, found: Found) -> Document:
        scale = Scale(self.settings.temperature, self.settings.shift)
        mentions = decode(found, read.doc.text, read.pieces, self.settings.labels, scale)
        return replace(
            read.doc,
            language=read.doc.language or self.settings.language or None,
            sentences=tuple(Span(*sentence) for sentence in read.sentences),
            mentions=tuple(mentions),
            entities=(),
            facts=(),
            events=(),
            coverage=Coverage(tuple(Span(window.start, window.end) for window in read.windows)),
            meta=meta_without_annotation(read.doc),
        )


def meta_without_annotation(doc: Document) -> dict[str, Any]:
    """The document's meta without what the native format keeps there for annotation that is gone now."""
    meta = dict(doc.meta)
    if isinstance(meta.get("extra"), dict):
        extra = {key: value for key, value in meta.pop("extra").items() if not PINNED.match(key)}
        meta |= {"extra": extra} if extra else {}
    return meta


def _range(read: Read, window: int) -> slice:
    return slice(read.windows[window].first, read.windows[window].last)


def _found(rows: list[tuple[int, int, int, float]]) -> Found:
    table = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
    return Found(table[:, 0], table[:, 1], table[:, 2], np.array([row[3] for row in rows], np.float64))
