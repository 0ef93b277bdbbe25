"""What a model learns from: windows or whole documents, each with the targets of its head."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factpin.tokens import Tokenizer
from factpin.tokens.layout import WindowLayout


@dataclass(frozen=True)
class WindowExample:
    """A window that is read by itself."""

    ids: NDArray[np.int32]  # (n,)
    targets: Any  # the annotation as arrays, with `columns()`, all of them
    terms: int = 1  # of the mean that the loss is

    def __len__(self) -> int:
        return len(self.ids)

    def columns(self) -> Iterator[NDArray[Any]]:
        """Everything that is learned from it."""
        yield self.ids
        yield from self.targets.columns()


@dataclass(frozen=True)
class DocumentExample:
    """A document whose windows are read together."""

    windows: tuple[NDArray[np.int32], ...]  # the pieces of each
    layout: WindowLayout
    targets: Any
    terms: int  # of the mean that the loss is: its pairs or its mentions

    def __len__(self) -> int:
        return sum(map(len, self.windows))

    def sampled(self, share: float, chance: np.random.Generator) -> "DocumentExample":
        """With a share of its pairs without a relation; one that would be left without pairs keeps all."""
        few = self.targets.sampled(share, chance)
        return replace(self, targets=few) if len(few.head) else self

    def columns(self) -> Iterator[NDArray[Any]]:
        """Everything that is learned from it."""
        yield from self.windows
        yield from self.targets.columns()


Example = WindowExample | DocumentExample


@dataclass(frozen=True)
class DocumentBatch:
    """Documents that are scored together."""

    documents: tuple[DocumentExample, ...]
    tokenizer: Tokenizer


@dataclass(frozen=True)
class Lesson:
    """The examples of a document, and counts of what cannot be learned from it."""

    examples: list[Any]
    notes: Counter[str] = field(default_factory=Counter)
