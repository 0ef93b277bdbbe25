"""A training job: the examples of a corpus and its dev set, for any task."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.models.predictor import Inputs
from factpin.scoring import align
from factpin.tasks.examples import DocumentExample, Example
from factpin.training.config import TrainConfig
from factpin.training.soft_labels import SoftLabels, add_soft_labels, soft_labels


class TaskJob:
    """What the loop trains: the task teaches, the head scores, `factpin evaluate` judges."""

    def __init__(
        self, extractor: Extractor, training: Sequence[Document], dev: Sequence[Document], options: Any
    ) -> None:
        self.extractor = extractor
        self.model = torch_model(extractor.model)
        self.dev = dev
        self.options = options
        self.examples: list[Example] = []
        self.notes: Counter[str] = Counter()
        taught = [doc for doc in training if self._add(doc)]
        self.soft: list[SoftLabels] = []  # one for each example, where a teacher is named
        if getattr(options, "teacher", ""):
            self.soft = list(soft_labels(options.teacher, taught))
        self.lengths = [len(example) for example in self.examples]
        self.terms = [example.terms for example in self.examples]

    def _add(self, doc: Document) -> bool:
        """Whether there is something to learn from a document."""
        lesson = self.extractor.finder.teach(self.extractor.read(doc), self.options)
        self.examples += lesson.examples
        self.notes.update(lesson.notes)
        return bool(lesson.examples)

    def fingerprint(self, how: TrainConfig) -> str:
        """A digest of everything that makes this run: its settings and all that it learns from."""
        columns = chain.from_iterable(example.columns() for example in self.examples)
        soft = (labels.margins.numpy() for labels in self.soft)
        return digest((self.options, how, self.extractor.settings), chain(columns, soft))

    def batch(self, chosen: Sequence[int]) -> tuple[Inputs, Any]:
        """Examples side by side, and what the head is taught there."""
        examples = [self.examples[i] for i in chosen]
        if getattr(self.options, "negatives", 1.0) < 1.0:
            chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
            share = self.options.negatives
            examples = [one.sampled(share, chance) if isinstance(one, DocumentExample) else one for one in examples]
        inputs, gold = self.model.collate(examples, self.extractor.tokenizer)
        if self.soft:
            gold = add_soft_labels(
                gold, examples, [self.soft[i] for i in chosen], self.options, len(self.extractor.settings.labels)
            )
        return inputs, gold

    def evaluate(self) -> dict[str, float]:
        """The task's figures on dev, by the very path that predicts."""
        if not self.dev:
            return {}
        task = self.extractor.task
        self.extractor.settings = task.settle(self.extractor, self.dev, self.options)
        score = task.score_training or task.score
        return task.figures(score(align(self.extractor.annotate(self.dev), self.dev).pairs))


def digest(settings: object, columns: Iterable[NDArray[Any]]) -> str:
    """A digest of settings and arrays."""
    mark = blake2b(repr(settings).encode(), digest_size=16)
    for column in columns:
        mark.update(np.ascontiguousarray(column).tobytes())
    return mark.hexdigest()
