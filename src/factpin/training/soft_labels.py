"""Soft labels: the scores of a trained model for every pair of entities of a document, for another model to learn.

    m   margins of the teacher, its scores above its own thresholds      (P, R)     kept in half precision

They are computed once, before training, with the teacher's own vocabulary and windows, so that a large model can teach
a small one; pairs are found again by their entities. A pair that the teacher's schema does not ask has no relation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from factpin.documents import Document
from factpin.heads.atlop import AtlopGold, TeacherLabels
from factpin.models.extractor import Extractor
from factpin.models.shipped import find_model
from factpin.tasks.document_relations.targets import Targets
from factpin.tasks.examples import Example

NEVER = -30.0  # the margin of what is not scored, and of what the teacher's schema forbids


@dataclass(frozen=True)
class SoftLabels:
    """The scores of a teacher for one document."""

    row: Tensor  # (E, E) of `margins` for a head and a tail; -1: not scored
    margins: Tensor  # (P, R) half precision

    def of(self, targets: Targets, relations: int) -> Tensor:
        """Margins (P, R) of the pairs that are scored now; relations that the teacher lacks come last, unlikely."""
        row = self.row[torch.from_numpy(targets.head), torch.from_numpy(targets.tail)]  # (P,)
        none = self.margins.new_zeros(len(row), self.margins.shape[1])
        known = self.margins[row.clamp_min(0)] if len(self.margins) else none
        margins = torch.where(row[:, None] < 0, NEVER, known.float())
        return F.pad(margins, (0, relations - margins.shape[1]), value=NEVER)


def soft_labels(name: str, documents: Sequence[Document]) -> Iterator[SoftLabels]:
    """The scores of the model of that name or folder for these documents."""
    teacher = Extractor.load(find_model(name))
    finder: Any = teacher.finder
    R = len(teacher.settings.labels)
    cut = torch.from_numpy(teacher.threshold())
    for y, scores in finder.score((teacher.read(doc) for doc in documents), teacher.predict):
        row = torch.full((y.entities, y.entities), -1)
        margins = torch.zeros(0, R, dtype=torch.float16)
        if scores is not None:
            head, tail = torch.from_numpy(scores.head), torch.from_numpy(scores.tail)
            row[head, tail] = torch.arange(len(head))
            m = torch.from_numpy(scores.margins()).masked_fill(~torch.from_numpy(y.fits()), -torch.inf)
            margins = (m - cut).clamp_min(NEVER).half()
        yield SoftLabels(row, margins)


def add_soft_labels(
    gold: Sequence[AtlopGold], examples: Sequence[Example], labels: Sequence[SoftLabels], options: Any, relations: int
) -> list[AtlopGold]:
    """Gold with the soft labels of its pairs, weighed as the options say."""
    return [
        replace(
            one,
            teaching=TeacherLabels(
                soft.of(example.targets, relations), options.teacher_weight, options.teacher_temperature
            ),
        )
        for one, example, soft in zip(gold, examples, labels, strict=True)
    ]
