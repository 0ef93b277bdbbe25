"""Cells: the spans that a head is taught, as flat columns.

A cell says that tokens start..end, both INCLUSIVE, of row `batch` are a span with the label of index `label`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from factpin.errors import BadInput
from factpin.layers.places import CellIndices
from factpin.tasks.spans.targets import Targets


@dataclass(frozen=True)
class Cells:
    """Gold spans of a batch; the columns have one entry for each span."""

    batch: Tensor  # (P,) int64
    label: Tensor  # (P,) int64
    start: Tensor  # (P,) int64
    end: Tensor  # (P,) int64
    known: Tensor | None = None  # (B, L) bool: False where a label is not annotated; None: all are

    def __post_init__(self) -> None:
        columns = [self.batch, self.label, self.start, self.end]
        shapes = [tuple(column.shape) for column in columns]
        if len(set(shapes)) != 1 or len(shapes[0]) != 1:
            raise BadInput(f"Cells expects columns of one length, got the shapes {shapes}. Give one entry a cell.")

    @staticmethod
    def of(rows: Sequence[tuple[int, int, int, int]]) -> "Cells":
        """Cells from (batch, label, start, end) rows."""
        batch, label, start, end = torch.tensor(rows, dtype=torch.int64).view(-1, 4).unbind(1)
        return Cells(batch, label, start, end)

    def rows(self) -> list[tuple[int, int, int, int]]:
        """The cells as (batch, label, start, end), in their order."""
        table = torch.stack((self.batch, self.label, self.start, self.end), dim=1).tolist()
        return [(batch, label, start, end) for batch, label, start, end in table]

    def take(self, index: Tensor) -> "Cells":
        """The cells at `index`, a bool (P,) or an int64 (any length) tensor."""
        return Cells(self.batch[index], self.label[index], self.start[index], self.end[index], self.known)

    def sorted(self) -> "Cells":
        """In canonical order: by batch, label, start, end."""
        key = torch.zeros_like(self.batch)
        for column in (self.batch, self.label, self.start, self.end) if len(self) else ():
            key = key * (column.max() + 1) + column
        if bool((key[1:] >= key[:-1]).all()):
            return self
        return self.take(key.argsort(stable=True))

    def to(self, device: torch.device) -> "Cells":
        """The same cells on another device."""
        columns = (self.batch.to(device), self.label.to(device), self.start.to(device), self.end.to(device))
        return Cells(*columns, known=None if self.known is None else self.known.to(device))

    def __len__(self) -> int:
        return self.batch.shape[0]


def check_gold(gold: Cells, real: Tensor, labels: int, max_span: int | None) -> CellIndices:
    """The gold cells on the device of `real` (B, N), each once; a cell that cannot exist is refused."""
    gold = gold.to(real.device)
    B, N = real.shape
    inside = (gold.batch >= 0) & (gold.batch < B) & (gold.label >= 0) & (gold.label < labels)
    inside &= (gold.start >= 0) & (gold.end < N) & (gold.start <= gold.end)
    start, end = gold.start.clamp(0, N - 1), gold.end.clamp(0, N - 1)
    row = gold.batch.clamp(0, B - 1)
    good = inside & real[row, start] & real[row, end]
    if max_span is not None:
        good &= gold.end - gold.start < max_span
    if not bool(good.all()):
        raise BadInput(_complaint(gold.take(~good).rows()[0], real, labels, max_span))
    key = torch.unique(((gold.batch * labels + gold.label) * N + gold.start) * N + gold.end)
    return CellIndices(key // (labels * N * N), key // (N * N) % labels, key // N % N, key % N)


def known_rows(rows: Sequence[NDArray[np.bool_] | None]) -> Tensor | None:
    """Which labels each text of a batch annotates, (L,) or None for all -> (B, L), None where all texts have all."""
    some = next((row for row in rows if row is not None), None)
    if some is None:
        return None
    return torch.from_numpy(np.stack([np.ones_like(some) if row is None else row for row in rows]))


def gold_cells(targets: Sequence[Targets], shift: int) -> Cells:
    """The targets of a batch of windows as gold; `shift` special tokens precede the text of each."""
    rows = [
        (row, int(label), int(first) + shift, int(last) + shift)
        for row, y in enumerate(targets)
        for label, first, last in zip(y.label, y.first, y.last, strict=True)
    ]
    return replace(Cells.of(rows), known=known_rows([y.known for y in targets]))


def known_only(neg: Tensor, known: Tensor | None) -> Tensor:
    """The loss of negatives (B, L) without labels that are not annotated: known (B, L), None where all are."""
    return neg if known is None else neg.masked_fill(~known.to(neg.device), 0.0)


def _complaint(cell: tuple[int, int, int, int], real: Tensor, labels: int, max_span: int | None) -> str:
    (batch, label, start, end), (B, N) = cell, real.shape
    place = f"The gold cell (batch {batch}, label {label}, tokens {start}..{end})"
    if not (0 <= batch < B and 0 <= label < labels and 0 <= start < N and 0 <= end < N):
        return f"{place} lies outside: expected batch < {B}, label < {labels}, tokens < {N}. Check how it was built."
    if end < start:
        return f"{place} ends before it starts. The end is the last token of the span, inclusive: swap or repair them."
    if max_span is not None and end - start >= max_span:
        return f"{place} is {end - start + 1} tokens wide, max_span is {max_span}. Raise max_span, or drop the span."
    return f"{place} starts or ends on padding or a special token. Gold spans start and end on tokens of the text."
