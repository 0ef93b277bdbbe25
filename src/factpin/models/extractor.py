"""Extractor: texts in, documents with mentions or facts out.

    extractor = factpin.load("model-folder")
    documents = extractor.extract(["谷爱凌出生于旧金山。"])

Windows of many documents are sorted by length and read in batches of a token budget; what comes out is in the order
of what came in, and does not depend on how it was batched.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from factpin.documents import Coverage, Document, Span
from factpin.documents.likely import LIKELY, keep_likely
from factpin.documents.notes import without_annotation
from factpin.errors import BadInput, BadModel
from factpin.language.identify import find_language
from factpin.layers.half import half_precision
from factpin.models import find_coreference, find_events, find_relations, find_spans, find_triples
from factpin.models.document_model import DocumentModel
from factpin.models.find_coreference import MentionModel
from factpin.models.folder import Precision, load_model, save_model
from factpin.models.model import Model
from factpin.models.reading import Read, Reader
from factpin.models.settings import Settings
from factpin.tasks import TASKS, Task
from factpin.tokens import Tokenizer

AHEAD = 256  # documents that are sorted together
OTHER_LETTERS = ("ja", "ko", "zh")  # languages whose texts are not in Latin letters


@dataclass(frozen=True)
class Finder:
    """What a task does with documents that were read in windows."""

    find: Callable[[Any, Tokenizer, Settings, Sequence[Read], float | Tensor], list[Any]]
    annotated: Callable[[Read, Any, Settings], Document]  # the document of a read has no annotation any more


FINDERS = {
    "coreference": Finder(find_coreference.find, find_coreference.annotated),
    "document_relations": Finder(find_relations.find, find_relations.annotated),
    "events": Finder(find_events.find, find_events.annotated),
    "spans": Finder(find_spans.find, find_spans.annotated),
    "triples": Finder(find_triples.find, find_triples.annotated),
}


@dataclass
class Extractor:
    """A loaded model."""

    settings: Settings
    model: Model | DocumentModel | MentionModel
    tokenizer: Tokenizer
    on_overflow: Literal["window", "error"] = "window"
    bf16: bool = False  # half precision in the encoder: faster where the processor has it, other last digits of scores

    @classmethod
    def load(cls, folder: Path | str, device: str = "cpu") -> "Extractor":
        """From a model folder; no network, no code from the folder."""
        settings, model, tokenizer = load_model(Path(folder))
        if settings.task not in FINDERS:
            raise BadModel(f"{folder}: its task {settings.task!r} is unknown here. Known: {', '.join(FINDERS)}.")
        try:
            return cls(settings, model.to(device), tokenizer)
        except (RuntimeError, AssertionError) as error:  # torch says both
            raise BadInput(f"There is no device {device!r} here ({str(error).splitlines()[0]}). Use cpu.") from None

    def save(self, folder: Path | str, precision: Precision = "float32", upon: str = "") -> None:
        """As a model folder; without the weights that the folder `upon` beside it holds already."""
        save_model(Path(folder), self.settings, self.model, self.tokenizer, precision, upon)

    @property
    def reader(self) -> Reader:
        """How this model reads a text."""
        s = self.settings
        return Reader(self.tokenizer, s.max_length - self.tokenizer.frame_size, s.overlap, s.context, self.on_overflow)

    def extract(self, texts: Iterable[str], min_score: float = LIKELY) -> list[Document]:
        """Documents of raw texts, with sentences, mentions and coverage, and facts and events from min_score on."""
        given = [None] if isinstance(texts, str) else list(texts)
        if not all(isinstance(text, str) for text in given):
            raise BadInput('extract takes a list of texts, such as extract(["…"]). Wrap a single text in a list.')
        found = self.annotate(Document(f"d{i}", str(text)) for i, text in enumerate(given))
        return [keep_likely(doc, min_score)[0] for doc in found]

    def annotate(
        self, documents: Iterable[Document], on_document: Callable[[], None] = lambda: None, *, keep: bool = False
    ) -> Iterator[Document]:
        """The same documents with what the model finds, and nothing that was pinned to older ones.

        keep: facts and events follow their mentions into the entities that a model of coreference finds.
        """
        documents = iter(documents)
        while group := list(islice(documents, AHEAD)):
            reads = [self.reader.read(doc) for doc in group]
            for read, found in zip(reads, self.find(reads), strict=True):
                yield self._annotated(read, found, keep)
                on_document()

    def find(self, reads: Sequence[Read], threshold: float | Tensor | None = None) -> list[Any]:
        """What the head finds in every document."""
        self.model.eval()
        cut = self.threshold() if threshold is None else threshold
        device = next(self.model.parameters()).device.type
        with half_precision(device, enabled=self.bf16):
            return self.finder.find(self.model, self.tokenizer, self.settings, reads, cut)

    @property
    def task(self) -> Task:
        """What the model is for."""
        return TASKS[self.settings.task]

    @property
    def finder(self) -> Finder:
        """How this model's task finds and annotates."""
        return FINDERS[self.settings.task]

    def threshold(self) -> float | Tensor:
        """The score that a cell must exceed: the head's own, or one for each label where they were tuned."""
        own: float = self.model.head.default_threshold
        if not self.settings.thresholds:
            return own
        return torch.tensor([self.settings.thresholds.get(label, own) for label in self.settings.labels])

    def _annotated(self, read: Read, found: Any, keep: bool) -> Document:
        came, asks = read.doc, self.task.asks
        moved = keep and asks == "mentions"
        doc = replace(
            came,
            language=came.language or language_of(came.text, self.settings.language),
            sentences=tuple(Span(*sentence) for sentence in read.sentences),
            mentions=came.mentions if asks != "text" else (),
            entities=came.entities if moved or asks == "entities" else (),
            facts=came.facts if moved else (),
            events=came.events if moved else (),
            coverage=Coverage(tuple(Span(window.start, window.end) for window in read.windows)),
            meta=without_annotation(came.meta),
        )
        return self.finder.annotated(replace(read, doc=doc), found, self.settings)


def language_of(text: str, model: str) -> str | None:
    """The language of a text, None where it says nothing; Latin letters alone count as English, so there a model of
    another language that has them is believed."""
    found = find_language(text)
    return model if found == "en" and model and model[:2].lower() not in OTHER_LETTERS else found
