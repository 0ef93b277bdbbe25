"""Soft labels: documents in, what a trained model says of every pair of their entities out, for another to learn from.

    m   margins of the teacher, its scores above its own thresholds      (P, R)     kept in half precision

They are computed once, before training, with the teacher's own vocabulary and windows, so that a large model can teach
a small one; pairs are found again by their entities. A pair that the teacher's schema does not ask has no relation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from factpin.documents import Document
from factpin.heads.atlop import Asked, Taught
from factpin.models.document_model import Marked
from factpin.models.extractor import Extractor
from factpin.models.find_relations import scored

NEVER = -30.0  # the margin of what is not asked, and of what the teacher's schema forbids


@dataclass(frozen=True)
class SoftLabels:
    """Of one document."""

    row: Tensor  # (E, E) of `margins` for a head and a tail; -1: not asked
    margins: Tensor  # (P, R) half precision

    def of(self, asked: Asked) -> Tensor:
        """Margins (P, R) of the pairs that are asked now."""
        row = self.row[asked.head, asked.tail]  # (P,)
        none = self.margins.new_zeros(len(row), self.margins.shape[1])
        known = self.margins[row.clamp_min(0)] if len(self.margins) else none
        return torch.where(row[:, None] < 0, NEVER, known.float())


def soft_labels(folder: Path, documents: Sequence[Document]) -> Iterator[SoftLabels]:
    """What the model of a folder says of these documents."""
    teacher = Extractor.load(folder)
    model: Any = teacher.model
    R = len(teacher.settings.labels)
    reads = (teacher.reader.read(doc) for doc in documents)
    for y, scores in scored(model, teacher.tokenizer, teacher.settings, reads):
        row = torch.full((y.entities, y.entities), -1)
        margins = torch.zeros(0, R, dtype=torch.float16)
        if scores is not None:
            row[scores.head, scores.tail] = torch.arange(len(scores.head))
            margins = (model.head.margins(scores) - teacher.threshold()).clamp_min(NEVER).half()
        yield SoftLabels(row, margins)


def taught(document: Marked, labels: SoftLabels, weight: float, temperature: float) -> Marked:
    """A marked document with the soft labels of its pairs."""
    told = Taught(labels.of(document.asked), weight, temperature)
    return replace(document, gold=replace(document.gold, taught=told))
