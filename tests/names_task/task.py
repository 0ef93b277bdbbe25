"""The task `names`: where names are, whatever they name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from factpin.documents import Document
from factpin.scoring import Pair, Scores, spans
from factpin.scoring.counts import total
from factpin.tasks import Cut, Design, Predict, Task
from factpin.tasks.examples import Lesson, WindowExample
from factpin.tasks.fit import fit_scale, make_candidates
from factpin.tasks.scale import Scale
from factpin.tasks.settings import Settings
from factpin.tasks.task import Tunable
from factpin.tokens import Tokenizer, char_span
from factpin.tokens.reading import WindowedDocument
from tests.names_task.decode import Cell, decode
from tests.names_task.find import find_names
from tests.names_task.targets import targets


@dataclass(frozen=True)
class NameOptions:
    """What is trained."""

    encoder: str = ""  # a name of the catalogue, a folder, or a hub id
    initial: str = ""  # a model to go on from instead
    head: str = "global_pointer"  # global_pointer
    head_size: int = 32  # width of the head's vectors
    max_length: int | None = None  # tokens of a window
    overlap: int = 16  # tokens that neighbouring windows share
    context: Literal["sentence", "window"] = "sentence"  # what is read at once
    dropout: float = 0.1  # of the token vectors before the head
    language: str = ""  # of the texts
    name: str = ""  # of the model
    finds: str = ""  # one line for `factpin models`


@dataclass(frozen=True)
class NameFinder:
    """Names for one model."""

    tokenizer: Tokenizer
    scale: Scale

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "NameFinder":
        return NameFinder(tokenizer, Scale(settings.temperature, settings.shift))

    def teach(self, document: WindowedDocument, options: NameOptions) -> Lesson:
        whole = targets(document.doc, document.pieces)
        examples = [WindowExample(document.pieces.ids[w.first : w.last], whole.inside(w)) for w in document.windows]
        return Lesson(examples, Counter(mentions=len(document.doc.mentions), unalignable=len(whole.unalignable)))

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[list[Cell]]:
        return find_names(documents, self.tokenizer, predict, cut)

    def annotate(self, document: WindowedDocument, found: list[Cell]) -> Document:
        return replace(document.doc, mentions=decode(found, document.doc.text, document.pieces, self.scale))


def design(options: NameOptions, training: Sequence[Document], known: Mapping[str, Settings]) -> Design:
    return Design(("name",), "global_pointer", {"labels": ("name",), "head_size": options.head_size})


def tune(model: Tunable, dev: Sequence[Document], options: NameOptions) -> Settings:
    """The scale of the scores."""
    rows = []
    read = [model.read(doc) for doc in dev]
    for document, cells in zip(read, model.find(read), strict=True):
        gold = {(m.start, m.end) for m in document.doc.mentions}
        rows += [(score, char_span(document.pieces, first, last) in gold, 0) for first, last, score in cells]
    scale = fit_scale(make_candidates(rows, np.zeros(1, np.int64)), np.array([-np.inf]))
    return replace(model.settings, temperature=scale.temperature, shift=scale.shift)


def score(pairs: Sequence[Pair]) -> Scores:
    """Spans, with every type called name."""

    def untyped(doc: Document) -> Document:
        return replace(doc, mentions=tuple(replace(m, type="name") for m in doc.mentions))

    return spans.score([Pair(untyped(pair.gold), untyped(pair.predicted)) for pair in pairs])


def figures(found: Scores) -> dict[str, Any]:
    strict = total(found.rows["strict"])
    return {"f1": strict.f1, "precision": strict.precision, "recall": strict.recall}


NAMES = Task(
    name="names",
    alias="nm",
    heads=("global_pointer",),
    finds="mentions",
    labels="types",
    strict="Names (start and end)",
    conventions={"strict": "same start and end", "partial": "an overlap is half right"},
    metrics=("f1", "precision", "recall"),
    options=NameOptions,
    design=design,
    prepare=NameFinder.prepare,
    tune=tune,
    score=score,
    figures=figures,
)
