"""Extractor: texts in, documents with mentions or facts out.

    extractor = factpin.load("model-folder")
    documents = extractor.extract(["谷爱凌出生于旧金山。"])

Windows of many documents are sorted by length and read in batches of a token budget; what comes out is in the order
of what came in, and does not depend on how it was batched.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from factpin.arrays import Floats
from factpin.documents import Coverage, Document, Span
from factpin.documents.gaps import gaps
from factpin.documents.given import as_documents
from factpin.documents.likely import LIKELY, keep_likely
from factpin.documents.notes import without_annotation
from factpin.errors import BadModel
from factpin.language.identify import find_language
from factpin.models.predictor import Inputs, LatePredictor, Predictor
from factpin.models.runtimes import AUTO, BF16, load_parts
from factpin.tasks import TASKS, Cut, Finder, Task
from factpin.tasks.settings import Settings
from factpin.tokens import Tokenizer
from factpin.tokens.reading import WindowedDocument, WindowReader

if TYPE_CHECKING:
    from factpin.models.folder import Precision

AHEAD = 256  # documents that are sorted together
OTHER_LETTERS = ("ja", "ko", "zh")  # languages whose texts are not in Latin letters


@dataclass
class Extractor:
    """A loaded model."""

    settings: Settings
    model: Predictor  # of one of the runtimes; a torch model where it is trained
    tokenizer: Tokenizer
    on_overflow: Literal["window", "error"] = "window"
    bf16: bool = False  # half precision in the encoder: faster where the processor has it, other last digits of scores
    _prepared: tuple[Settings, Finder] | None = field(default=None, init=False, repr=False, compare=False)

    @classmethod
    def load(
        cls,
        folder: Path | str,
        device: str = "cpu",
        runtime: str = AUTO,
        precision: str = AUTO,
        *,
        late: bool = False,
    ) -> "Extractor":
        """From a model folder; no network, no code from the folder. Runtimes, precisions, `late`: `models.runtimes`."""
        settings, network, tokenizer = load_parts(Path(folder), device, runtime, precision, late=late)
        extractor = cls(settings, network, tokenizer, bf16=precision == BF16)
        if late:
            return extractor
        try:
            extractor.finder  # noqa: B018  (what the settings say about the task is parsed now)
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise BadModel(
                f"{folder}/factpin.json: its settings for {settings.task} cannot be read ({error}). The file is "
                f"damaged, or of another version."
            ) from None
        return extractor

    def warm(self) -> None:
        """Load the weights now, if that waits for a text."""
        if isinstance(self.model, LatePredictor):
            self.model.loaded()

    def save(self, folder: Path | str, precision: "Precision" = "float32", upon: str = "") -> None:
        """As a model folder; without the weights that the folder `upon` beside it holds already."""
        from factpin.models.folder import save_model  # noqa: PLC0415  (torch)
        from factpin.models.model import torch_model  # noqa: PLC0415

        save_model(Path(folder), self.settings, torch_model(self.model), self.tokenizer, precision, upon)

    @property
    def task(self) -> Task:
        """What the model is for."""
        return TASKS[self.settings.task]

    @property
    def finder(self) -> Finder:
        """The task made ready for this model; made once for the same settings."""
        if self._prepared is None or self._prepared[0] is not self.settings:
            self._prepared = (self.settings, self.task.prepare(self.settings, self.tokenizer))
        return self._prepared[1]

    @property
    def reader(self) -> WindowReader:
        """How this model reads a text."""
        s = self.settings
        size = s.max_length - self.tokenizer.frame_size
        return WindowReader(self.tokenizer, size, s.overlap, s.context, self.on_overflow)

    def read(self, doc: Document, wanted: Sequence[tuple[int, int]] | None = None) -> WindowedDocument:
        """A document as this model reads it; wanted: the sentences that matter, where it reads one at a time."""
        return self.reader.read(doc, wanted)

    def extract(self, texts: str | Iterable[str], min_score: float = LIKELY) -> list[Document]:
        """A document for each text, with sentences, mentions and coverage, and facts and events from min_score on.

        A single text gives a list of one.
        """
        found = self.annotate(as_documents(texts))
        return [keep_likely(doc, min_score)[0] for doc in found]

    def annotate(
        self,
        documents: Iterable[Document],
        on_document: Callable[[], None] = lambda: None,
        *,
        keep: bool = False,
        wanted: Callable[[Document], Sequence[tuple[int, int]] | None] = lambda _: None,
    ) -> Iterator[Document]:
        """The same documents with what the model finds, and nothing that was pinned to older annotation.

        keep: facts and events follow their mentions into the entities that a model of coreference finds.
        wanted: the sentences of a document that matter; None: all.
        """
        documents = iter(documents)
        while group := list(islice(documents, AHEAD)):
            read = [self.read(doc, wanted(doc)) for doc in group]
            for document, found in zip(read, self.find(read), strict=True):
                yield self.annotate_one(document, found, keep=keep)
                on_document()

    def find(self, documents: Sequence[WindowedDocument], cut: Cut | None = None) -> list[Any]:
        """What the model finds in every document, before it is decoded."""
        return self.finder.find(documents, self.predict, self.threshold() if cut is None else cut)

    def predict(self, inputs: Inputs) -> Any:
        """The head's scores as arrays."""
        return self.model.predict(inputs, bf16=self.bf16)

    @property
    def default_threshold(self) -> float:
        """The head's own threshold."""
        return self.model.default_threshold

    def threshold(self) -> Floats:
        """The score that a cell of each label must exceed (L,): the head's own, or a tuned one."""
        return self.settings.cut(self.default_threshold)

    def annotate_one(self, document: WindowedDocument, found: Any, *, keep: bool = False) -> Document:
        """A document with what was found in it."""
        given, asks = document.doc, self.task.asks
        moved = keep and asks == "mentions"
        read = tuple(Span(window.start, window.end) for window in document.windows)
        unread = tuple(gaps(given.text, sorted(read), lambda _: "no window holds it"))
        doc = replace(
            given,
            language=given.language or language_of(given.text, self.settings.language),
            sentences=tuple(Span(*sentence) for sentence in document.sentences),
            mentions=given.mentions if asks != "text" else (),
            entities=given.entities if moved or asks == "entities" else (),
            facts=given.facts if moved else (),
            events=given.events if moved else (),
            coverage=Coverage(read, unread),
            meta=without_annotation(given.meta),
        )
        return self.finder.annotate(replace(document, doc=doc), found)


def language_of(text: str, model: str) -> str | None:
    """The language of a text, None where it says nothing; Latin letters alone count as English, so there a model of
    another language that has them is believed."""
    found = find_language(text)
    return model if found == "en" and model and model[:2].lower() not in OTHER_LETTERS else found
