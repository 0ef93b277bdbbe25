"""Spans: what a head of spans finds in read documents, and the documents with it as mentions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from factpin.documents import Document
from factpin.models.model import Model
from factpin.models.reading import Read, batched
from factpin.models.settings import Settings
from factpin.tasks.spans import Scale, Spans, decode, find_spans, merge_spans, split_spans, surest
from factpin.tokens import Tokenizer


@dataclass(frozen=True)
class SpanSettings:
    """How found spans become mentions: Settings.task_config of a model of spans."""

    overlaps: bool = True  # False: of mentions that overlap, the surest is kept


def find(
    model: Model, tokenizer: Tokenizer, settings: Settings, reads: Sequence[Read], cut: float | Tensor
) -> list[Spans]:
    """What the head finds in every document, each span once."""
    parts: list[dict[int, Spans]] = [{} for _ in reads]
    for chosen, batch in batched([read.ids for read in reads], tokenizer):
        cells = find_spans(model.head.to_arrays(model.predict(batch)), cut)
        for (d, w), spans in zip(chosen, split_spans(cells, len(chosen), len(tokenizer.prefix)), strict=True):
            parts[d][w] = spans
    found = [merge_spans(read.windows, [own[w] for w in sorted(own)]) for read, own in zip(reads, parts, strict=True)]
    nested = model.head.nested and SpanSettings(**settings.task_config).overlaps
    return found if nested else [surest(spans) for spans in found]


def annotated(read: Read, found: Spans, settings: Settings) -> Document:
    """The document with the mentions that were found."""
    scale = Scale(settings.temperature, settings.shift)
    mentions = decode(found, read.doc.text, read.pieces, settings.labels, scale)
    return replace(read.doc, mentions=tuple(mentions))
