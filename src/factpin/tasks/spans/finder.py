"""Spans, made ready for one model: documents to examples, and a head's scores to mentions."""

from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from factpin.documents import Document
from factpin.tasks.examples import Lesson, WindowExample
from factpin.tasks.scale import Scale
from factpin.tasks.settings import Settings
from factpin.tasks.spans.decode import Found, decode
from factpin.tasks.spans.find import SpanCells, find_spans
from factpin.tasks.spans.targets import flat, targets
from factpin.tasks.task import Cut, Predict
from factpin.tokens import Tokenizer, owner
from factpin.tokens.reading import WindowedDocument, batched

Row = tuple[int, int, int, float]  # label, first piece, last piece, score


@dataclass(frozen=True)
class SpanSettings:
    """How found spans become mentions: Settings.task_config of a model of spans."""

    overlaps: bool = True  # False: of mentions that overlap, the surest is kept


@dataclass(frozen=True)
class SpanFinder:
    """Spans for one model."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    scale: Scale
    nested: bool  # whether the head can score overlapping spans
    overlaps: bool  # whether mentions may overlap
    max_span: int | None  # pieces of the widest span; None: any

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "SpanFinder":
        """Spans for the model of these settings."""
        own, nested = SpanSettings(**settings.task_config), settings.head != "crf"
        scale = Scale(settings.temperature, settings.shift)
        width = settings.head_config.get("max_span")
        return SpanFinder(tokenizer, settings.labels, scale, nested, nested and own.overlaps, width)

    def teach(self, document: WindowedDocument, options: Any = None) -> Lesson:
        """A window each, with the mentions that lie in it."""
        doc = document.doc
        whole = targets(doc, document.pieces, self.labels)
        examples, taught = [], set[tuple[int, int, int]]()
        for window in document.windows:
            inside = whole.inside(window)
            if not self.nested:
                inside = flat(inside)
            if self.max_span is not None:
                inside = inside.take(inside.last - inside.first < self.max_span)
            places = zip(inside.label, inside.first + window.first, inside.last + window.first, strict=True)
            taught.update((int(label), int(first), int(last)) for label, first, last in places)
            examples.append(WindowExample(document.pieces.ids[window.first : window.last], inside))
        notes = {
            "mentions": len(doc.mentions),
            "unalignable": len(whole.unalignable),
            "not_taught": len(whole.label) - len(taught),  # overlaps of a CRF, too wide, across a border
        }
        return Lesson(examples, Counter(notes))

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[Found]:
        """The spans of every document, each once."""
        columns: list[list[Row]] = [[] for _ in documents]
        for chosen, batch in batched([document.ids for document in documents], self.tokenizer):
            self._collect(find_spans(predict(batch), cut), chosen, documents, columns)
        return [_found(rows if self.overlaps else _without_overlaps(rows)) for rows in columns]

    def annotate(self, document: WindowedDocument, found: Found) -> Document:
        """The document with the mentions that were found."""
        mentions = decode(found, document.doc.text, document.pieces, self.labels, self.scale)
        return replace(document.doc, mentions=tuple(mentions))

    def _collect(
        self,
        cells: SpanCells,
        chosen: Sequence[tuple[int, int]],
        documents: Sequence[WindowedDocument],
        columns: list[list[Row]],
    ) -> None:
        """Add the cells of a batch, each from the window that answers for it."""
        shift = len(self.tokenizer.prefix)
        table = (x.tolist() for x in (cells.batch, cells.label, cells.start, cells.end, cells.score))
        for row, label, start, end, score in zip(*table, strict=True):
            d, w = chosen[row]
            windows = documents[d].windows
            first, last = (windows[w].first + at - shift for at in (start, end))
            if len(windows) == 1 or owner(windows, first, last) == w:
                columns[d].append((label, first, last, score))


def _without_overlaps(rows: list[Row]) -> list[Row]:
    """Of rows that overlap, the one with the best score."""
    kept: list[Row] = []
    for row in sorted(rows, key=lambda row: (-row[3], row[1], row[2], row[0])):
        at = bisect(kept, row[1], key=lambda other: other[1])  # kept is in the order of the text, without overlaps
        before, after = kept[at - 1 : at] if at else [], kept[at : at + 1]
        if all(other[2] < row[1] for other in before) and all(row[2] < other[1] for other in after):
            kept.insert(at, row)
    return kept


def _found(rows: list[Row]) -> Found:
    table = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3)
    return Found(table[:, 0], table[:, 1], table[:, 2], np.array([row[3] for row in rows], np.float64))
