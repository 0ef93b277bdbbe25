"""Spans: what a head of spans finds in read documents, and the documents with it as mentions."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from factpin.documents import Document
from factpin.heads import Cells
from factpin.pipelines.examples import Read, batched
from factpin.pipelines.model import Model
from factpin.pipelines.settings import Settings
from factpin.tasks.spans import Found, Scale, decode
from factpin.tokens import Tokenizer, owner


@dataclass(frozen=True)
class SpanSettings:
    """How found spans become mentions: Settings.task_config of a model of spans."""

    overlaps: bool = True  # False: of mentions that overlap, the surest is kept


Row = tuple[int, int, int, float]  # label, first piece, last piece, score


def find(
    model: Model, tokenizer: Tokenizer, settings: Settings, reads: Sequence[Read], cut: float | Tensor
) -> list[Found]:
    """What the head finds in every document, each span once."""
    columns: list[list[Row]] = [[] for _ in reads]
    for chosen, batch in batched([read.ids for read in reads], tokenizer):
        _collect(model.head.hits(model.predict(batch), cut), chosen, reads, columns, len(tokenizer.prefix))
    nested = model.head.nested and SpanSettings(**settings.task_config).overlaps
    return [_found(rows if nested else _flat(rows)) for rows in columns]


def annotated(read: Read, found: Found, settings: Settings) -> Document:
    """The document with the mentions that were found."""
    scale = Scale(settings.temperature, settings.shift)
    mentions = decode(found, read.doc.text, read.pieces, settings.labels, scale)
    return replace(read.doc, mentions=tuple(mentions))


def _collect(
    cells: Cells, chosen: Sequence[tuple[int, int]], reads: Sequence[Read], columns: list[list[Row]], shift: int
) -> None:
    """Cells of a batch -> rows, each from the window that answers for it."""
    scores = cells.score.tolist() if cells.score is not None else [0.0] * len(cells)
    for (row, label, start, end), score in zip(cells.rows(), scores, strict=True):
        d, w = chosen[row]
        windows = reads[d].windows
        first, last = (windows[w].first + at - shift for at in (start, end))
        if len(windows) == 1 or owner(windows, first, last) == w:
            columns[d].append((label, first, last, score))


def _flat(rows: list[Row]) -> list[Row]:
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
