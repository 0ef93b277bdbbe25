"""Spans, made ready for one model: documents to examples, and a head's scores to mentions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from factpin.documents import Document
from factpin.tasks.by_window import find_by_window
from factpin.tasks.examples import Lesson, WindowExample
from factpin.tasks.scale import Scale
from factpin.tasks.settings import Settings
from factpin.tasks.spans.decode import decode
from factpin.tasks.spans.find import Spans, find_spans, merge_spans, split_spans, surest
from factpin.tasks.spans.targets import flat, targets
from factpin.tasks.task import Cut, Predict
from factpin.tokens import Tokenizer
from factpin.tokens.reading import Batch, WindowedDocument

FLAT = ("crf",)  # heads that give each token one tag: they learn no overlapping spans


@dataclass(frozen=True)
class SpanSettings:
    """How found spans become mentions: Settings.task_config of a model of spans."""

    overlaps: bool = True  # False: of mentions that overlap, the surest is kept


@dataclass(frozen=True)
class SpanFinder:
    """Spans for one model."""

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    scale: Scale
    nested: bool  # whether the head can score overlapping spans
    overlaps: bool  # whether mentions may overlap
    max_span: int | None  # pieces of the widest span; None: any

    @staticmethod
    def prepare(settings: Settings, tokenizer: Tokenizer) -> "SpanFinder":
        """Spans for the model of these settings."""
        own, nested = SpanSettings(**settings.task_config), settings.head not in FLAT
        scale = Scale(settings.temperature, settings.shift)
        width = settings.head_config.get("max_span")
        return SpanFinder(tokenizer, settings.labels, scale, nested, nested and own.overlaps, width)

    def teach(self, document: WindowedDocument, options: Any = None) -> Lesson:
        """A window each, with the mentions that lie in it."""
        doc = document.doc
        whole = targets(doc, document.pieces, self.labels)
        examples, taught = [], set[tuple[int, int, int]]()
        for window in document.windows:
            inside = whole.inside(window)
            if not self.nested:
                inside = flat(inside)
            if self.max_span is not None:
                inside = inside.take(inside.last - inside.first < self.max_span)
            places = zip(inside.label, inside.first + window.first, inside.last + window.first, strict=True)
            taught.update((int(label), int(first), int(last)) for label, first, last in places)
            examples.append(WindowExample(document.pieces.ids[window.first : window.last], inside))
        notes = {
            "mentions": len(doc.mentions),
            "unalignable": len(whole.unalignable),
            "not_taught": len(whole.label) - len(taught),  # overlaps of a CRF, too wide, across a border
        }
        return Lesson(examples, Counter(notes))

    def find(self, documents: Sequence[WindowedDocument], predict: Predict, cut: Cut) -> list[Spans]:
        """The spans of every document, each once."""

        def find(batch: Batch) -> list[Spans]:
            return split_spans(find_spans(predict(batch), cut), len(batch.ids), len(self.tokenizer.prefix))

        found = find_by_window(documents, self.tokenizer, find, merge_spans)
        return found if self.overlaps else [surest(spans) for spans in found]

    def annotate(self, document: WindowedDocument, found: Spans) -> Document:
        """The document with the mentions that were found."""
        mentions = decode(found, document.doc.text, document.pieces, self.labels, self.scale)
        return replace(document.doc, mentions=tuple(mentions))
