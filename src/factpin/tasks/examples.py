"""What a model learns from: windows or whole documents, each with the targets of its head."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from factpin.tokens import Tokenizer
from factpin.tokens.layout import Layout


class Targets(Protocol):
    """The annotation of an example as arrays."""

    def columns(self) -> Sequence[NDArray[Any]]:
        """All that is learned from the example, so that two runs can be told apart."""
        ...


@dataclass(frozen=True)
class WindowExample:
    """A window that is read alone."""

    ids: NDArray[np.int32]  # (n,)
    targets: Any
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
    layout: Layout
    targets: Any
    terms: int  # of the mean that the loss is: its pairs or its mentions

    def __len__(self) -> int:
        return sum(map(len, self.windows))

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
    """What a document teaches, and counts of what it cannot."""

    examples: list[Any]
    notes: Counter[str] = field(default_factory=Counter)
