"""Task: everything that any part of the program wants to know about a task, in one value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from factpin.documents import Document
from factpin.scoring import Pair, Scores
from factpin.tasks.examples import DocumentBatch, Lesson
from factpin.tasks.settings import Settings
from factpin.tokens import Tokenizer
from factpin.tokens.reading import Batch, WindowedDocument

Asks = Literal["text", "mentions", "entities"]
Finds = Literal["mentions", "facts", "events", "entities"]
Labels = Literal["types", "relations", "event types"]
Cut = float | NDArray[np.float64]  # the score that a cell must exceed: one number, or one for each label
Predict = Callable[[Batch | DocumentBatch], Any]  # a head's scores, as arrays


class Finder(Protocol):
    """A task made ready for one model: its settings are parsed and its schema is built once."""

    def teach(self, document: WindowedDocument, options: Any) -> Lesson:
        """The examples that a document gives; options: those of training."""
        ...

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[Any]:
        """What a model's scores say about each document."""
        ...

    def annotate(self, document: WindowedDocument, found: Any) -> Document:
        """The document with what was found in it."""
        ...


class Tunable(Protocol):
    """A model as tuning sees it."""

    settings: Settings

    @property
    def default_threshold(self) -> float: ...
    def read(self, doc: Document) -> WindowedDocument: ...
    @property
    def finder(self) -> Any: ...
    def find(self, documents: Sequence[WindowedDocument], cut: Cut | None = None) -> list[Any]: ...
    def predict(self, batch: Batch | DocumentBatch) -> Any: ...


@dataclass(frozen=True)
class Design:
    """What a new model is built with: the labels of a corpus, the config of its head, and how it decodes."""

    labels: tuple[str, ...]
    head: str
    head_config: dict[str, Any]
    task_config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task: its name and words, and how a model of it is built, trained, used, tuned and scored."""

    name: str
    alias: str  # a short name that users of this field know
    heads: tuple[str, ...]  # that can be trained for it, the default first
    finds: Finds
    strict: str  # what is right under the convention `strict`, for a card
    metrics: tuple[str, ...]  # that training can watch
    options: type[Any]  # the settings of `factpin train NAME`
    design: Callable[[Any, Sequence[Document], Mapping[str, Settings]], Design]
    # from options, training documents and the settings of the models that the options name
    prepare: Callable[[Settings, Tokenizer], Finder]
    tune: Callable[[Tunable, Sequence[Document], Any], Settings]  # fitted on dev
    score: Callable[[Sequence[Pair]], Scores]
    figures: Callable[[Scores], dict[str, float]]  # the metrics of scores
    settle: Callable[[Tunable, Sequence[Document], Any], Settings] = lambda model, *_: model.settings
    # fitted before each evaluation while a model is trained; most tasks need nothing
    asks: Asks = "text"  # what a document must bring: a text, or annotation beside it
    labels: Labels | None = None  # what its labels are called
    conventions: dict[str, str] = field(default_factory=dict)  # what each convention of its scores counts as right
    score_training: Callable[[Sequence[Pair]], Scores] | None = None  # with what training compares itself with
